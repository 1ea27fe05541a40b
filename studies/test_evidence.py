# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/evidence/index.md says what the other pages say."""
import json
from pathlib import Path
import re

import pytest
from studies import gains
from studies.common import DATA

DOCS = Path(__file__).resolve().parents[1] / 'docs' / 'evidence'
TEXT = {name: (DOCS / f'{name}.md').read_text(encoding='utf-8')
        for name in ('index', 'comparison', 'gains')}
STAYS = 'walks that stay 0.97, '


def row(page, begin, head='|'):
    """Return the cells of the first row that begins so, in the first table that is headed so."""
    table = TEXT[page].split(f'\n{head}', 1)[1]
    [line] = re.findall(rf'^\| {re.escape(begin)} \|.*$', table.split('\n\n')[0], re.M)
    return line.strip('| ').split(' | ')


@pytest.mark.parametrize('name, head, column, shown', [
    ('adaptive', '|  | k = 1, ε = 1 |', 2, '0.449'),
    ('online (the paper)', '|  | k = 1, ε = 1 |', 2, '0.616'),
    ('exponential, base: chain', '|  | k = 1, ε = 1 |', 7, '0.306'),
    ('randomized response, likeliest route', '|  | k = 1, ε = 1 |', 7, '0.686'),
    ('adaptive', '|  | k = 1, 30% |', 2, '0.519'),
    ('online (the paper)', '|  | k = 1, 30% |', 2, '0.500')])
def test_numbers_of_the_comparison(name, head, column, shown):
    error = row('comparison', name, head)[column].split(', ')[0]
    assert error == shown and f'{name} {shown}' in TEXT['index']


@pytest.mark.parametrize('name, column, shown', [
    (f'nothing known; {STAYS}base: chain, ε = 2', 2, '0.029'),
    (f'nothing known; {STAYS}live, adaptive, ε = 2', 2, '0.122'),
    (f'nothing known; {STAYS}adaptive, delay 3, ε = 2', 2, '0.050'),
    ('adaptive, delay 0, trust 1; stays 0.97, ε = 2', 3, '0.326')])
def test_numbers_of_the_gains(name, column, shown):
    cells = [line.strip('| ').split(' | ') for line in TEXT['gains'].splitlines()
             if line.startswith(f'| {name} |')]
    assert cells[0][column] == shown and shown in TEXT['index']


def test_the_page_of_gains_is_made_from_its_numbers():
    found = json.loads((DOCS / 'gains.json').read_text(encoding='utf-8'))
    assert gains.page(found) == TEXT['gains']
    assert TEXT['gains'].count('**not met**') == sum(not row['met'] for row in found) > 0


@pytest.mark.skipif(not DATA.is_dir(), reason='the maps are not there')
def test_the_gains_come_out_again():
    assert [row.plain() for row in gains.rows()] == json.loads(
        (DOCS / 'gains.json').read_text(encoding='utf-8'))


def test_what_python_md_says_of_modes():
    rows = [line.strip('| ').split(' | ') for line in TEXT['gains'].splitlines()
            if f' {gains.MODES} modes, ' in line]
    live, later, logs, without = (
        f'{100 * float(cell):.0f} %' for cell in (*(row[2] for row in rows), rows[0][3]))
    page = (DOCS.parent / 'python.md').read_text(encoding='utf-8')
    assert (f'wrong in {live} of the symbols live, {later} three symbols later and {logs} in logs '
            f'(`exponential`); without a past it is {without}') in ' '.join(page.split())


def test_moves_that_the_map_allows():
    [sentence] = re.findall(r'at a success of 50% the map allows:\s(.*); of ours, all', TEXT[
        'comparison'])
    shares = sorted(int(share) for share in re.findall(r'(\d+)%', sentence))
    assert f'the map allows {shares[0]}% to {shares[-1]}%' in TEXT['index']
