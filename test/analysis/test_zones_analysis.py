# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""With zones: the audit, the adversary zone by zone, and what 'auto' takes."""
from collections import defaultdict
from itertools import pairwise
from math import exp, prod

from online_checks import SignalChances
import pytest
from refusals import refused
from strategies import feasible_words, grid, thorough
from symdp_ros import ConfigurationError, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy, expected_accuracy
from symdp_ros.analysis.adversary import best_guess, best_guess_in_zones
from symdp_ros.analysis.audit import audit
from symdp_ros.analysis.belief import smooth_with_constant_normaliser
from symdp_ros.analysis.visits import VisitCalibration
from symdp_ros.analysis.zoning import propose_zones
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.maps.graph import TransitionGraph
from zone_checks import privacy_of, told, TRAP, ZONED

for_all_zones = pytest.mark.parametrize('chain, zones', ZONED.values(), ids=ZONED)


@pytest.mark.parametrize('epsilon, adjacency', [(0.0, 1), (2.0, 1), (3.0, 2)])
@for_all_zones
def test_the_audit_compares_words_with_the_same_zones(chain, zones, epsilon, adjacency):
    rows = audit(chain, privacy_of(zones, epsilon, adjacency), 2)
    assert [(row.mechanism, row.policy) for row in rows] == [
        ('online', 'adaptive'), ('exponential', None), ('exponential, counting', None),
        ('causal, adaptive', None)]
    for row in rows:
        assert row.holds and row.loss <= epsilon and row.ratio >= 1
    if zones is ZONED['four'][1] and epsilon:
        assert rows[0].loss == pytest.approx(epsilon)
        without = audit(chain, Privacy(epsilon, adjacency), 2)
        assert rows[0].pairs < without[0].pairs


@pytest.mark.parametrize('name', ['habit', *map(thorough, ('four', 'across', 'alone'))])
def test_the_adversary_against_all_words_and_signals(name):
    """By Bayes' rule over all words that the robot can walk; 1,000 walks, a fixed seed."""
    chain, zones = ZONED[name]
    mechanism = OnlineMechanism(chain, privacy_of(zones, 2.0), policy='adaptive', delay=1)
    before, after = defaultdict(float), defaultdict(float)  # (zones or signals, t, s): chance
    chances = SignalChances(mechanism)
    for word in feasible_words(chain, 3):
        prior = prod(chain.probabilities(a).get(b, 0.0)
                     for a, b in pairwise([chain.initial_state, *word]))
        known = told(mechanism.privacy, chain, word), chances.law(word)
        for t, s in enumerate(word):
            before[known[0], t, s] += prior
            for signals, chance in known[1].items():
                after[signals, t, s] += prior * float(chance)
    found = best_guess_in_zones(mechanism, 3, walks=1_000)
    of = mechanism.privacy.zones.of
    for zone, guess in found.items():
        time = sum(p for (_, _, s), p in before.items() if of(s) == zone)
        for known, value, error in ((before, guess.before, 0.04),
                                    (after, guess.after, 6 * guess.standard_error + 1e-9)):
            best = defaultdict(float)
            for (seen, t, s), p in known.items():
                best[seen, t, of(s)] = max(p, best[seen, t, of(s)])
            right = sum(p for (*_, z), p in best.items() if z == zone)
            assert value == pytest.approx(right / time, abs=error)
    assert {*found} == {of(s) for _, _, s in before}
    overall = best_guess(mechanism, 3, walks=1_000)
    assert min(g.after for g in found.values()) <= overall.after <= max(
        g.after for g in found.values()) + 1e-9


def test_zones_of_one_place_hide_nothing_and_others_do():
    chain, zones = ZONED['alone']
    mechanism = OnlineMechanism(chain, privacy_of(zones, 0.0), policy='adaptive')
    found = best_guess_in_zones(mechanism, 5, walks=200)
    assert found['A'].after == pytest.approx(1) and found['C'].after == pytest.approx(1)
    assert found['B'].before == pytest.approx(found['B'].after) and found['B'].after < 1


@pytest.mark.parametrize('reports', [1, 3])
def test_the_adversary_with_ticks_between_reports(reports):
    chain = grid(3).every(2, 1)
    zones = {'A': chain.states[:4], 'B': chain.states[4:]}
    mechanism = OnlineMechanism(chain, Privacy(3.0, zones=zones), policy='adaptive',
                                reports=reports)
    found = best_guess_in_zones(mechanism, 20, walks=20)
    for guess in found.values():
        assert 0 < guess.before <= guess.after + 3 * guess.standard_error < 1.2


def test_errors_of_the_mechanisms_with_zones():
    """At ε = 0 zones alone help; a rising ε does not hurt."""
    chain = grid(4)
    zones = {z: [s for s in chain.states if s[0] in z] for z in ('01', '23')}
    for make in (lambda p: OfflineMechanism(chain, p),
                 lambda p: OfflineMechanism(chain, p, selection='causal', policy='adaptive')):
        plain, zoned, better = (expected_accuracy(make(p), 30, walks=20).error for p in (
            Privacy(0.0), Privacy(0.0, zones=zones), Privacy(3.0, zones=zones)))
        assert better < zoned < plain
    mechanism = OfflineMechanism(chain, Privacy(1.0, zones=zones), selection='causal',
                                 policy='adaptive', reports=2)
    assert len(accuracy(mechanism, ['0,0', None, '3,3', '0,1']).per_position) == 4


def test_auto_takes_what_knows_zones():
    chain = grid(3)
    privacy = Privacy(2.0, zones={'A': chain.states[:4], 'B': chain.states[4:]})
    taken = choose(chain, privacy, MechanismSettings(), 15)
    assert choose(chain, privacy, MechanismSettings(selection='live')).policy == 'adaptive'
    assert taken.offline(chain, privacy).privatize(['0,0', '0,1'])


def test_visits_with_zones(monkeypatch):
    """At the same ε, zones err less than none; the adversary is told them."""
    monkeypatch.setattr('symdp_ros.analysis.visits._LEAST_TICKS', 100)
    chain = grid(4)
    graph = TransitionGraph({s: [*chain.successors(s)] for s in chain.states}, '0,0')
    zones = propose_zones(chain, 6)
    plain, zoned = (VisitCalibration(graph, protect=6.0, stay=10.0, walks=12, zones=z)
                    for z in (None, zones))
    for period in (1.0, 7.0):
        rows = [calibration.row(period, 1.0, delay=7.0) for calibration in (plain, zoned)]
        assert rows[1].live.mechanism == 'adaptive'
        assert rows[1].logged.mechanism in ('exponential', 'causal, adaptive')
        assert rows[1].live.wrong < rows[0].live.wrong
        assert rows[1].logged.wrong < rows[0].logged.wrong
        assert rows[1].live.moves_off < rows[0].live.moves_off
        assert rows[1].guess.after > rows[0].guess.after
        found = zoned.guesses_in_zones(rows[1])
        assert {*found} <= {*zones} and all(0 < g.after <= 1 for g in found.values())


def test_who_has_no_zones():
    mechanism = OnlineMechanism(TRAP, Privacy(1.0), policy='adaptive')
    with refused(ConfigurationError, setting='zones'):
        best_guess_in_zones(mechanism, 3)
    zoned = OfflineMechanism(TRAP, privacy_of(ZONED['trap'][1], 1.0))
    with refused(ConfigurationError, setting='zones'):
        smooth_with_constant_normaliser(zoned, ['b'])
    assert exp(zoned.log_probability(['c'], ['c'])) > exp(zoned.log_probability(['b'], ['c']))
