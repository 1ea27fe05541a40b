# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp automaton`: the table, the picture and what is on it, wrong input."""
from collections import Counter
from itertools import combinations
import sys
from xml.etree import ElementTree

from in_process import ROOT
import pytest
from refusals import refused
from strategies import FOUR
from symdp_ros import Chain, ConfigurationError
from symdp_ros.cli.main import main
from symdp_ros.core.offline.automaton import HammingAutomaton

ABC = Chain.complete(['a', 'b', 'c'], 'a')
CHAINS = {
    'abc': 'initial_state: a\nsymbols: [a, b, c]\n',
    'four': 'initial_state: s0\n'
            'transitions: {s0: [s1, s2, s3], s1: [s1, s2], s2: [s0], s3: [s3, s0, s1, s2]}\n',
    'ten': f'initial_state: x0\nsymbols: [{", ".join(f"x{i}" for i in range(10))}]\n',
    'odd': 'initial_state: $a_b$\nsymbols: ["$a_b$", "[red]", "x < y & z", "仓库"]\n',
}
#: The two examples that are worked out by hand: chain, word, number of words, table.
BY_HAND = {
    'abc': (ABC, ['a', 'b', 'c'], 12, [
        '0 0 a 12 a: 1/3, b: 1/3, c: 1/3',
        '1 0 a 4 a: 1/2, c: 1/2',
        '1 1 b 4 a: 1/4, b: 1/2, c: 1/4',
        '1 1 c 4 a: 1/4, b: 1/2, c: 1/4',
        '2 1 a 2 a: 1/2, b: 1/2',
        '2 1 b 2 a: 1/2, b: 1/2',
        '2 1 c 2 a: 1/2, b: 1/2',
        '2 2 a 1 c: 1',
        '2 2 c 1 c: 1',
        '3 2 a 1 accepts', '3 2 b 1 accepts', '3 2 c 1 accepts']),
    'four': (FOUR, ['s1', 's2', 's3'], 6, [
        '0 0 s0 6 s1: 1/3, s2: 1/6, s3: 1/2',
        '1 0 s1 2 s1: 1',
        '1 1 s2 1 s0: 1',
        '1 1 s3 3 s3: 1/3, s0: 1/3, s2: 1/3',
        '2 1 s1 2 s1: 1/2, s2: 1/2',
        '2 1 s2 1 s0: 1',
        '2 2 s0 1 s3: 1',
        '2 2 s3 1 s3: 1',
        '3 2 s0 1 accepts', '3 2 s1 1 accepts', '3 2 s2 1 accepts', '3 2 s3 1 accepts']),
}


@pytest.fixture
def file(tmp_path):
    """Return a function that writes one of CHAINS to a file."""
    def write(name):
        path = tmp_path / f'{name}.yaml'
        path.write_text(CHAINS[name], encoding='utf-8')
        return str(path)
    return write


@pytest.fixture
def symdp(capsys):
    """Return a function that runs `symdp automaton`: exit status, output, error output."""
    def run(*arguments):
        try:
            status = main(['automaton', *map(str, arguments)])
        except SystemExit as ended:
            status = ended.code
        return (status, *capsys.readouterr())
    return run


@pytest.fixture
def svg(tmp_path):
    """Return where a figure may go, where figures can be drawn."""
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    return tmp_path / 'figure.svg'


def texts(svg):
    """Return all texts of an SVG file, in the order in which they are drawn."""
    return [element.text for element in ElementTree.parse(svg).iter()
            if element.tag.endswith('}text')]


@pytest.mark.parametrize('name', BY_HAND)
def test_the_table(symdp, file, name):
    _, word, count, rows = BY_HAND[name]
    status, out, err = symdp(file(name), '--word', ', '.join(word), '--distance', 2)
    assert (status, err) == (0, '')
    lines = [' '.join(line.split()) for line in out.splitlines()]
    assert lines == ['position errors state count policy', *rows, f'{count} feasible words']


@pytest.mark.parametrize('name', BY_HAND)
def test_the_picture_carries_the_automaton(symdp, file, svg, name):
    chain, word, count, _ = BY_HAND[name]
    status, out, err = symdp(file(name), '--word', ','.join(word), '--distance', 2, '-o', svg)
    assert (status, err) == (0, '')
    assert out == f'{count} feasible words; the automaton is drawn in {svg}\n'
    automaton, found = HammingAutomaton(chain, word, 2), texts(svg)
    assert found.count(f'word {" ".join(word)} · distance 2 · {count} feasible words') == 1
    nodes = [(state, text) for state, text in zip(found, found[1:], strict=False)
             if text.startswith('V = ')]
    assert nodes == [(s.state, f'V = {automaton.count(*s)}') for s in automaton.states()]
    assert Counter(text for text in found if ': ' in text and 'symbol' not in text) == Counter(
        f'{edge.target.state}: {edge.probability}' for edge in automaton.edges())
    assert [text for text in found if text.startswith('w')][1:4] == [
        f'{w} = {symbol}' for w, symbol in zip(('w₁', 'w₂', 'w₃'), word, strict=True)]
    for text in ('start', 'accepting', '0 errors', '1 error', '2 errors', 'position 3'):
        assert found.count(text) == 1
    first = svg.read_bytes()
    assert symdp(file(name), '--word', ','.join(word), '--distance', 2, '-o', svg)[0] == 0
    assert svg.read_bytes() == first


@pytest.mark.parametrize('word, distance', [
    ('IDLE,FAULT,IDLE', 2), ('IDLE', 0), ('IDLE,FAULT,CHARGING,LIFTING,IDLE', 1)])
def test_no_label_hides_another(word, distance):
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    from symdp_ros.figures.automaton import _Layout, _parts, _width

    word = word.split(',')
    automaton = HammingAutomaton(Chain.from_yaml(ROOT / 'config/modes.chain.yaml'), word, distance)
    layout = _Layout(automaton, word, *_parts(automaton))
    assert set(layout.centres) == set(automaton.states())
    boxes = [(x, y, _width(text, 8.5), 8.5) for text, (x, y) in zip(
        layout.labels, layout.label_centres, strict=True)]
    boxes += [(x + width / 2, y + height / 2, width, height)
              for x, y, width, height in (layout.cell_box(*cell) for cell in layout.cells)]
    for (x, y, width, height), (x2, y2, width2, height2) in combinations(boxes, 2):
        assert abs(x - x2) >= (width + width2) / 2 or abs(y - y2) >= (height + height2) / 2
    for x, y, width, height in boxes:
        assert width / 2 < x < layout.width - width / 2 and -30 < y < layout.bottom


@pytest.mark.parametrize('suffix, begin', [('png', b'\x89PNG'), ('pdf', b'%PDF')])
def test_other_formats(symdp, file, svg, suffix, begin):
    figure = svg.with_suffix(f'.{suffix}')
    assert symdp(file('four'), '--word', 's1,s2', '--distance', 1, '-o', figure)[0] == 0
    assert figure.read_bytes().startswith(begin)


def test_labels_of_all_kinds(symdp, file, svg):
    arguments = (file('odd'), '--word', '$a_b$,[red],x < y & z', '--distance', 1)
    status, out, err = symdp(*arguments)
    assert (status, err) == (0, '') and '[red]: 1/9' in out and '$a_b$' in out
    assert symdp(*arguments, '-o', svg)[::2] == (0, '')
    assert {'$a_b$', '[red]', 'x < y & z', '仓库'} <= {*texts(svg)}


def test_initial_state_and_staying(symdp, file):
    four = file('four')
    # From s1, s2 has to be followed by s0, unless it may also stay.
    arguments = (four, '--initial-state', 's1', '--word', 's2,s2', '--distance', 0)
    assert symdp(*arguments)[0] == 1
    status, out, _ = symdp(*arguments, '--self-loops')
    assert status == 0 and out.endswith('\n1 feasible word\n')


def test_long_numbers_are_rounded(symdp, file):
    word = ','.join(f'x{i % 10}' for i in range(24))
    status, out, _ = symdp(file('ten'), '--word', word, '--distance', 18)
    assert status == 0 and '≈2.020e+22 feasible words' in out  # C(24, 18)·9¹⁸
    assert 'x0: 1/4' in out


@pytest.mark.parametrize('chain, word, distance, text', [
    ('ten', 'x1,x2,x3', 2, 'more than 80 arrows'),
    ('abc', ','.join('abc' * 40), 3, 'more than 300 nodes'),
    ('abc', ','.join('abc' * 30), 0, 'longer than 100 inches'),
])
def test_a_picture_that_would_be_illegible(symdp, file, svg, chain, word, distance, text):
    arguments = (file(chain), '--word', word, '--distance', distance)
    status, _, err = symdp(*arguments, '-o', svg)
    assert status == 1 and not svg.exists()
    assert 'would be illegible' in err and text in err
    assert 'Leave out -o to print the table instead, or draw a shorter word' in err
    assert symdp(*arguments)[0] == 0


@pytest.mark.parametrize('arguments, status, text', [
    (['--word', 's1', '--distance', '1'], 2, 'FILE'),
    (['FOUR', '--distance', '1'], 2, '--word'),
    (['FOUR', '--word', 's1'], 2, '--distance'),
    (['FOUR', '--word', 's1', '--distance', 'two'], 2, 'invalid int'),
    (['FOUR', '--word', 's1,s2', '--distance', '3'], 1, 'an integer from 0 to 2'),
    (['FOUR', '--word', 's1,s2', '--distance', '-1'], 1, 'an integer from 0 to 2'),
    (['FOUR', '--word', 's1,s9', '--distance', '1'], 1,
     'a symbol that is no state of the chain in'),
    (['FOUR', '--word', '', '--distance', '0'], 1, 'as in --word s0,s1,s2'),
    (['FOUR', '--word', 's1 s2', '--distance', '0'], 1, 'separate symbols by commas'),
    (['FOUR', '--word', 's1,s2,s3', '--distance', '0'], 1, 'try another --distance'),
    (['FOUR', '--word', 's1', '--distance', '0', '--initial-state', 's9'], 1, "'s9' is not"),
    (['FOUR', '--word', 's1', '--distance', '0', '-o', 'figure'], 1, '.svg, .png or .pdf'),
    (['FOUR', '--word', 's1', '--distance', '0', '-o', 'figure.txt'], 1, '.svg, .png or .pdf'),
    (['FOUR', '--word', 's1', '--distance', '0', '-o', 'nowhere/figure.svg'], 1,
     'nowhere/figure.svg cannot be written: the directory'),
    (['nowhere.yaml', '--word', 's1', '--distance', '0'], 1, 'nowhere.yaml: the file cannot be'),
])
def test_wrong_usage(symdp, file, tmp_path, monkeypatch, arguments, status, text):
    if '-o' in arguments:
        pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    monkeypatch.chdir(tmp_path)
    four = file('four')
    ended, out, err = symdp(*(four if part == 'FOUR' else part for part in arguments))
    assert (ended, out) == (status, '')
    assert text in err and 's9' not in err.replace("'s9' is not", '')
    assert [path.name for path in tmp_path.iterdir()] == ['four.yaml']


def test_without_matplotlib(symdp, file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    arguments = (file('abc'), '--word', 'a,b,c', '--distance', 2)
    status, _, err = symdp(*arguments, '-o', tmp_path / 'figure.svg')
    assert status == 1 and 'figures need matplotlib: pip install matplotlib' in err
    assert symdp(*arguments)[0] == 0


def test_the_help_says_that_the_word_is_shown(symdp):
    status, out, _ = symdp('--help')
    assert status == 0 and 'show the word itself: keep them as private' in ' '.join(out.split())


def test_words_of_the_library():
    """None is a symbol of a word; the empty word has one state."""
    pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
    from symdp_ros.figures.automaton import _Layout, _parts, draw_automaton

    word = ['s1', None]
    automaton = HammingAutomaton(FOUR, word, 1)
    assert _Layout(automaton, word, *_parts(automaton)).headings == ['w₁ = s1', 'w₂ = –']
    empty = HammingAutomaton(FOUR, [], 0)
    assert len(_Layout(empty, [], *_parts(empty)).centres) == 1
    with refused(ConfigurationError, setting='distance'):
        draw_automaton(HammingAutomaton(FOUR, ['s0'], 0), ['s0'], 'figure.svg')
