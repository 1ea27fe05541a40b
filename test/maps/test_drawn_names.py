# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names in a figure: letters that its font lacks come from another one, or are named once."""
import pytest
from symdp_ros import Chain
from symdp_ros.figures.routes import draw_map
from symdp_ros.maps.graph import TransitionGraph

fonts = pytest.importorskip('matplotlib.font_manager', reason='matplotlib is not installed')
pytestmark = pytest.mark.filterwarnings('error')


@pytest.fixture(autouse=True)
def with_its_own_fonts(monkeypatch):
    """Let no font count but those that come with matplotlib."""
    monkeypatch.setattr(fonts.fontManager, 'ttflist', [
        font for font in fonts.fontManager.ttflist if 'mpl-data' in font.fname])


def drawn(name, directory):
    """Return the picture of a map with a place of this name."""
    chain = Chain({name: [name, 'hall'], 'hall': [name]}, 'hall')
    graph = TransitionGraph({s: dict.fromkeys(chain.successors(s)) for s in chain.states}, 'hall')
    draw_map(graph, 'a map', directory / 'map.svg')
    return (directory / 'map.svg').read_text()


def test_letters_that_the_first_font_lacks_come_from_another_one(tmp_path, capfd):
    picture = drawn('のb', tmp_path)
    assert 'STIXGeneral-' in picture and 'DejaVuSans-' in picture
    assert capfd.readouterr() == ('', '')


def test_letters_that_no_font_has_are_named_once(tmp_path, capfd):
    drawn('𓀀室室', tmp_path)
    said = capfd.readouterr()
    assert 'no installed font has 室 𓀀: boxes' in said.err
    assert len(said.err.splitlines()) == 1 and not said.out
