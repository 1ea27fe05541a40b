# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/why-not.md: its numbers come out again, and its adversary is Bayes' rule."""
from itertools import product

import numpy as np
import pytest
from studies import why_not


def test_the_page_comes_out_again():
    assert (why_not.DOCS / 'why-not.md').read_text(encoding='utf-8') == why_not.page()


def test_the_adversary_knows_what_enumeration_knows():
    place = why_not.Clinic()
    random = np.random.default_rng(3)
    reached = np.flatnonzero(np.linalg.matrix_power(place.moves, 3)[place.start.argmax()])
    evidence = random.uniform(0.1, 1.0, (3, len(place.states)))
    chances = np.zeros_like(evidence)
    for word in product(reached, repeat=3):
        way = (place.start.argmax(), *word)
        chance = np.prod([place.moves[a, b] for a, b in zip(way[:-1], way[1:], strict=True)]
                         + [evidence[t, s] for t, s in enumerate(word)])
        chances[range(3), word] += chance
    found = place.posteriors(evidence)
    assert found / found.sum(axis=1, keepdims=True) == pytest.approx(
        chances / chances.sum(axis=1, keepdims=True))
