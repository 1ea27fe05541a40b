# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops in C of the policy adaptive, handed what they are not made for: a mistake raises.

Nothing outside of an array is read or written: each array that they are really given is made
shorter, or of another type; and numbers that no caller gives.
"""
from random import Random

from block_checks import made, ROW, some_word, THREE
import numpy as np
import pytest
from strategies import grid
from symdp_ros.core.loops import loops
from symdp_ros.core.neighbours import edges_in_c, Neighbours

pytestmark = pytest.mark.skipif(loops is None, reason='installed without a compiler')

FUNCTIONS = ['add', 'largest', 'predict', 'backward', 'turn', 'block', 'choose', 'spread',
             'expected', 'expected_next', 'sweep']


def of(offsets, targets, models=1):
    """Return edges to two states; of so many models."""
    weights = np.ones((models, len(targets)))
    return edges_in_c(np.array(offsets), np.array(targets), weights, models)


def copied(argument):
    return argument.copy() if isinstance(argument, np.ndarray) else argument


@pytest.fixture
def given(monkeypatch):
    """Return of each function what it is given, with as many arrays as it ever has."""
    found, real = {}, {name: getattr(loops, name) for name in FUNCTIONS}

    def kept(name):
        def call(*arguments):
            least = found.get(name, (None,) * len(arguments))
            if sum(each is None for each in arguments) < sum(each is None for each in least):
                found[name] = [copied(argument) for argument in arguments]
            return real[name](*arguments)
        return call

    for name in FUNCTIONS:
        monkeypatch.setattr(loops, name, kept(name))
    Neighbours(*grid(3).csr(), grid(3).edge_probabilities()).sums(np.ones((9, 2)))
    for chain, zones, delay in ((ROW, {'A': 'abc', 'B': 'd'}, 3), (THREE, None, None),
                                (grid(3), None, 0)):
        made(chain, zones, 1.5, delay=delay, random=Random(1)).privatize(some_word(chain, 30, 1))
    loops.spread(of([0, 1, 2], [1, 0]), np.array([[0], [2]], np.uint16), 2, 1)  # rarely needed
    monkeypatch.undo()
    return found


@pytest.mark.parametrize('name', FUNCTIONS)
def test_a_mistake_in_python_raises(name, given):
    function, arguments = getattr(loops, name), given[name]
    function(*map(copied, arguments))
    for i, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray) and argument.size:
            for wrong in (np.ones(argument.shape, np.int8), argument.ravel()[:-1].copy()):
                with pytest.raises((TypeError, ValueError)):
                    function(*map(copied, arguments[:i]), wrong,
                             *map(copied, arguments[i + 1:]))


def test_numbers_that_no_caller_gives():
    none, pair, two = np.empty(0), np.ones((2, 1)), np.ones(2)
    there, alone, last = of([0, 1, 2], [1, 0]), of([0, 1, 2], [1, 0], 0), of([0, 0, 1], [1])
    for function, arguments in (
            (loops.Edges, (none.astype(np.int64), none.astype(np.int32), none, -1, 0, 2, 1)),
            # no model
            (loops.predict, (alone, alone, none, None, none, 0.99, None, None, 0, none, none, 0, 2,
                             1, 0)),
            (loops.backward, (alone, alone, none, None, None, None, 0, none, none, 0, 2, 1)),
            # a state from which no edge leads
            (loops.largest, (last, pair, pair, None, 0.0, 2, 1)),
            (loops.sweep, (there, last, two, two, 0.9, np.ones((2, 2)), np.ones((2, 2)), 2))):
        with pytest.raises(ValueError):
            function(*arguments)


def test_chances_that_are_no_numbers_are_in_no_place_of_their_own():
    states, most = 20, 12
    founders = np.empty((most, 1), np.int64)
    count = loops.choose(
        np.ones((states, states), np.float32), np.full((1, states), np.nan), None,
        np.zeros(1, np.int64), np.zeros((states, 1), np.int32), np.ones((4, most + 1)), False,
        founders, np.empty(1, np.int64), np.empty((states, 1), np.uint16), states, 1, 1, most)
    assert count == most and founders[:, 0].tolist() == [*range(most)]
