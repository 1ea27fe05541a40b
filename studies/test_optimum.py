# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/evidence/optimum.md: its numbers come out again, and what they are made with is right."""
from fractions import Fraction
import json
from math import exp

import numpy as np
import pytest
from studies.common import DATA, DOCS
from studies.compare.floor import best_guess, bound
from studies.optimum import __main__ as command, maps, tiny
from studies.optimum.page import pick
from studies.optimum.program import above, Certificate, chain_of, Program, Unproved
from symdp_ros.core.online.response import exp_lower_bound

EVIDENCE = DOCS / 'evidence'
NUMBERS = json.loads((EVIDENCE / 'optimum.json').read_text(encoding='utf-8'))
SOLVED = NUMBERS['tiny']
needs_maps = pytest.mark.skipif(not DATA.is_dir(), reason='the maps are not there')


def test_everything_is_there():
    keys = 'chain', 'n', 'epsilon', 'k', 'in_a_row', 'delay'
    assert [tuple(row[key] for key in keys) for row in SOLVED] == tiny.TASKS


@pytest.mark.parametrize('task', [
    (tiny.TWO, 4, 0.5, 1, False, None), (tiny.THREE, 3, 2.0, 1, False, 0),
    (tiny.THREE, 3, 3.0, 1, False, 1), (tiny.ALIKE, 3, 3.0, 3, False, 0)])
def test_tiny_chains_repeat(task):
    assert json.loads(json.dumps(tiny.row(*task))) in SOLVED


@needs_maps
@pytest.mark.parametrize('task', [
    ('nav2/route_sample_graph.geojson', 3.0, 1), ('patrolling_sim/1r5.graph', 4.0, 10)])
def test_maps_repeat(task):
    assert json.loads(json.dumps(maps.row(*task))) in NUMBERS['maps']


def test_no_mechanism_beats_a_bound():
    for row in SOLVED:
        exact = 2e-5 if row['epsilon'] < 5 else 3e-4  # the solver's multipliers are less so
        assert row['optimum'] - exact <= row['proved'] <= row['optimum']
        assert min(row['found'].values()) >= row['proved']
        assert bound(chain_of(row['chain']), row['n'], row['epsilon'], row['k'],
                     row['delay']) <= row['optimum'] + 1e-5, row
    for row in NUMBERS['maps']:  # errors of walks are a sample
        for least, (key, error) in zip(row['bounds'], row['found'], strict=True):
            assert error >= least - 0.02, (row['map'], key)


def test_who_knows_or_may_more_errs_less():
    by = {task: row['optimum'] for task, row in zip(tiny.TASKS, SOLVED, strict=True)}
    for (*setting, in_a_row, delay), optimum in by.items():
        if delay == 0 and (*setting, in_a_row, 1) in by:
            later, whole = (by[*setting, in_a_row, d] for d in (1, None))
            assert whole <= later <= optimum
        if in_a_row and (*setting, False, delay) in by:
            assert optimum <= by[*setting, False, delay]


@pytest.mark.parametrize('name', [tiny.TWO, tiny.THREE])
@pytest.mark.parametrize('epsilon', [0.0, 1.0, 3.0])
def test_the_program_of_one_symbol_is_known(name, epsilon):
    chain = chain_of(name)
    prior = np.array([*chain.probabilities(chain.initial_state).values()])
    assert Program(name, 1, epsilon).optimum()[0] == pytest.approx(1 - best_guess(prior, epsilon))


@pytest.mark.parametrize('epsilon', [0.5, 2.0])
def test_the_program_reaches_the_floor_of_equal_moves(epsilon):
    least = bound(chain_of(tiny.ALIKE), 2, epsilon)
    assert Program(tiny.ALIKE, 2, epsilon).optimum()[0] == pytest.approx(least)


def test_the_floor_of_equal_spending_is_no_floor():
    row = pick(SOLVED, chain=tiny.ALIKE)
    assert bound(chain_of(tiny.ALIKE), 3, 1.0) > 0.42 > 0.36 > row['optimum']


def test_adjacent_words():
    few = Program(tiny.TWO, 3, 1.0, 2)
    near = {frozenset((few.words[i], few.words[j])) for group in few.groups
            for i in group for j in group if i != j}
    assert near == {frozenset((v, w)) for v in few.words for w in few.words
                    if 0 < sum(a != b for a, b in zip(v, w, strict=True)) <= 2}
    row = Program(tiny.TWO, 3, 1.0, 2, True)
    near = {frozenset((row.words[i], row.words[j])) for group in row.groups
            for i in group for j in group if i != j}
    assert frozenset((('a', 'a', 'a'), ('b', 'a', 'b'))) not in near and len(near) == 20


SMALL = Program(tiny.THREE, 3, 2.0, 1, False, 1)
FOUND = SMALL.optimum()


def broken(alpha, beta):
    """Return the certificate with something added to its largest multipliers."""
    parts = []
    for part, more in zip(FOUND[1], (alpha, beta), strict=True):
        part = part.copy()
        part[np.unravel_index(part.astype(float).argmax(), part.shape)] += Fraction(more)
        parts.append(part)
    return Certificate(*parts)


def test_a_certificate_proves_the_optimum_in_fractions():
    optimum, certificate = FOUND
    proved = SMALL.proved(certificate)
    assert isinstance(proved, Fraction) and optimum - 1e-8 < proved <= optimum + 1e-12
    other = SMALL.proved(Certificate(certificate.alpha * 0, certificate.beta * 0))
    assert other == 0  # without privacy, no error


@pytest.mark.parametrize('alpha, beta', [('-1/1000', 0), (0, '1/1000'), ('-2', 0), (0, '-2')])
def test_a_broken_certificate_is_refused(alpha, beta):
    with pytest.raises(Unproved):
        SMALL.proved(broken(alpha, beta))


def test_a_worse_certificate_proves_less():
    assert SMALL.proved(broken('1/50', 0)) < Fraction(FOUND[0]) - Fraction(1, 1000)


def test_a_certificate_of_another_program_proves_nothing_more():
    """That of whoever must not wait is no certificate for whoever may."""
    certificate = Program(tiny.THREE, 3, 2.0).optimum()[1]
    assert SMALL.proved(certificate) <= Fraction(FOUND[0]) + Fraction(1, 10**9)


def test_the_ratio_of_a_proof_is_not_too_small():
    for epsilon in (0.0, 0.1, 1.0, 5.0):
        lower = exp_lower_bound(Fraction(epsilon))
        assert lower <= above(epsilon) <= lower + Fraction(1, 10**11)
        assert float(above(epsilon)) == pytest.approx(exp(epsilon))


def test_the_bound_of_one_symbol():
    """At once, by hand: the symbols before are at a, and then at a or b."""
    chain = chain_of(tiny.TWO)
    stays = best_guess(np.array([0.9, 0.1]), 2.0)
    assert bound(chain, 2, 2.0) == pytest.approx(1 - stays)
    ends = np.array([0.9 * 0.9, 0.1 * 0.1]), np.array([0.9 * 0.1, 0.1 * 0.9])
    told = sum(best_guess(both, 2.0) for both in ends)  # by who waits for the next one
    assert bound(chain, 2, 2.0, delay=1) == pytest.approx(1 - (told + stays) / 2)


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(command, 'numbers', lambda: NUMBERS)
    command.main(tmp_path / 'optimum.md')
    for name in ('optimum.md', 'optimum.json', 'optimum.svg'):
        assert (tmp_path / name).read_bytes() == (EVIDENCE / name).read_bytes()
