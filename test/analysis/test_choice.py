# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `auto` takes: what errs least of all that the settings leave open."""
from itertools import chain as chain_all, pairwise

import numpy as np
import pytest
from strategies import COMPLETE, FOUR, grid
from symdp_ros import Chain, ConfigurationError, Privacy
from symdp_ros.analysis import choice
from symdp_ros.analysis.accuracy import errors_of_words, patrols, robots
from symdp_ros.analysis.choice import choose, compare
from symdp_ros.core.compiled import compiling
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.registry import CHOICES, LIVE

HABIT = Chain({'a': {'a': 0.1, 'b': 0.9}, 'b': {'b': 0.1, 'c': 0.9},
               'c': {'c': 0.05, 'b': 0.05, 'a': 0.9}}, 'a')
RING = Chain({'a': ['b'], 'b': ['c'], 'c': ['d'], 'd': ['a', 'd']}, 'a')
STREETS = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'd'], 'd': ['d', 'a']}, 'a')
EVERYTHING = ('exponential', 'exponential, counting', 'permute_and_flip', 'causal, guided',
              'causal, planned', 'causal, adaptive')


@pytest.fixture(autouse=True)
def nothing_chosen_before():
    choice._compared.cache_clear()
    yield
    choice._compared.cache_clear()


@pytest.mark.parametrize('settings, names', [
    ({}, EVERYTHING),
    ({'selection': 'exponential'}, EVERYTHING[:2]),
    ({'selection': 'permute_and_flip'}, EVERYTHING[2:3]),
    ({'selection': 'causal'}, EVERYTHING[3:]),
    ({'base': 'counting'}, EVERYTHING[1:]),
    ({'base': 'chain'}, (EVERYTHING[0], *EVERYTHING[2:])),
    ({'policy': 'planned'}, (*EVERYTHING[:3], 'causal, planned')),
    ({'policy': 'paper', 'base': 'chain'}, ('exponential', 'permute_and_flip', 'causal, paper')),
    ({'selection': 'causal', 'policy': 'paper'}, ('causal, paper',)),
    ({'selection': LIVE}, ('live, guided', 'live, planned', 'live, adaptive')),
    ({'selection': LIVE, 'policy': 'guided', 'base': 'chain'}, ('live, guided',)),
    ({'selection': LIVE, 'policy': 'paper'}, ('live, paper',)),
    ({'selection': LIVE, 'delay': 3}, ('live, adaptive, delay 3',))])
def test_what_is_given_restricts_what_is_available(settings, names):
    found = MechanismSettings(**settings).available()
    assert tuple(found) == names
    for name, each in found.items():
        assert each.name == name and tuple(each.available()) == (name,)
        if name in CHOICES:
            made = each.offline(FOUR, Privacy(1.0))
            expected = CHOICES[name]
            assert made.selection == expected['selection']
            assert made.online is None or made.online.policy == expected['policy']
            assert made.base == expected.get('base', 'chain')
        elif name.startswith('live'):
            online = each.online(FOUR, Privacy(1.0))
            assert (online.policy, online.delay) == (each.policy, each.delay)


def test_where_nothing_is_open_nothing_is_compared(monkeypatch):
    monkeypatch.setattr(choice, 'compare', None)
    settings = MechanismSettings('causal', policy='planned')
    assert choose(FOUR, Privacy(1.0), settings, 5) == (settings, None)
    taken, compared = choose(FOUR, Privacy(1.0), MechanismSettings(LIVE, delay=2))
    assert (taken.policy, taken.delay, compared) == ('adaptive', 2, None)


def averages(chain, privacy, settings, length, walks):
    """Return the errors by name, over as many walks of each robot; weighed as the models are."""
    words = [word for robot in robots(chain, settings.trust).values()
             for word in patrols(robot, length, walks)]
    weights = np.repeat(chain.models(settings.trust).prior / walks, walks)
    return {name: weights @ errors_of_words(
        (each.online if each.selection == LIVE else each.offline)(chain, privacy), words,
        draws=max(2, min(40, 400 // length))) for name, each in settings.available().items()}


@pytest.mark.parametrize('chain, epsilon, k, length, settings', [
    (grid(4), 3.0, 2, 24, {'trust': 1.0}), (HABIT, 1.0, 1, 20, {}), (RING, 0.0, 1, 8, {}),
    (HABIT, 2.0, 1, 16, {'selection': 'exponential'}),
    (RING, 1.0, 2, choice.LONGEST, {'selection': LIVE}),
    *(pytest.param(*case, marks=pytest.mark.thorough) for case in (
        (grid(5), 5.0, 1, 40, {}), (grid(5), 1.0, 1, 12, {}), (RING, 2.0, 1, 12, {}),
        (RING, 0.2, 1, 4, {'base': 'counting', 'policy': 'guided'}), (STREETS, 8.0, 3, 60, {}),
        (STREETS, 2.0, 1, 1, {}), (HABIT, 3.0, 1, 20, {'trust': 0.0}),
        (FOUR, 2.0, 1, 30, {'selection': 'causal'}), (FOUR, 60.0, 1, 30, {}),
        (COMPLETE, 2.0, 1, 24, {}), (grid(5), 1.0, 1, choice.LONGEST, {'selection': LIVE}),
        (grid(4), 8.0, 1, choice.LONGEST, {'selection': LIVE, 'trust': 1.0})))])
def test_what_is_taken_errs_least(chain, epsilon, k, length, settings):
    """By 30 walks of each robot, most of which the choice has not seen; all seeds are fixed."""
    privacy, settings = Privacy(epsilon, k), MechanismSettings(**settings)
    taken, compared = choose(chain, privacy, settings, length)
    assert taken.name == compared.taken and set(compared.errors) == set(settings.available())
    errors = averages(chain, privacy, settings, length, 30)
    assert errors[taken.name] < min(errors.values()) + 0.01
    others = [each.error for name, each in compared.errors.items() if name != taken.name]
    assert others == sorted(others)
    for name, found in compared.errors.items():
        assert found.error == pytest.approx(errors[name], abs=0.03 + 0.2 / length**0.5), name
        assert 0 <= found.standard_error < 0.05


def test_it_repeats_and_is_remembered():
    arguments = grid(4), Privacy(2.0), MechanismSettings(), 20
    found = compare(*arguments)
    assert compare(*arguments) is found
    choice._compared.cache_clear()
    again = compare(*arguments)
    assert again == found and again is not found


def test_of_equals_the_first_is_taken():
    """On an alphabet all policies are alike, and so are the bases."""
    assert compare(COMPLETE, Privacy(1.0), MechanismSettings(LIVE)).taken == 'live, guided'
    assert compare(COMPLETE, Privacy(1.0), MechanismSettings(), 20).taken == 'exponential'


def test_words_are_counted_only_where_it_is_worth_it():
    """Of many words permute-and-flip errs as the exponential mechanism, to 12 digits."""
    settings = MechanismSettings(base='counting', policy='guided')
    found = compare(grid(4), Privacy(1.0), settings, 60).errors
    assert found['permute_and_flip'].error == pytest.approx(
        found['exponential, counting'].error, abs=1e-6)
    counted = compare(RING, Privacy(2.0), settings, 12)
    assert counted.taken == 'permute_and_flip'


def test_what_is_counted_on_few_walks_is_close_to_all_of_them():
    """On short words, where it differs most from the mechanism that it is compared with."""
    chain, privacy, settings = grid(3), Privacy(4.0), MechanismSettings('permute_and_flip')
    found = compare(chain, privacy, settings, 6).errors['permute_and_flip']
    walks = choice._Walks(chain, 6, settings.trust)
    walks.draw(choice._ROUNDS[0])
    words = [*chain_all.from_iterable(walks._words)]
    every = errors_of_words(settings.offline(chain, privacy), words)
    other = errors_of_words(MechanismSettings('exponential', 'counting').offline(
        chain, privacy), words)
    assert found.error == pytest.approx(walks.mean(every), abs=0.003)
    assert walks.mean(other) - walks.mean(every) > 0.006


def test_what_is_refused_is_not_chosen(monkeypatch):
    settings = MechanismSettings(base='counting', policy='guided')
    assert compare(RING, Privacy(2.0), settings, 12).taken == 'permute_and_flip'
    steps = 12 * 12 * RING.edge_count
    monkeypatch.setattr(choice, 'MOST_COUNTING_STEPS', steps)
    assert compare(RING, Privacy(2.0), settings, 12, 12).taken == 'permute_and_flip'
    refused = compare(RING, Privacy(2.0), settings, 12, 13)
    assert list(refused.left_out) == ['permute_and_flip']
    assert 'not compared: permute' in str(refused)
    assert refused.taken != 'permute_and_flip'
    alone = MechanismSettings('permute_and_flip')
    assert list(compare(RING, Privacy(2.0), alone, 12, 13).errors) == ['permute_and_flip']


def test_where_loops_cannot_be_compiled_their_policies_are_left_out(monkeypatch):
    monkeypatch.setattr(compiling, 'numba', None)
    found = compare(FOUR, Privacy(2.0), MechanismSettings(LIVE))
    assert list(found.errors) == ['live, guided']
    assert str(found).endswith('; not compared: live, planned: numba is not installed; not '
                               'compared: live, adaptive: numba is not installed')


def test_on_large_maps_it_compares_less(monkeypatch):
    chain = grid(5)
    monkeypatch.setattr(choice, '_PLANNED_STEPS', len(chain) * chain.edge_count - 1)
    assert list(compare(chain, Privacy(2.0), MechanismSettings(LIVE)).left_out) == [
        'live, planned']
    monkeypatch.setattr(choice, '_ADAPTIVE_STATES', 24)
    found = compare(chain, Privacy(2.0), MechanismSettings(), 20)
    assert found.left_out == dict.fromkeys(['causal, planned', 'causal, adaptive'],
                                           'the map is large')


@pytest.mark.parametrize('steps', [1, 10**4])
def test_fewer_and_shorter_walks_on_large_maps(steps, monkeypatch):
    monkeypatch.setattr(choice, '_STEPS', steps)
    chain = grid(5)
    found = compare(chain, Privacy(3.0), MechanismSettings(), 60)
    assert found.taken == 'causal, adaptive'
    walks = choice._Walks(chain, 60, 0.8)
    walks.draw(1_000)
    symbols = sum(map(len, chain_all.from_iterable(walks._words)))
    assert symbols <= max(steps // chain.edge_count + 12 * 20, 2 * 6 * 20)
    assert {each.walks for each in found.errors.values()} <= {
        sum(1 for _ in chain_all.from_iterable(walks._words)), *range(12, 1_100)}


def test_close_ones_get_more_walks_than_others():
    found = compare(grid(5), Privacy(1.0), MechanismSettings(), 20).errors
    counts = [each.walks for each in found.values()]
    assert min(counts) >= 100 and counts[0] == max(counts)
    assert found['permute_and_flip'].walks < 300
    close = compare(COMPLETE, Privacy(1.0), MechanismSettings(LIVE), 12)
    assert {each.walks for each in close.errors.values()} == {100}  # they do not differ at all
    close = compare(STREETS, Privacy(2.0), MechanismSettings(), 1)
    print(close)
    assert max(each.walks for each in close.errors.values()) >= 1_000


def test_robots_walk_as_often_as_their_models_weigh():
    for chain, trust in ((HABIT, 0.8), (grid(3), 0.8), (HABIT, 1.0), (COMPLETE, 0.8)):
        walks, prior = choice._Walks(chain, 10, trust), chain.models(trust).prior
        walks.draw(300)
        counts = np.array([*map(len, walks._words)])
        assert (counts >= 2).all() and (counts >= 300 * prior - 1e-9).all()
        assert np.diff([0, *walks._ends, counts.sum()]).tolist() == counts.tolist()
        parts = np.split(np.arange(counts.sum()), walks._ends)
        for robot, words, part, weight in zip(robots(chain, trust).values(), walks._words, parts,
                                              prior, strict=True):
            assert words == patrols(robot, 10, len(part))
            ones = np.zeros(counts.sum())
            ones[part] = 1.0
            assert walks.mean(ones) == pytest.approx(weight)


def test_lengths_are_judged_by_few():
    judged = [choice._four_digits(min(length, choice.LONGEST)) for length in range(1, 1_000)]
    assert judged[:15] == [*range(1, 16)] and judged[-1] == choice.LONGEST
    assert all(a <= b for a, b in pairwise(judged)) and len(set(judged)) < 50
    assert all(n * 7 / 8 < found <= n for n, found in zip(range(1, 193), judged, strict=False))


def test_what_is_wrong_is_refused():
    for settings in ({'policy': 'plan'}, {'base': 'none'}, {'trust': 2.0}, {'selection': 'best'},
                     {'selection': LIVE, 'delay': -1}, {'selection': LIVE, 'delay': 1,
                                                        'policy': 'guided'}):
        with pytest.raises(ConfigurationError):
            compare(FOUR, Privacy(1.0), MechanismSettings(**settings), 5)
    for length in (0, -3):
        with pytest.raises(ConfigurationError):
            compare(FOUR, Privacy(1.0), MechanismSettings(), length)
