# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/evidence/optimum.md: its numbers come out again, and what they are made with is right."""
from fractions import Fraction
from itertools import product
import json
from math import exp

import numpy as np
import pytest
from studies.common import DATA, DOCS
from studies.compare.areas import area
from studies.compare.floor import best_guess, bound
from studies.optimum import __main__ as command, maps, tiny, windows
from studies.optimum.page import pick
from studies.optimum.program import above, Certificate, chain_of, Program, Unproved
from studies.optimum.windows import Watch, watch_error
from symdp_ros.core.online.response import exp_lower_bound

EVIDENCE = DOCS / 'evidence'
NUMBERS = json.loads((EVIDENCE / 'optimum.json').read_text(encoding='utf-8'))
SOLVED = NUMBERS['tiny']
needs_maps = pytest.mark.skipif(not DATA.is_dir(), reason='the maps are not there')


def program_of(row, delay=0):
    """Return the program of a stored row, or with another delay."""
    return Program(row['chain'], row['n'], row['epsilon'], row['k'], row['in_a_row'], delay)


def test_everything_is_there():
    keys = 'chain', 'n', 'epsilon', 'k', 'in_a_row', 'delay'
    assert [tuple(row[key] for key in keys) for row in SOLVED] == tiny.TASKS


@pytest.mark.parametrize('task', [
    (tiny.TWO, 4, 0.5, 1, False, None), (tiny.THREE, 3, 2.0, 1, False, 0),
    (tiny.THREE, 3, 3.0, 1, False, 1), (tiny.ALIKE, 3, 3.0, 3, False, 0)])
def test_tiny_chains_repeat(task):
    assert json.loads(json.dumps(tiny.row(*task))) in SOLVED


def test_watching_repeats():
    row = pick(SOLVED, chain=tiny.TWO, epsilon=4.0, k=tiny.WINDOW, delay=None)
    watch = Watch(*row['watched'], tiny.WINDOW)
    error = watch_error(program_of(row, None), watch)
    assert error == pytest.approx(row['found']['watch'], abs=1e-5)


@needs_maps
def test_rates_repeat():
    row = pick(NUMBERS['rates'], map=windows.MAPS[1], stays=33, epsilon=5.0)
    found = windows.rates(area(row['map']).chain(33), windows.VISIT, 5.0)
    assert [*found[2:]] == row['watched'] and found[:2] == pytest.approx(row['rates'], abs=1e-4)


def test_what_both_tell_when_they_ask_the_same():
    """Two states: after one tick the clock asks which, and a watch of one tick, too."""
    chain = chain_of(tiny.TWO)
    clock, watch, span, width = windows.rates(chain, 1, 2.0)
    ratio = exp(2.0)
    said = np.array([0.9 * ratio + 0.1, 0.1 * ratio + 0.9]) / (ratio + 1)
    noise = np.array([ratio, 1]) / (ratio + 1)
    expected = -said @ np.log2(said) + noise @ np.log2(noise)
    assert (clock, watch) == pytest.approx((expected, expected)) and (span, width) == (1, 1)


@needs_maps
@pytest.mark.parametrize('task', [
    ('nav2/route_sample_graph.geojson', 3.0, 1), ('patrolling_sim/1r5.graph', 4.0, 10)])
def test_maps_repeat(task):
    assert json.loads(json.dumps(maps.row(*task))) in NUMBERS['maps']


def test_no_mechanism_beats_a_bound():
    for row in SOLVED:
        exact = 2e-5 if row['epsilon'] <= 4 else 3e-4  # the solver's multipliers are less so
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


def worst_ratio(length, states, watch, ratio):
    """
    Return the largest ratio of the chances of one word of answers, over all pairs of words.

    The words have some length and differ in w ticks in a row at most.
    """
    laws = {word: dict(watch.answers(word, states, ratio))
            for word in product(states, repeat=length)}
    worst = Fraction(1)
    for begin in range(max(1, length - watch.window + 1)):
        alike = {}
        for word, law in laws.items():
            rest = word[:begin] + word[begin + watch.window:]
            alike.setdefault(rest, []).append(law)
        for group in alike.values():
            for said in group[0]:
                chances = [law[said] for law in group]
                worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize('length, states', [(6, 'ab'), (4, 'abc')])
@pytest.mark.parametrize('window', [2, 3])
def test_watching_is_private_in_fractions(length, states, window):
    ratio = exp_lower_bound(Fraction(4))
    for span in (1, 2, 4):
        for first in (1, 2):
            assert worst_ratio(length, states, Watch(first, span, window), ratio) <= ratio
    assert worst_ratio(length, states, Watch(1, 1, window), ratio) == ratio


def test_answers_are_a_distribution():
    for word in ('aaba', 'bbbb'):
        chances = [chance for _, chance in Watch(1, 2, 2).answers(word, 'ab', Fraction(7))]
        assert sum(chances) == 1 and min(chances) > 0


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
