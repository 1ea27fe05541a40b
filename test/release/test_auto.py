# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""mechanism 'auto': the choice is made from chain, ε, k and n alone."""
import json
from random import Random
import re

from forked import forked
from in_process import run_symdp
import pytest
from release_settings import release_settings
from symdp_ros import Chain, Privacy
from symdp_ros.analysis import choice
from symdp_ros.analysis.choice import choose, compare
from symdp_ros.core import offline
from symdp_ros.core.mechanism import MOST_COUNTING_STEPS
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.registry import SELECTIONS
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import LogFile, read_log
from symdp_ros.release.engine import Releaser
from symdp_ros.release.mechanisms import Mechanisms

RING = Chain({'a': ['b'], 'b': ['c'], 'c': ['d'], 'd': ['a', 'd']}, 'a')
COMPLETE = Chain.complete(['a', 'b', 'c', 'd'], 'a')
STREETS = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'd'], 'd': ['d', 'a']}, 'a')

#: One for each choice: chain, ε.
CHOICES = {'permute_and_flip': (RING, 2.0), 'exponential': (COMPLETE, 2.0),
           'causal': (STREETS, 8.0)}
for_all_choices = pytest.mark.parametrize('expected', CHOICES)


@pytest.fixture(autouse=True)
def nothing_chosen_before():
    choice._compared.cache_clear()
    yield
    choice._compared.cache_clear()


@pytest.fixture
def used(monkeypatch):
    """Return the mechanisms that the engine makes, and what each privatizes."""
    found = []

    class Spy(OfflineMechanism):
        def __init__(self, *arguments, selection, **more):
            super().__init__(*arguments, selection=selection, **more)
            self.spied = selection

        def privatize(self, word):
            found.append((self.spied, len(word)))
            return super().privatize(word)

    monkeypatch.setattr(offline, 'OfflineMechanism', Spy)
    return found


def settings(chain, epsilon, **more):
    return release_settings(chain, Privacy(epsilon), **more)


def chosen(chain, privacy, length, *symbols, **settings):
    return compare(chain, privacy, MechanismSettings(**settings), length, *symbols).taken


def write(path, word):
    path.write_text('stamp,symbol\n' + ''.join(f'{i},{s}\n' for i, s in enumerate(word)))
    return LogFile(path.name, path)


def release(base, settings_, *words):
    """Release words as logs of one new place; return the outcomes."""
    base.mkdir()
    (base / 'out').mkdir()
    logs = [write(base / f'{i}.csv', word) for i, word in enumerate(words)]
    with Ledger(base / 'a.ledger') as ledger, Releaser(
            settings_, base / 'out', ledger=ledger, subject='r1') as releaser:
        return [releaser.release(log) for log in logs]


@for_all_choices
def test_two_words_of_one_length_give_the_same_choice(tmp_path, used, monkeypatch, expected):
    """In places of their own, and nothing but chain, ε, k and n is asked for."""
    asked = []

    def spied(*arguments):
        asked.append(arguments)
        return choose(*arguments)

    monkeypatch.setattr(choice, 'choose', spied)
    chain, epsilon = CHOICES[expected]
    random = Random(1)
    words = ['a' * 12, ['none'] * 12, random.choices((*chain.states, 'x'), k=12)]
    for i, word in enumerate(words):
        choice._compared.cache_clear()
        [outcome] = release(tmp_path / str(i), settings(chain, epsilon), word)
        assert (outcome.kind, outcome.length) == ('released', 12)
    assert used == [(expected, 12)] * len(words)
    assert asked == [(chain, Privacy(epsilon), MechanismSettings(), 12, 0)] * len(words)


def test_lengths_may_differ_in_their_choice(tmp_path, used):
    """Each log is chosen for by its own length; it is asked once for each."""
    words = 'abcd', 'abcdabcd', 'dcba'
    outcomes = release(tmp_path / 'p', settings(RING, 2.0), *words)
    assert [outcome.kind for outcome in outcomes] == ['released'] * 3
    assert [length for _, length in used] == [4, 8, 4] and used[0] == used[2]
    assert choice._compared.cache_info().misses == 2


def test_parts_of_a_split_log_are_chosen_for_by_the_longest(tmp_path, used):
    release(tmp_path / 'p', settings(RING, 2.0, unknown_symbol='split'),
            ['a', 'none', 'a', 'b', 'c', 'none', 'd'])
    [choice] = {selection for selection, _ in used}
    assert [length for _, length in used] == [1, 3, 1]
    assert choice == chosen(RING, Privacy(2.0), 3)


def too_long(chain):
    return int((MOST_COUNTING_STEPS / chain.edge_count)**0.5) + 1


def test_long_logs_fall_back(tmp_path, used):
    """Permute-and-flip is the best of those that count words, and is refused from here on."""
    length, privacy = too_long(RING), Privacy(2.0)
    given = {'base': 'counting', 'policy': 'guided'}
    assert 'permute_and_flip' in compare(RING, privacy, MechanismSettings(**given),
                                         length - 1).errors
    assert chosen(RING, privacy, length, **given) == 'exponential, counting'
    [outcome] = release(tmp_path / 'p', settings(RING, 2.0, **given), 'abcd' * (length // 4 + 1))
    assert outcome.kind == 'released', outcome.reason
    assert [selection for selection, _ in used] == ['exponential']


def test_both_bases_are_considered(tmp_path, used):
    """A robot with habits: its chain is worth more than anything else."""
    habit = Chain({'a': {'a': 0.1, 'b': 0.9}, 'b': {'b': 0.1, 'c': 0.9},
                   'c': {'c': 0.05, 'b': 0.05, 'a': 0.9}}, 'a')
    privacy, found = Privacy(1.0), []
    for base in ('chain', 'counting'):
        given = {'base': base, 'policy': 'guided'}
        compared = compare(habit, privacy, MechanismSettings(**given), 20)
        found.append((compared.taken, next(iter(compared.errors.values())).error))
        [outcome] = release(tmp_path / base, settings(habit, 1.0, **given), 'abcab' * 4)
        assert outcome.kind == 'released'
    assert found[0][0] == 'exponential' and found[1][0] != 'exponential'
    assert found[0][1] < 0.8 * found[1][1]
    assert chosen(habit, privacy, 20, policy='guided') == 'exponential'


def test_the_choice_is_reported_once(tmp_path):
    """And by the map alone; preparing reports nothing."""
    told = []
    mechanisms_ = Mechanisms(settings(STREETS, 8.0), on_choice=told.append)
    mechanisms_.prepare()
    assert told == []
    for length in (12, 13):
        assert mechanisms_.for_length(length).selection == 'causal'
    [text] = told
    assert re.match(r'auto takes "(causal[a-z, ]*)" for 12 symbols\. Expected share of wrong '
                    r'symbols: \1: 0\.', text)


def test_it_is_a_release_of_its_own():
    """Known by 'auto', not by what was chosen; the policy counts, as causal may be chosen."""
    digests = {settings(RING, 2.0, mechanism=name, policy=policy).digest()
               for name in (*SELECTIONS, 'auto') for policy in ('paper', 'guided', 'auto')}
    assert len(digests) == 1 + 1 + 3 + 3
    bases = {settings(RING, 2.0, mechanism=name, base=base, trust=trust).digest()
             for name in (*SELECTIONS, 'auto')
             for base, trust in (('chain', 0.8), ('chain', 1), ('counting', 0.8), ('counting', 1))}
    assert len(bases) == 3 + 1 + 2 + 4
    assert settings(RING, 2.0).described()['mechanism'] == 'auto'


def test_the_command(tmp_path):
    (tmp_path / 'chain.yaml').write_text(
        'initial_state: a\ntransitions: {a: [b], b: [c], c: [d], d: [a, d]}\n')
    (tmp_path / 'logs').mkdir()
    for name, word in (('one.csv', 'abcdabcd'), ('two.csv', 'dddd')):
        write(tmp_path / 'logs' / name, word)

    arguments = ('release', 'logs', '--chain', 'chain.yaml', '--epsilon=2', '--adjacency=1',
                 '--mechanism',
                 'auto', '-o', 'out', '--ledger', 'robots.ledger', '--subject', 'r1')
    run = run_symdp(*arguments, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert '2 released' in run.stdout and 'Traceback' not in run.stderr
    words = [[symbol for _, symbol in read_log(path)]
             for path in sorted((tmp_path / 'out').glob('[!.]*'))]
    assert [len(word) for word in words] == [8, 4] and all(map(RING.is_feasible, words))
    assert re.search(r'auto takes "[a-z_, ]+" for [84] symbols\. Expected share of wrong symbols: '
                     r'[a-z_, ]+: 0\.\d{3}; ', run.stdout)
    assert '2 already released' in run_symdp(*arguments, cwd=tmp_path).stdout
    with Ledger(tmp_path / 'robots.ledger') as ledger:
        assert {json.loads(charge.description)['mechanism']
                for charge in ledger.charges()} == {'auto'}
        assert ledger.spent('r1') == 4
        taken = [charge.described['taken'] for charge in ledger.charges()]
        assert all('taken' not in charge.settings_described for charge in ledger.charges())
    assert all(f'auto takes "{name}" for ' in run.stdout for name in taken)
    rows = run_symdp('ledger', 'robots.ledger', cwd=tmp_path, COLUMNS='200').stdout.splitlines()
    for log, name in zip(('one.csv', 'two.csv'), taken, strict=True):
        assert any(log in row and row.rstrip().endswith(f'{name} (auto)') for row in rows)


def test_of_archives_so_large_that_it_would_take_long_it_is_not_permute_and_flip():
    """However short their routes are."""
    privacy, most = Privacy(2.0), MOST_COUNTING_STEPS // (12 * RING.edge_count)
    given = {'base': 'counting', 'policy': 'guided'}
    assert chosen(RING, privacy, 12, most, **given) == 'permute_and_flip'
    assert chosen(RING, privacy, 12, most + 1, **given) != 'permute_and_flip'


@pytest.fixture(scope='module')
def prepared():
    with forked(PREPARED) as run:
        yield run


@pytest.mark.parametrize('mechanism, chain', [
    ('causal', COMPLETE), ('auto', RING),
    *(pytest.param(mechanism, chain, marks=pytest.mark.thorough) for mechanism, chain in (
        ('causal', RING), ('auto', COMPLETE), ('exponential', RING), ('exponential', COMPLETE),
        ('permute_and_flip', RING), ('permute_and_flip', COMPLETE)))])
def test_after_preparation_no_release_compiles_anything(prepared, mechanism, chain):
    """In a process of its own: what others have compiled there would not show."""
    assert prepared(mechanism, {state: chain.successors(state) for state in chain.states}) == (
        0, 'done')


PREPARED = """
import numba
from dataclasses import replace
from symdp_ros import Chain, Privacy, ReleaseSettings
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.release.mechanisms import Mechanisms

def run(mechanism, moves):
    settings = MechanismSettings(mechanism)
    mechanisms = Mechanisms(ReleaseSettings(Chain(moves, 'a'), Privacy(2.0), settings))
    mechanisms.prepare()
    def compiles(*arguments):
        raise AssertionError('something is compiled, or loaded')
    numba.core.dispatcher.Dispatcher.compile = compiles
    auto = mechanism == 'auto'
    names = ('exponential', 'permute_and_flip', 'causal') if auto else [mechanism]
    for length in (1, 3, 12, 400):
        mechanisms.for_length(length)
        for name in names:
            word = (['a', 'b', None, 'd', 'c'] * length)[:length]
            for each in replace(settings, selection=name).available().values():
                assert len(mechanisms._of(each).privatize(word)) == length
    return 'done'
"""
