# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
docs/experiments: the exact numbers come out again, and the sampled ones agree with them.

False alarms: the sampled numbers are of seeds fixed once, so the test itself never varies; had it
drawn them anew, 10⁻⁶ would be the chance that any of them fails.
"""
import json
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from studies.paper import study, town
from studies.paper.page import page
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.chain import Chain
from symdp_ros.core.chain_file import read_chain_file
from symdp_ros.core.graph import structure

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs' / 'experiments'
NUMBERS = json.loads((DOCS / 'numbers.json').read_text(encoding='utf-8'))
CORRECT, ERRORS = NUMBERS['correct_transition'], NUMBERS['average_error']
EXACTLY = {'rel': 1e-8, 'abs': 1e-10}
FALSE_ALARM = 1e-6


def comparisons():
    correct = sum(len(chances['sampled']) for start in ('start', 'detour')
                  for chances in CORRECT[start].values())
    return correct + sum(len(errors['sampled']) for start in town.STARTS
                         for errors in ERRORS[start].values())


def bernstein(variance, most):
    """
    Return how far a mean of WORDS independent values may be from its expectation.

    P[|mean − E| ≥ x] ≤ 2·exp(−n·x²/(2·(variance + most·x/3))), values within `most` of E.
    """
    reach = log(2 * comparisons() / FALSE_ALARM) / study.WORDS
    return reach * most / 3 + sqrt((reach * most / 3)**2 + 2 * reach * variance)


def test_the_map_is_the_town_of_the_figures():
    graph = read_chain_file(town.CHAIN_FILE)
    assert graph.successors == town.moves()
    measured = structure(graph)
    assert (measured.states, measured.strong_components, measured.period) == (43, 1, 1)
    for street in town.STREETS:  # a turn is at one place
        meeting = [tuple(town.crossing(street, other)) for other in graph.successors[street][1:]]
        assert len(set(meeting)) == len(meeting)


def test_the_route_and_the_detour():
    chain = Chain.from_yaml(town.CHAIN_FILE)
    assert chain.initial_state == town.STARTS['start']
    assert len(town.ROUTE) == 14 and chain.is_feasible(town.ROUTE)
    assert len(chain.successors(town.STARTS['start'])) == 11
    assert town.STARTS['detour'] in chain.successors(town.STARTS['start'])
    assert town.ROUTE[0] not in chain.successors(town.STARTS['detour'])


@pytest.mark.parametrize('word', [town.ROUTE, ('High Street',) * 3,
                                  ('Mill Lane', 'High Street', 'Mill Lane', 'Mill Lane')])
def test_a_drive_has_a_piece_for_each_symbol(word):
    pieces = town.drive('High Street', word)
    assert [t for t, _ in pieces] == [*range(-1, len(word))]
    for (_, before), (_, after) in zip(pieces, pieces[1:], strict=False):
        assert before[-1] == pytest.approx(after[0])


def test_settings_are_those_of_the_file():
    assert NUMBERS['map'] == study.map_size()
    assert NUMBERS['words'] == study.WORDS
    assert NUMBERS['starts'] == town.STARTS
    assert NUMBERS['route'] == list(town.ROUTE)
    assert ERRORS['epsilon'] == {'exact': list(study.CURVE), 'sampled': list(study.SAMPLED)}


def test_private_routes_repeat_and_are_feasible():
    assert NUMBERS['private_routes'] == study.routes()
    chain = Chain.from_yaml(town.CHAIN_FILE)
    assert all(chain.is_feasible(word) for words in NUMBERS['private_routes'].values()
               for word in words.values())


@pytest.mark.parametrize('start', ['start', 'detour'])
@pytest.mark.parametrize('policy', study.POLICIES)
def test_correct_transitions(policy, start):
    found = CORRECT[start][policy]
    assert study.correct_exactly(policy, start) == pytest.approx(found['exact'], **EXACTLY)
    assert study.correct_sampled(policy, start) == found['sampled']
    for exact, sampled in zip(found['exact'], found['sampled'], strict=True):
        assert abs(sampled - exact) <= bernstein(exact * (1 - exact), 1)


def test_the_bound_with_most_moves():
    bound = CORRECT['bound_with_most_moves']
    assert study.correct_bound() == pytest.approx(bound, **EXACTLY)
    assert all(found['exact'][0] == pytest.approx(bound, abs=1e-6)
               for found in CORRECT['start'].values())
    assert all(found['exact'][0] == 0 for found in CORRECT['detour'].values())


@pytest.mark.parametrize('start', town.STARTS)
@pytest.mark.parametrize('name', study.MECHANISMS)
def test_average_errors(name, start):
    found = ERRORS[start][name]
    assert [study.error_exactly(name, epsilon, start) for epsilon in study.CURVE] \
        == pytest.approx(found['exact'], **EXACTLY)
    length = len(town.ROUTE)
    for epsilon, sampled in zip(study.SAMPLED, found['sampled'], strict=True):
        exact = accuracy(study.mechanism(name, epsilon, start), town.ROUTE)
        assert abs(sampled - exact.mean / length) <= bernstein(exact.variance / length**2, 1)


@pytest.mark.parametrize('name', study.POLICIES)
def test_average_errors_repeat(name):
    for epsilon, sampled in zip(study.SAMPLED, ERRORS['start'][name]['sampled'], strict=True):
        assert study.error_sampled(name, epsilon, 'start') == sampled


def test_permute_and_flip_errs_no_more():
    for start in town.STARTS:
        exponential, flip = (np.array(ERRORS[start][name]['exact'])
                             for name in ('exponential', 'permute_and_flip'))
        assert np.all(flip <= exponential + 1e-10)


def test_the_page_is_made_from_the_numbers():
    text = (DOCS / 'index.md').read_text(encoding='utf-8')
    assert text == page(NUMBERS)
    assert text.count('](') == 5
    for figure in ('town.svg', 'routes.svg', 'errors.svg'):
        assert f']({figure})' in text
        assert (DOCS / figure).read_text(encoding='utf-8').rstrip().endswith('</svg>')
