# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""mechanism 'auto': the choice is made from chain, ε, k and n alone."""
import json
from random import Random
import re

from in_process import run_symdp
import pytest
from release_settings import release_settings
from symdp_ros import Chain, Privacy
from symdp_ros.core import offline
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.registry import SELECTIONS
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import LogFile, read_log
from symdp_ros.release import mechanisms
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.session import Releaser

RING = Chain({'a': ['b'], 'b': ['c'], 'c': ['d'], 'd': ['a', 'd']}, 'a')
LETTERS = 'abcdefghijklmnopqrstuvwxyz'
#: nearly all is known of its routes
LONG_RING = Chain({a: [b] if a < b else [b, a] for a, b in zip(LETTERS, LETTERS[1:] + 'a')}, 'a')
COMPLETE = Chain.complete(['a', 'b', 'c', 'd'], 'a')
STREETS = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'd'], 'd': ['d', 'a']}, 'a')

#: One for each choice: chain, ε.
CHOICES = {'exponential': (LONG_RING, 0.5), 'causal': (STREETS, 8.0)}
for_all_choices = pytest.mark.parametrize('expected', CHOICES)


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

    monkeypatch.setattr(mechanisms, 'choose', spied)
    chain, epsilon = CHOICES[expected]
    random = Random(1)
    words = ['a' * 12, ['none'] * 12, random.choices((*chain.states, '?'), k=12)]
    for i, word in enumerate(words):
        [outcome] = release(tmp_path / str(i), settings(chain, epsilon), word)
        assert (outcome.kind, outcome.length) == ('released', 12)
    assert used == [(expected, 12)] * len(words)
    assert asked == [(chain, Privacy(epsilon), MechanismSettings(), 12)] * len(words)


def test_lengths_may_differ_in_their_choice(tmp_path, used):
    """Each log is chosen for by its own length."""
    outcomes = release(tmp_path / 'p', settings(LONG_RING, 0.5), 'a', 'abcd', 'd')
    assert [outcome.kind for outcome in outcomes] == ['released'] * 3
    assert used == [('causal', 1), ('exponential', 4), ('causal', 1)]


def test_parts_of_a_split_log_are_chosen_for_by_the_longest(tmp_path, used):
    release(tmp_path / 'p', settings(LONG_RING, 0.5, unknown_symbol='split'),
            ['a', 'none', *'abcdabcd', 'none', 'd'])
    assert used == [('exponential', 1), ('exponential', 8), ('exponential', 1)]


def test_the_choice_is_reported_once(tmp_path):
    """And by the map alone; preparing reports nothing."""
    told = []
    made = Mechanisms(settings(STREETS, 8.0), on_choice=told.append)
    made.prepare()
    assert told == []
    for length in (12, 13):
        assert made.for_length(length)[1].selection == 'causal'
    assert told == ['auto takes "causal, adaptive" for 12 symbols']


def test_it_is_a_release_of_its_own():
    """Known by 'auto', not by what was chosen; the policy counts, as causal may be chosen."""
    digests = {settings(RING, 2.0, mechanism=name, policy=policy).digest()
               for name in (*SELECTIONS, 'auto') for policy in ('paper', 'guided', 'auto')}
    assert len(digests) == 1 + 3 + 3
    bases = {settings(RING, 2.0, mechanism=name, base=base, trust=trust).digest()
             for name in (*SELECTIONS, 'auto')
             for base, trust in (('chain', 0.8), ('chain', 1), ('counting', 0.8), ('counting', 1))}
    assert len(bases) == 3 + 2 + 4
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
    assert re.search(r'auto takes "[a-z_, ]+" for [84] symbols\n', run.stdout)
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
