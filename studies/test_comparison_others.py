# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
docs/evidence/comparison.md: the sections that run the code of others.

Tested as far as that code is not needed.
"""
from collections import Counter
from math import log
from random import Random

import numpy as np
import pytest
from studies.common import Skipped
from studies.compare import outside_audit, trajectories


@pytest.mark.parametrize('section, variable', [(outside_audit, 'DP_SNIPER'),
                                               (trajectories, 'TRACS')])
def test_without_the_code_of_others_a_section_is_skipped(section, variable, monkeypatch, tmp_path):
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(Skipped, match=f'{variable} does not name a checkout'):
        section.measure(True)
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(Skipped, match=f'{variable} names holds no'):
        section.measure(True)


@pytest.mark.parametrize('name, audited', outside_audit.AUDITED.items())
def test_the_exact_losses_of_what_is_audited(name, audited):
    """Ours keep ε; the broken copies do not."""
    mechanism = audited.make()
    for word in (('s1', 's2', 's0'), ('s2', 's2', 's2')):
        assert sum(audited.law(mechanism, word).values()) == pytest.approx(1)
    loss, word, other = outside_audit.worst_pairs(name)[0]
    assert (loss > outside_audit.EPSILON + 1e-9) == audited.broken
    assert sum(s != t for s, t in zip(word, other, strict=True)) == 1


def test_the_broken_step_draws_as_its_law():
    """With a false-alarm probability below 1e-6: Hoeffding's bound, 16 outputs."""
    broken = outside_audit.AUDITED['broken: `step` draws again where it missed the truth']
    mechanism, word, draws = broken.make(), ('s3', 's2', 's0'), 4_000
    found = Counter(broken.draw(mechanism, word) for _ in range(draws))
    reach = np.sqrt(log(2 * 16 / 1e-6) / (2 * draws))
    for output, chance in broken.law(mechanism, word).items():
        assert abs(found[output] / draws - chance) <= reach


def test_outputs_are_indicators():
    audited = outside_audit.Sampler('`OnlineMechanism.step`, guided')
    drawn = audited.m(np.array([1.0, 2.0, 0.0]), 5)
    assert drawn.shape == (5, len(outside_audit.OUTPUTS)) and (drawn.sum(axis=1) == 1).all()


@pytest.mark.parametrize('bounds, text', [
    ((0.9, 1.2), 'Both broken copies are caught, and none of ours.'),
    ((1.1, 1.2), 'Not as expected: ours.'), ((0.9, 0.8), 'Not as expected: broken.')])
def test_the_verdict_of_the_audit(bounds, text):
    rows = [{'mechanism': name, 'broken': name == 'broken', 'bound': bound}
            for name, bound in zip(('ours', 'broken'), bounds, strict=True)]
    assert text in outside_audit.verdict({'epsilon': 1.0, 'rows': rows})


@pytest.fixture
def town(monkeypatch):
    """Places in two heaps, in place of the check-ins."""
    points = np.concatenate([np.random.default_rng(1).uniform(0, 0.2, (30, 2)),
                             np.random.default_rng(2).uniform(0.8, 1, (30, 2))])
    monkeypatch.setattr(trajectories, 'places', lambda: points)
    for after in (False, True):
        for function in (trajectories.successors, trajectories.chain, trajectories.ours):
            function.cache_clear()
        if not after:
            yield points


def test_the_map_of_nearest_places(town):
    moves = trajectories.successors()
    assert all(i in row for i, row in enumerate(moves))
    assert all(i in moves[j] for i, row in enumerate(moves) for j in row)
    assert min(map(len, moves)) > trajectories.NEIGHBOURS
    reached, frontier = {0}, [0]
    while frontier:
        new = {j for i in frontier for j in moves[i]} - reached
        reached |= new
        frontier = list(new)
    assert len(reached) == len(town)  # one link joins the heaps
    assert trajectories.allowed([0, moves[0][1], 0, 0]) == (3, 3)


@pytest.mark.parametrize('name', trajectories.OURS.values())
def test_our_private_words_among_places(town, name):
    word = [Random(7).randrange(len(town)) for _ in range(5)]
    private = trajectories.privatized(name, word, 100.0, 'seed')
    trajectories.ours.cache_clear()
    assert len(private) == 5 and private == trajectories.privatized(name, word, 100.0, 'seed')
    feasible, moves = trajectories.allowed(private)
    assert feasible == moves or name == 'complete'


def test_distances_are_in_degrees(town):
    low, high = np.array(trajectories._DEGREES).T
    apart = (town[0] - town[40]) * (high - low)
    assert trajectories.degrees_off([0, 1], [40, 1]) == pytest.approx(np.hypot(*apart) / 2)
    assert trajectories.nearest(town[[3, 50]] + 1e-9) == [3, 50]


def test_the_summary_of_trajectories():
    rows = [{'input': kind, 'mechanism': name, 'epsilon': per_place * trajectories.LENGTH,
             'off': 0.1 + 0.01 * i, 'deviation': 0.001}
            for kind in trajectories.INPUTS
            for i, name in enumerate(trajectories.LABELLED.values())
            for per_place in trajectories.PER_PLACE]
    said = '- On their check-ins: theirs at ε = 26, 52, 78, 104, 130.'
    assert said in trajectories.summary({'rows': rows})
    rows[0]['deviation'] = 0.04
    assert ': neither at ε = 26; theirs at ε = 52,' in trajectories.summary({'rows': rows})
