# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The chain file: what it may hold, and the file and line in every message about it."""
import pytest
from symdp_ros import Chain, ChainError

GOOD = """\
# A comment, and a blank line.

initial_state: dock
transitions:
  dock: {dock: 0.25, aisle_1: 0.75}
  aisle_1: [aisle_1, "no", dock]
  "no":
    - 'dock'
    - "1"
  "1": [dock]
"""


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a chain file and returns its path."""
    def write(content):
        path = tmp_path / 'map.chain.yaml'
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
    return write


def refused(path, **arguments):
    """Return what the refusal says, after 'FILE'."""
    with pytest.raises(ChainError) as caught:
        Chain.from_yaml(path, **arguments)
    message = str(caught.value)
    assert message.startswith(str(path)) and '\n' not in message
    return message.removeprefix(str(path))


def test_reads(write):
    chain = Chain.from_yaml(write(GOOD))
    assert chain == Chain({'dock': {'dock': 0.25, 'aisle_1': 0.75},
                           'aisle_1': ['aisle_1', 'no', 'dock'], 'no': ['dock', '1'],
                           '1': ['dock']}, 'dock')


def test_reads_an_alphabet(write):
    chain = Chain.from_yaml(str(write('initial_state: b\nsymbols: [a, b, "3"]\n')))
    assert chain == Chain.complete(['a', 'b', '3'], 'b')


@pytest.mark.parametrize('value, looped', [('true', True), ('yes', True), ('false', False)])
def test_reads_that_every_state_may_stay(write, value, looped):
    chain = Chain.from_yaml(write(GOOD + f'self_loops: {value}\n'))
    assert chain == Chain({'dock': {'dock': 0.25, 'aisle_1': 0.75},
                           'aisle_1': ['aisle_1', 'no', 'dock'],
                           'no': ['dock', '1'] + ['no'] * looped,
                           '1': ['dock'] + ['1'] * looped}, 'dock')
    alphabet = Chain.from_yaml(write(f'initial_state: a\nsymbols: [a, b]\nself_loops: {value}\n'))
    assert alphabet == Chain.complete(['a', 'b'], 'a')


@pytest.mark.parametrize('content', [
    '\N{BYTE ORDER MARK}' + GOOD, GOOD.replace('\n', '\r\n'), '---\n' + GOOD, GOOD + '...\n'])
def test_reads_what_editors_write(write, content):
    assert Chain.from_yaml(write(content)) == Chain.from_yaml(write(GOOD))


def test_reads_labels_of_any_language(write):
    chain = Chain.from_yaml(write('initial_state: Küche\ntransitions: {Küche: [厨房], 厨房: [Küche]}'))
    assert chain == Chain({'Küche': ['厨房'], '厨房': ['Küche']}, 'Küche')


@pytest.mark.parametrize('number, value', [
    ('1', 1.0), ('1.0', 1.0), ('1e0', 1.0), ('10e-1', 1.0), ('0.9999999999', 0.9999999999)])
def test_reads_numbers(write, number, value):
    chain = Chain.from_yaml(write(f'initial_state: a\ntransitions: {{a: {{a: {number}}}}}'))
    assert chain.probabilities('a') == {'a': value}


@pytest.mark.parametrize('initial', ['', 'initial_state:\n', 'initial_state: dock\n'])
def test_the_operator_may_give_the_initial_state(write, initial):
    path = write(initial + 'transitions: {dock: [hall], hall: [dock]}')
    assert Chain.from_yaml(path, 'hall').initial_state == 'hall'


@pytest.mark.parametrize('initial', ['', 'initial_state:\n', 'initial_state: ~\n'])
@pytest.mark.parametrize('rest', ['transitions: {dock: [hall], hall: [dock]}',
                                  'symbols: [dock, hall]'])
def test_someone_must_give_the_initial_state(write, initial, rest):
    assert refused(write(initial + rest)).startswith(
        ': the file names no initial state: give one of its 2 states')


def test_self_loops(write):
    path = write('initial_state: a\ntransitions:\n  a: [b]\n  b: {a: 1.0}\n  c: [c, a]\n  d: []\n')
    assert Chain.from_yaml(path, self_loops=True) == Chain(
        {'a': ['b', 'a'], 'b': {'a': 0.5, 'b': 0.5}, 'c': ['c', 'a'], 'd': ['d']}, 'a')
    alphabet = write('initial_state: a\nsymbols: [a, b]')
    assert Chain.from_yaml(alphabet, self_loops=True) == Chain.complete(['a', 'b'], 'a')


LABELS = {'no': 'bool', 'Yes': 'bool', 'off': 'bool', 'true': 'bool', '1': 'int', '0x1F': 'int',
          '1.0': 'float', '.nan': 'float', 'null': 'null', '~': 'null', '2024-05-01': 'timestamp'}

#: {0} is the label tried, {1} the same in quotes; the line of {0}.
PLACES = {
    'initial': ('initial_state: {0}\nsymbols: [a, {1}]\n', 1),
    'state': ('initial_state: a\n\ntransitions:\n  a: [a]\n  {0}: [a]\n', 5),
    'successor': ('initial_state: a\ntransitions:\n  {1}: [a]\n  a: [a,\n      {0}]\n', 5),
    'chance': ('initial_state: a\ntransitions:\n  {1}: [a]\n  a:\n    a: 0.5\n    {0}: 0.5\n', 6),
    'symbol': ('initial_state: a\nsymbols:\n- a\n- {0}\n', 4)}


@pytest.mark.parametrize('place, label', [
    (place, label) for place in PLACES for label, kind in LABELS.items()
    if (place, kind) != ('initial', 'null')])  # that one is left to the operator
def test_labels_that_yaml_does_not_read_as_strings(write, place, label):
    form, line = PLACES[place]
    message = refused(write(form.format(label, f'"{label}"')))
    assert message == (f', line {line}: YAML reads the label {label} as a value of type '
                       f'{LABELS[label]}: quote it, "{label}"')
    assert label in Chain.from_yaml(write(form.format(f'"{label}"', f'"{label}"'))).states


@pytest.mark.parametrize('transitions, line, message', [
    ('  a: [a]\n  b: [a]\n  a: [b]\n', 5, "'a' is listed twice (first in line 3): list it once"),
    ('  a: [a]\n  b: [a,\n   b, a]\n', 5, "the row of 'b' lists 'a' twice"),
    ('  a: [a]\n  b:\n    a: 0.5\n    a: 0.5\n', 6, "'a' is listed twice (first in line 5)"),
    ('  a: [a]\n  b: [c]\n', 4, "state 'b' lists the successor 'c', which is not a state"),
    ('  a: [a]\n  b: {c: 1.0}\n', 4, "state 'b' lists the successor 'c', which is not a state"),
    ('  a: [a]\n  b: []\n', 4, "state 'b' has no successors"),
    ('  a: [a]\n  b: {}\n', 4, "state 'b' has no successors"),
    ('  a: [a]\n  b: {a: 0.5}\n', 4, "state 'b' has probabilities that sum to 0.5"),
    ('  a: [a]\n  b: {a: 1.5, b: -0.5}\n', 4, "state 'b' gives 'a' the probability 1.5"),
    ('  a: [a]\n  b: {b: -0.5, a: 1.5}\n', 4, "state 'b' gives 'b' the probability -0.5"),
    ('  a: [a]\n  b: {a: 1, b: 0}\n', 4, "state 'b' gives 'b' the probability 0.0"),
    ('  a: [a]\n  b: {a: .nan}\n', 4, "state 'b' gives 'a' the probability nan"),
    ('  a: [a]\n  b: {a: .inf}\n', 4, "state 'b' gives 'a' the probability inf"),
    ('  a: [a]\n  b: {a: -.inf}\n', 4, "state 'b' gives 'a' the probability -inf"),
    ('  a: [a]\n  b: {a: 1e999}\n', 4, "state 'b' gives 'a' the probability inf"),
    ('  a: [a]\n  b:\n    a: x\n', 5, 'a probability must be a number, such as 0.25'),
    ('  a: [a]\n  b:\n    a: "1"\n', 5, 'a probability must be a number'),
    ('  a: [a]\n  b:\n    a:\n', 5, 'a probability must be a number'),
    ('  a: [a]\n  b:\n    a: [1]\n', 5, 'a probability must be a number'),
    ('  a: [a]\n  b: a\n', 4, "the row of 'b' must be a list, such as"),
    ('  a: [a]\n  b:\n', 4, "the row of 'b' must be a list"),
    ('  a: [a]\n  b: [[a]]\n', 4, 'a label must be a string, not a list or a map'),
    ('  a: [a]\n  ? [a, b]\n  : [a]\n', 4, 'a label must be a string, not a list or a map'),
    ('  a: [a]\n  b: [""]\n', 4, 'a label is empty: give the state a name'),
    ('  a: [a]\n  "": [a]\n', 4, 'a label is empty: give the state a name'),
    ('  a: [a]\n  b:\n  - a\n  -\n', 6, 'a label is empty: give the state a name'),
    ('  a: [a]\n  ?\n  : [a]\n', 4, 'a label is empty: give the state a name'),
    ('  a: &row [a]\n  b:\n    <<: *row\n', 5, 'YAML reads the label <<'),
    ('- a\n- b\n', 3, 'transitions must be a map of the form state: [successor, …]'),
    ('  dock\n', 3, 'transitions must be a map'),
    ('\n', 2, 'transitions must be a map'),
])
def test_refuses_transitions(write, transitions, line, message):
    text = refused(write(f'initial_state: a\ntransitions:\n{transitions}'))
    assert text.startswith(f', line {line}: {message}')


@pytest.mark.parametrize('content, where, message', [
    ('initial_state: a\ntransition: {a: [a]}\n', ', line 2',
     "unknown key 'transition': a chain file has the keys initial_state, transitions, symbols, "
     'self_loops'),
    (GOOD + 'self_loops: 1\n', ', line 11', 'self_loops must be true or false'),
    ('symbols: [a]\ninitial_state: a\nepsilon: 2\n', ', line 3', "unknown key 'epsilon'"),
    ('symbols: [a]\ninitial_state: a\nsymbols: [b]\n', ', line 3',
     "'symbols' is listed twice (first in line 1)"),
    ('symbols: [a]\ninitial_state: a\ntransitions: {a: [a]}\n', '',
     'a chain file has either transitions'),
    ('initial_state: a\n', '', 'a chain file has either transitions'),
    ('initial_state: a\nsymbols: {a: 1}\n', ', line 2', 'symbols must be a list'),
    ('initial_state: a\nsymbols: a\n', ', line 2', 'symbols must be a list'),
    ('initial_state: a\nsymbols: [a,\n  b,\n  a]\n', ', line 4', "symbols lists 'a' twice"),
    ('initial_state: a\nsymbols: []\n', '', 'the chain is empty: list at least one state'),
    ('initial_state: a\ntransitions: {}\n', '', 'the chain is empty: list at least one state'),
    ('# nothing\n\ninitial_state: b\nsymbols: [a]\n', ', line 3', "the initial state 'b' is not"),
    ('transitions: {a: [a]}\ninitial_state: b\n', ', line 2', "the initial state 'b' is not"),
    ('initial_state: [a]\nsymbols: [a]\n', ', line 1', 'a label must be a string'),
    ('initial_state: ""\nsymbols: [a]\n', ', line 1', 'a label is empty'),
    ('- a\n', ', line 1', 'the file must be a map'),
    ('\n\ndock\n', ', line 3', 'the file must be a map'),
    ('', '', 'it is empty'), ('# dock\n\n', '', 'it is empty'),
    ('---\n', ', line 2', 'the file must be a map'), ('~', ', line 1', 'the file must be a map'),
    ('initial_state: a\nsymbols: [a\n', ', line 3', 'it is not valid YAML: '),
    ('initial_state: a\nsymbols: [a]]\n', ', line 2', 'it is not valid YAML: '),
    ('initial_state: a\n\tsymbols: [a]\n', ', line 2', 'it is not valid YAML: '),
    ('initial_state: a\nsymbols: [*b]\n', ', line 2', 'it is not valid YAML: '),
    ('symbols: [a]\n---\nsymbols: [a]\n', ', line 2', 'it is not valid YAML: '),
    (b'initial_state: a\nsymbols: [\xff]\n', '', 'the file is not UTF-8 text'),
    (GOOD.encode('utf-16'), '', 'the file is not UTF-8 text'),
])
def test_refuses_a_file(write, content, where, message):
    assert refused(write(content)).startswith(f'{where}: {message}')


def test_an_initial_state_given_by_the_operator_has_no_line(write):
    path = write('initial_state: a\nsymbols: [a]\n')
    assert refused(path, initial_state='b').startswith(": the initial state 'b' is not")


def test_a_control_character_is_not_deep_nesting(write):
    message = refused(write('initial_state: a\nsymbols: [a, "\x07"]\n'))
    assert 'not valid YAML' in message and 'nested' not in message


def test_refuses_deep_nesting(write):
    message = refused(write('initial_state: a\nsymbols: ' + '[' * 200_000 + ']' * 200_000))
    assert message.startswith(', line 2') and 'nest' in message  # libyaml may say it


@pytest.mark.parametrize('name, message', [
    ('missing.yaml', ': the file cannot be read: No such file or directory'),
    ('', ': it is not a file')])
def test_refuses_what_cannot_be_read(tmp_path, name, message):
    assert refused(tmp_path / name) == message


@pytest.mark.parametrize('content, line', [
    ('!!python/object/apply:os.system ["touch {0}"]\n', 1),
    ('!!python/object:os.system\ninitial_state: a\nsymbols: [a]\n', None),
    ('initial_state: !!python/object:os.system a\nsymbols: [a]\n', 1),
    ('initial_state: !!python/name:os.system a\nsymbols: [a]\n', 1),
    ('initial_state: a\nsymbols: [a, !!python/object/apply:os.system ["touch {0}"]]\n', 2),
    ('initial_state: a\nsymbols: [a, !!python/object:os.system b]\n', 2),
    ('initial_state: a\nsymbols: !!python/tuple [a]\n', 2),
    ('initial_state: a\ntransitions: !!python/object:os.system {{a: [a]}}\n', 2),
    ('initial_state: a\ntransitions: {{a: !!python/tuple [a]}}\n', 2),
    ('initial_state: a\ntransitions: {{a: !!python/dict {{a: 1.0}}}}\n', 2),
    ('initial_state: a\ntransitions: {{a: {{a: !!python/object:os.system 1.0}}}}\n', 2),
    ('initial_state: a\ntransitions: {{!!python/object:os.system a: [a]}}\n', 2),
    ('initial_state: a\ntransitions: {{a: {{a: !own 1.0}}}}\n', 2)])
def test_refuses_tags(write, tmp_path, content, line):
    message = refused(write(content.format(tmp_path / 'touched')))
    assert message.startswith(f', line {line}: ' if line else ', line ')
    assert not (tmp_path / 'touched').exists()


def test_a_label_may_be_tagged_a_string(write):
    path = write('initial_state: !!str no\ntransitions: {!!str no: [!!str no]}\n')
    assert Chain.from_yaml(path) == Chain({'no': ['no']}, 'no')


@pytest.mark.parametrize('name', ['map', 'map.lif', 'map.json'])
def test_the_content_decides_what_is_no_chain_file(tmp_path, name):
    file = tmp_path / name
    file.write_text('{"layouts": []}')
    with pytest.raises(ChainError, match='no chain file: read maps of other tools with'):
        Chain.from_yaml(file)
    file.write_text('{"initial_state": "a", "transitions": {"a": ["a"]}}')
    assert Chain.from_yaml(file).states == ('a',)
