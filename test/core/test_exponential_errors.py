# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The passes that find where the exponential mechanism errs: words too wide."""
from itertools import product

import numpy as np
import pytest
from symdp_ros import Chain, OfflineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.models import counting_model
from symdp_ros.core.offline.exponential_errors import (_WidePasses, exponential_distances,
                                                       exponential_errors)
from symdp_ros.core.online.moments import forward

#: No route from s comes to u or v, or to l0…l29: no moves lead there.
APART = Chain({'s': ['s', 't'], 't': ['t'], 'u': ['u', 'v'], 'v': ['v', 'u'],
               **{f'l{i}': [f'l{i + 1}'] for i in range(29)}, 'l29': ['s']}, 's')
ASTRAY = {'in a part that is not reached': ['u'] * 60,
          'on a line to which no moves lead': [None] * 10 + [f'l{i}' for i in range(1, 30)]
          + ['s'] * 21}


def columns_of(chain, words):
    """Return words of one length as `core.law.Law.errors` has them: shape (n, words)."""
    index = chain.state_index
    return np.array([[index.get(s, len(chain)) for s in word] for word in words], np.int64).T


@pytest.mark.parametrize('astray, ratio, trust', [
    *product(ASTRAY.values(), [3.0, 2.0**40], [None, 0.8]),
    # In the middle, what follows s is worth about 10⁻³¹⁸ of what follows u.
    (['s'] * 106 + ['u'] * 106, 1000.3, None)])
def test_a_word_that_is_too_wide_beside_one_that_is_not(astray, ratio, trust):
    """Each has the errors that it has alone."""
    models = counting_model(*APART.csr()) if trust is None else APART.models(trust)
    columns = columns_of(APART, [astray, ['s', 't'] * (len(astray) // 2)])
    errors, variances = exponential_errors(APART, columns, ratio, models, True)
    wide = _WidePasses(APART, columns, ratio, models, None)
    expected = forward(columns, wide.moves(), wide.start, True)
    assert errors == pytest.approx(expected[0], rel=1e-12, abs=1e-13)
    assert variances == pytest.approx(expected[1], rel=1e-9, abs=1e-12)
    for some in (slice(0, 1), slice(1, 2)):
        alone = exponential_errors(APART, columns[:, some], ratio, models, True)
        assert errors[:, some] == pytest.approx(alone[0], rel=1e-12, abs=1e-13)
        assert variances[some] == pytest.approx(alone[1], rel=1e-9, abs=1e-12)
    chances = exponential_distances(APART, columns[:, :1], ratio, models)
    assert chances.sum() == pytest.approx(1, rel=1e-12)
    assert chances @ np.arange(len(chances)) == pytest.approx(errors[:, 0].sum(), rel=1e-12)


@pytest.mark.parametrize('stays, epsilon, word', [
    (0.0, 36.83, 'bbabb'), (0.0, 22.1, 'ababa'), (1e-9, 50.0, 'aabb'), (1 - 1e-9, 50.0, 'aaba')])
def test_an_alphabet_whose_robot_hardly_ever_stays_or_moves(stays, epsilon, word):
    """What others than the likeliest symbol are worth is not lost beside it."""
    mechanism = OfflineMechanism(Chain.complete(['a', 'b'], 'a', stays),
                                 Privacy(epsilon), trust=1.0)
    outputs = [*product('ab', repeat=len(word))]
    expected = sum(chance * sum(s != o for s, o in zip(word, output, strict=True))
                   for chance, output in zip(mechanism.law.exact_probabilities(
                       [*word], outputs), outputs, strict=True))
    assert accuracy(mechanism, [*word]).mean == pytest.approx(float(expected), abs=1e-12)
    chances = mechanism.distance_distribution([*word])
    assert chances @ np.arange(len(chances)) == pytest.approx(float(expected), rel=1e-12)
