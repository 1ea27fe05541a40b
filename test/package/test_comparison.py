# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/comparison.md: its numbers come out again, and what they are made with is right."""
import json
from math import exp

import numpy as np
import pytest
from scipy.optimize import linprog
from studies.compare import __main__ as command, section
from studies.compare.floor import best_guess


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


def test_the_floor_of_equal_moves():
    for n in (1, 2, 5):
        assert best_guess(np.full(n, 1 / n), 2.0) == pytest.approx(exp(2) / (n - 1 + exp(2)))


def test_an_interrupted_run_is_resumed(monkeypatch, tmp_path):
    monkeypatch.setattr(section, 'ROOT', tmp_path)
    kept = tmp_path / 'build' / 'compare-quick' / 'some.jsonl'
    assert section.measure_all('some', True, pow, [(2, 3), (2, 5)]) == [8, 32]
    kept.write_text('[[2, 3], 7]\n[[2, 5], 3')  # the second line was cut off
    assert section.measure_all('some', True, pow, [(2, 3), (2, 5)]) == [7, 32]
    assert sorted(map(json.loads, kept.read_text().splitlines())) == [[[2, 3], 7], [[2, 5], 32]]


class Sections:
    """Two sections; one cannot be measured."""

    class good:
        TITLE = 'Good'

        @staticmethod
        def measure(quick):
            return {'error': 0.25}

        @staticmethod
        def page(found):
            return f'The error is {found["error"]}.'

    class bad:
        TITLE = 'Bad'

        @staticmethod
        def measure(quick):
            raise section.Skipped('the data is not there')


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(section, 'ROOT', tmp_path)
    monkeypatch.setattr(command, 'sections', lambda: {
        'good': Sections.good, 'bad': Sections.bad})
    command.main(tmp_path / 'out', quick=True)
    text = (tmp_path / 'out' / 'comparison.md').read_text()
    assert '## Good\n\nThe error is 0.25.' in text
    assert '## Bad\n\nNot measured in this run: the data is not there.' in text
    assert not (tmp_path / 'build' / 'compare-quick').exists()
