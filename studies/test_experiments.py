# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
docs/evidence/experiments: the exact numbers come out again, and the sampled ones agree with them.

False alarms: the sampled numbers are of seeds fixed once, so the test itself never varies; had it
drawn them anew, 10⁻⁶ would be the chance that any of them fails.
"""
import json
from math import exp, log, sqrt
from pathlib import Path
import re

import numpy as np
import pytest
from studies.paper import study, town
from studies.paper.page import page
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.graph import structure

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / 'docs' / 'evidence' / 'experiments'
NUMBERS = json.loads((DOCS / 'numbers.json').read_text(encoding='utf-8'))
CORRECT, ERRORS = NUMBERS['correct_transition'], NUMBERS['average_error']
EXACTLY = {'rel': 1e-8, 'abs': 2e-9}
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
    graph = read_graph(town.SPARSE_FILE)
    assert graph.successors == town.moves()
    measured = structure(graph)
    assert (measured.states, measured.strong_components, measured.period) == (43, 1, 1)


def test_the_route_and_the_detour():
    chain = read_chain(town.SPARSE_FILE)
    assert chain.initial_state == town.STARTS['start']
    assert len(town.ROUTE) == 14 and chain.is_feasible(town.ROUTE)
    assert [len(chain.successors(street)) for street in (chain.initial_state, *town.ROUTE[:4])] \
        == [2, 5, 3, 2, 3]
    assert len(chain.successors(town.STARTS['detour'])) == 4
    assert town.ROUTE[0] not in chain.successors(town.STARTS['detour'])


def test_settings_are_those_of_the_file():
    assert NUMBERS['map'] == study.map_size()
    assert NUMBERS['words'] == study.WORDS
    assert NUMBERS['starts'] == town.STARTS
    assert NUMBERS['route'] == list(town.ROUTE)
    assert ERRORS['epsilon'] == {'exact': list(study.CURVE), 'sampled': list(study.SAMPLED)}


def test_private_routes_repeat_and_are_feasible():
    assert NUMBERS['private_routes'] == study.routes()
    chain = read_chain(town.SPARSE_FILE)
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


def test_the_papers_table_1_comes_out():
    """Digit by digit, but for the rotation of its first column."""
    start, detour = ([f'{chance:.3f}' for chance in CORRECT[name]['paper']['exact']]
                     for name in ('start', 'detour'))
    assert start == '0.993 0.967 0.954 0.948 0.935'.split()
    assert detour == '0.000 0.245 0.242 0.240 0.237'.split()
    degrees = [2, 5, 3, 2, 3]
    assert np.cumprod([1 / ((n - 1) * exp(-5) + 1) for n in degrees]) == pytest.approx(
        CORRECT['start']['paper']['exact'], abs=5e-4)


def test_what_the_page_says_of_our_policy():
    assert CORRECT['start']['guided']['exact'] == pytest.approx(
        CORRECT['start']['paper']['exact'], abs=1e-3)
    assert CORRECT['detour']['guided']['exact'][1] > 0.9
    at_5 = {start: {policy: ERRORS[start][policy]['exact'][ERRORS['epsilon']['exact'].index(5.0)]
                    for policy in study.POLICIES} for start in town.STARTS}
    assert at_5['far away']['guided'] > 13 and at_5['far away']['paper'] < 12


@pytest.mark.parametrize('start', town.STARTS)
@pytest.mark.parametrize('name', study.MECHANISMS)
def test_average_errors(name, start):
    found = ERRORS[start][name]
    assert [study.error_exactly(name, epsilon, start) for epsilon in study.CURVE] \
        == pytest.approx(found['exact'], **EXACTLY)
    for epsilon, sampled in zip(study.SAMPLED, found['sampled'], strict=True):
        exact = accuracy(study.mechanism(name, epsilon, start), town.ROUTE)
        assert abs(sampled - exact.mean) <= bernstein(exact.variance, len(town.ROUTE))


@pytest.mark.parametrize('name', study.POLICIES)
def test_average_errors_repeat(name):
    for epsilon, sampled in zip(study.SAMPLED, ERRORS['start'][name]['sampled'], strict=True):
        assert study.error_sampled(name, epsilon, 'start') == sampled


def test_the_page_is_made_from_the_numbers():
    text = (DOCS / 'index.md').read_text(encoding='utf-8')
    assert text == page(NUMBERS)
    figures = {*re.findall(r'\]\((\w+\.svg)\)', text)}
    assert figures == {figure.name for figure in DOCS.glob('*.svg')}
