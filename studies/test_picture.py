# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/moving.svg: it comes out again, and shows what the settings promise."""
from pathlib import Path
import xml.etree.ElementTree as ElementTree

import pytest
from studies import picture
from studies.zones import clinic

MOVING = Path(__file__).resolve().parents[1] / 'docs' / 'moving.svg'


@pytest.fixture(scope='module')
def routes():
    return picture.routes()


def test_it_comes_out_again(routes):
    text = MOVING.read_text(encoding='utf-8')
    assert text == picture.moving(*routes)
    assert len(text) < 100_000 and ElementTree.fromstring(text).tag.endswith('svg')


def test_every_private_region_is_a_move_of_the_map(routes):
    true, private = routes
    moves = clinic()[0].successors
    assert len(true) == len(private) > 0.95 * picture.SECONDS
    assert all(b in moves[a] for a, b in zip(private[:-1], private[1:], strict=True))


def test_it_errs_as_often_as_calibrate_expects(routes):
    """Within two standard errors of what docs/zones.md has without zones."""
    wrong = sum(a != b for a, b in zip(*routes, strict=True)) / len(routes[0])
    page = MOVING.with_name('zones.md').read_text(encoding='utf-8')
    [row] = [line for line in page.splitlines() if line.startswith(f'| {picture.EPSILON:g} |')]
    expected, error = map(float, row.split('|')[2].split('±'))
    assert wrong == pytest.approx(expected, abs=2 * error)
