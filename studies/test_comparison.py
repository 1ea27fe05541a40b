# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
docs/evidence/comparison.md.

Its numbers come out again, and what they are made with is right.
"""
from itertools import product
import json
from math import exp
import sys

import numpy as np
import pytest
from scipy.optimize import linprog
from studies import common
from studies.compare import __main__ as command, areas, in_zones, location, matching, places, words
from studies.compare.adversary import by_channel
from studies.compare.floor import best_guess
from symdp_ros.core.chain import Chain
from symdp_ros.maps.graph import TransitionGraph

DOCS = common.DOCS / 'evidence'
NUMBERS = json.loads((DOCS / 'comparison.json').read_text(encoding='utf-8'))
needs_maps = pytest.mark.skipif(not common.DATA.is_dir(), reason='the maps are not there')
SMALL = Chain({'a': {'a': 0.5, 'b': 0.5}, 'b': {'a': 0.2, 'c': 0.8},
               'c': {'a': 0.3, 'b': 0.3, 'c': 0.4}}, 'a')
SQUARE = areas.Area('square', TransitionGraph(
    {'0': ['0', '1'], '1': ['1', '2'], '2': ['2', '3'], '3': ['3', '0']}, '0',
    positions={'0': (0.0, 0.0), '1': (2.0, 0.0), '2': (2.0, 1.0), '3': (0.0, 1.0)}))


def test_the_page_is_made_from_the_numbers():
    assert not NUMBERS['quick'] and [*NUMBERS['sections']] == [*command.SECTIONS]
    text = (DOCS / 'comparison.md').read_text(encoding='utf-8')
    assert text == command.page(NUMBERS)
    for figure in DOCS.glob('comparison-*.svg'):
        assert f']({figure.name})' in text


@needs_maps
@pytest.mark.parametrize('name, k, epsilon', [
    ('patrolling_sim/1r5.graph', 1, 2.0), ('nav2/route_sample_graph.geojson', 10, 8.0),
    (areas.SPARSE, 30, 0.5)])
def test_words_repeat(name, k, epsilon):
    found = NUMBERS['sections']['words']
    assert words.row(name, k, epsilon, found['walks']) in found['rows']


@needs_maps
def test_words_of_a_habit_repeat():
    found = NUMBERS['sections']['words']
    for right in (True, False):
        assert words.habit_row('patrolling_sim/1r5.graph', 2.0, right,
                               found['habit_walks']) in found['habits']


@needs_maps
def test_places_repeat():
    found = NUMBERS['sections']['places']
    for key in places.LABELS:
        walks = found['few'] if key == 'set' else found['walks']
        row = places.row('nav2/route_turtlebot3_graph.geojson', key, 3, walks)
        assert row in found['rows'], key


@needs_maps
def test_zones_repeat():
    found = NUMBERS['sections']['in_zones']
    for key in in_zones.LABELS:
        assert in_zones.row(found['maps'][1], key, 0, found['walks']) in found['rows']


def test_at_epsilon_0_zones_tell_what_the_zone_alone_tells():
    """Both adversaries are exact for each walk, and the walks are the same."""
    found = NUMBERS['sections']['in_zones']
    for name in found['maps']:
        rows = {row['mechanism']: row['found'] for row in found['rows']
                if row['map'] == name and row['epsilon'] == 0.0}
        assert rows['zones'][0] == pytest.approx(rows['alone'][0], abs=1e-3), name
        assert rows['alone'][-1] == 1.0


def test_no_live_mechanism_is_below_the_floor():
    """By more than the walks, which are a sample, allow."""
    for row in NUMBERS['sections']['words']['rows']:
        for key, mechanism in words.MECHANISMS.items():
            if mechanism.live:
                error, uncertainty = row['found'][key][:2]
                assert error > row['floor'] - 5 * uncertainty - 0.005, (row['map'], key)


def test_matched_routes_are_the_best():
    random = np.random.default_rng(4)
    seen = random.integers(0, 3, (20, 4), np.int32)
    routes = [route for route in product(range(3), repeat=4)
              if SMALL.is_feasible([SMALL.states[i] for i in route])]
    chances = {(s, t): p for s in SMALL.states for t, p in SMALL.probabilities(s).items()}

    def likely(route, word, match):
        names = ['a', *(SMALL.states[i] for i in route)]
        return match * sum(a == b for a, b in zip(route, word, strict=True)) + sum(
            np.log(chances[move]) for move in zip(names, names[1:], strict=False))

    for word, near, best in zip(seen, matching.nearest(SMALL, seen),
                                matching.likeliest(SMALL, seen, 1.5), strict=True):
        assert tuple(near) in routes and tuple(best) in routes
        assert (near != word).sum() == min((np.array(r) != word).sum() for r in routes)
        assert likely(best, word, 1.5) == pytest.approx(max(
            likely(r, word, 1.5) for r in routes))


def test_the_adversary_is_bayes():
    channel = matching.channel(3, 1.0)
    seen = np.array([[0, 2, 1]], np.int32)
    weights = np.zeros((3, 3))
    for route in product(range(3), repeat=3):
        names = ['a', *(SMALL.states[i] for i in route)]
        chance = np.prod([SMALL.probabilities(s).get(t, 0) * channel[i, o] for s, t, i, o in zip(
            names, names[1:], route, seen[0], strict=False)])
        weights[range(3), route] += chance
    weights /= weights.sum(axis=1, keepdims=True)
    assert by_channel(SMALL, channel, seen)[:, :, 0] == pytest.approx(weights)


def test_draws_follow_the_channel():
    """False alarms: 10⁻⁶ at most, by Hoeffding's inequality for each of 9 chances."""
    channel = matching.channel(3, 1.0)
    drawn = matching.draw(channel, np.repeat(np.arange(3, dtype=np.int32)[:, None], 10**5, 1),
                          np.random.default_rng(3))
    for row, chances in zip(drawn, channel, strict=True):
        assert np.bincount(row, minlength=3) / 10**5 == pytest.approx(chances, abs=0.0093)


def test_location_mechanisms_keep_what_they_promise():
    epsilon = 0.8
    graph = location.graph_exponential(SQUARE, epsilon)
    along = np.array([[0, 2, 3, 1], [2, 0, 1, 3], [3, 1, 0, 2], [1, 3, 2, 0]])
    ratios = np.log(graph[:, None] / graph[None]).max(axis=2)
    assert (ratios <= epsilon * along + 1e-9).all()
    laplace = location.planar_laplace(SQUARE, epsilon)
    assert SQUARE.metres is not None
    ratios = np.log(laplace[:, None] / laplace[None]).max(axis=2)
    assert (ratios <= epsilon * SQUARE.metres + 0.05).all()  # points in place of a density
    policy = location.policy(SQUARE, epsilon)
    steps = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    assert (np.log(policy[:, None] / policy[None]).max(axis=2) <= epsilon * steps + 0.05).all()
    held = location.location_set(SQUARE, np.array([0.6, 0.395, 0.0, 0.005]), epsilon)
    assert (held[:, 2:] == 0).all() and (held[0] == held[3]).all()
    assert abs(np.log(held[0, :2] / held[1, :2])).max() <= epsilon + 0.05


def test_noise_of_the_k_norm():
    """The norm of the noise is Gamma(2, 1/ε): its mean is 2/ε; on a line it is 1/ε."""
    corners = np.array([(1.0, 1.0), (1.0, -1.0)])  # K: the square, whose norm is the larger |x|
    noise = location.k_norm_noise(corners, 2.0)
    assert abs(noise).max(axis=1).mean() == pytest.approx(1, rel=0.01)
    assert noise.mean(axis=0) == pytest.approx(0, abs=0.02)
    line = location.k_norm_noise(np.array([(3.0, 4.0)]), 2.0)
    assert np.hypot(*line.T).mean() == pytest.approx(2.5, rel=0.01)


def test_the_floor_is_the_linear_program():
    random = np.random.default_rng(1)
    for states in (1, 2, 3, 5):
        for epsilon in (0.0, 0.3, 1.0, 3.0):
            prior = random.dirichlet(np.full(states, 0.7))
            q = np.arange(states * states).reshape(states, states)  # q[s, x]: the variable
            rows = []
            for x in range(states):
                for s in range(states):
                    for other in range(states):
                        row = np.zeros(states * states)
                        row[q[s, x]] += 1
                        row[q[other, x]] -= exp(epsilon)
                        rows.append(row)
            sums = np.zeros((states, states * states))
            for s in range(states):
                sums[s, q[s]] = 1
            gain = np.zeros(states * states)
            gain[q.diagonal()] = prior
            found = linprog(-gain, np.array(rows), np.zeros(len(rows)), sums, np.ones(states))
            assert best_guess(prior, epsilon) == pytest.approx(-found.fun, abs=1e-7)


def test_an_interrupted_run_is_resumed(monkeypatch, tmp_path):
    monkeypatch.setattr(common, 'ROOT', tmp_path)
    kept = tmp_path / 'build' / 'studies' / 'some' / 'part.jsonl'
    tasks = 'some', 'part', False, pow, [(2, 3), (2, 5)]
    assert common.measure_all(*tasks) == [8, 32]
    kept.write_text('[[2, 3], 7]\n[[2, 5], 3')  # the second line was cut off
    assert common.measure_all(*tasks) == [7, 32]
    assert sorted(map(json.loads, kept.read_text().splitlines())) == [[[2, 3], 7], [[2, 5], 32]]


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    """A section that is not asked for keeps what it had."""
    found, measured = NUMBERS['sections'], []

    def measure(name):
        measured.append(name)
        return found[name]

    monkeypatch.setattr(common, 'DATA', tmp_path)
    for name, section in command.SECTIONS.items():
        monkeypatch.setattr(section, 'measure', lambda quick, name=name: measure(name))
    monkeypatch.setattr(sys, 'argv', ['compare', str(tmp_path / 'out'), '--quick'])
    common.command('compare', command.main, quick=True, parts=[*command.SECTIONS])
    text = (tmp_path / 'out' / 'comparison.md').read_text()
    assert '**This is a small run' in text and measured == [*command.SECTIONS]
    measured.clear()
    monkeypatch.setattr(sys, 'argv', [*sys.argv, '--only', 'words'])
    common.command('compare', command.main, quick=True, parts=[*command.SECTIONS])
    assert measured == ['words']
    assert (tmp_path / 'out' / 'comparison.md').read_text() == text
