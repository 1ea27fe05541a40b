# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp automaton`: the table, the graph and what is in it, wrong input."""
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from strategies import FOUR
from symdp_ros import Chain
from symdp_ros.cli.main import main
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.figures.automaton import dot_lines

ABC = Chain.complete(['a', 'b', 'c'], 'a')
CHAINS = {
    'abc': 'initial_state: a\nsymbols: [a, b, c]\n',
    'four': 'initial_state: s0\n'
            'transitions: {s0: [s1, s2, s3], s1: [s1, s2], s2: [s0], s3: [s3, s0, s1, s2]}\n',
    'ten': f'initial_state: x0\nsymbols: [{", ".join(f"x{i}" for i in range(10))}]\n',
    'odd': 'initial_state: $a_b$\n'
           'symbols: ["$a_b$", "a\\"\\\\", "x < y & z", "仓库"]\n',
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


@pytest.mark.parametrize('name', BY_HAND)
def test_the_table(symdp, file, name):
    _, word, count, rows = BY_HAND[name]
    status, out, err = symdp(file(name), '--word', ', '.join(word), '--distance', 2)
    assert (status, err) == (0, '')
    lines = [' '.join(line.split()) for line in out.splitlines()]
    assert lines == ['position errors state count policy', *rows, f'{count} feasible words']


@pytest.mark.parametrize('name', BY_HAND)
def test_the_graph_carries_the_automaton(symdp, file, name):
    chain, word, count, _ = BY_HAND[name]
    status, out, err = symdp(file(name), '--word', ','.join(word), '--distance', 2, '--dot')
    assert (status, err) == (0, '') and out.startswith('digraph {') and out.endswith('\n}\n')
    automaton = HammingAutomaton(chain, word, 2)
    assert f'label="word {" ".join(word)} · {count} feasible words\\n' in out
    labels = re.findall(r'(s\d+) \[label="([^"]*)"(, peripheries=2)?\];', out)
    states = {name: state for (name, *_), state in zip(labels, automaton.states(), strict=True)}
    for name, label, accepting in labels:
        state = states[name]
        errors = 'error' if state.errors == 1 else 'errors'
        assert label == (f'{state.state}\\n{state.errors} {errors}, '
                         f'V = {automaton.count(*state)}')
        assert bool(accepting) == (state.position == len(word))
        assert f'{{rank=same; {state.position}; {name} ' in out
    found = re.findall(r'(s\d+) -> (s\d+) \[label="(.*?)", color="(.*?)"', out)
    assert [(states[one], states[other], label, colour == '#d1495b')
            for one, other, label, colour in found] == [
        (edge.source, edge.target, f'{edge.target.state}: {edge.probability}', edge.is_error)
        for edge in automaton.edges()]
    assert re.findall(r'label="w(.) = (.*?)"', out) == [
        *zip('₁₂₃', word, strict=True)]


@pytest.mark.parametrize('name, word', [('four', 's1,s2'), ('odd', '$a_b$,a"\\,x < y & z')])
def test_graphviz_draws_it(symdp, file, tmp_path, name, word):
    if not shutil.which('dot'):
        pytest.skip('Graphviz is not installed')
    status, graph, _ = symdp(file(name), '--word', word, '--distance', 1, '--dot')
    drawn = subprocess.run(['dot', '-Tsvg'], input=graph, capture_output=True, text=True,
                           check=True)
    texts = [element.text for element in ElementTree.fromstring(drawn.stdout).iter()
             if element.tag.endswith('}text')]
    assert (status, drawn.stderr) == (0, '')
    assert {*word.split(',')} <= {text for text in texts if ' errors' not in text} | {
        text.split(' = ')[1] for text in texts if ' = ' in text}


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


@pytest.mark.parametrize('arguments, status, text', [
    (['--word', 's1', '--distance', '1'], 2, 'MAP'),
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
    (['nowhere.yaml', '--word', 's1', '--distance', '0'], 1, 'nowhere.yaml: the file cannot be'),
])
def test_wrong_usage(symdp, file, tmp_path, monkeypatch, arguments, status, text):
    monkeypatch.chdir(tmp_path)
    four = file('four')
    ended, out, err = symdp(*(four if part == 'FOUR' else part for part in arguments))
    assert (ended, out) == (status, '')
    assert text in err and 's9' not in err.replace("'s9' is not", '')
    assert [path.name for path in tmp_path.iterdir()] == ['four.yaml']


def test_the_help_says_that_the_word_is_shown(symdp):
    status, out, _ = symdp('--help')
    assert status == 0 and 'show the word itself: keep them as private' in ' '.join(out.split())


def test_words_of_the_library():
    """None is a symbol of a word; the empty word has one state."""
    word = ['s1', None]
    assert '"w₂ = –"' in '\n'.join(dot_lines(HammingAutomaton(FOUR, word, 1), word))
    assert [line for line in dot_lines(HammingAutomaton(FOUR, [], 0), []) if 'peripheries' in line]
