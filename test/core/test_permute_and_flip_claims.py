# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What docs/python.md says of permute-and-flip beside exponential, by enumeration."""
from itertools import product

import numpy as np
import pytest
from symdp_ros import Chain, OfflineMechanism, Privacy

SHUTTLE = Chain({'a': ['a', 'b'], 'b': ['c', 'a', 'b'], 'c': ['c', 'b']}, 'a')


def law(chain, epsilon, length, **how):
    """Return a function: word → ln P of each feasible word; and these."""
    mechanism = OfflineMechanism(chain, Privacy(epsilon), **how)
    words = [word for word in product(chain.states, repeat=length) if chain.is_feasible(word)]
    return lambda word: np.array([mechanism.log_probability(word, o) for o in words]), words


def errors(chain, epsilon, word, **how):
    logs, words = law(chain, epsilon, len(word), **how)
    return float(np.exp(logs(word)) @ [sum(map(str.__ne__, o, word)) for o in words])


@pytest.mark.parametrize('epsilon', [0.1, 1.0, 4.0])
def test_on_a_map_it_errs_no_more_than_counting(epsilon):
    """Base chain may err less than both: on a robot that stays."""
    for word in product('abc', repeat=4):
        assert (errors(SHUTTLE, epsilon, word, selection='permute_and_flip')
                <= errors(SHUTTLE, epsilon, word, base='counting') + 1e-9)
    stays = ['a'] * 4
    assert (errors(SHUTTLE, epsilon, stays, base='chain')
            < errors(SHUTTLE, epsilon, stays, selection='permute_and_flip'))


@pytest.mark.parametrize('states, longest', [('ab', 5), ('abc', 4)])
def test_where_all_follow_all_it_errs_more_and_leaves_a_part_of_epsilon(states, longest):
    chain, parts = Chain({s: list(states) for s in states}, states[0]), []
    for length, epsilon in product(range(1, longest + 1), (0.1, 1.0, 2.0, 4.0)):
        word = [states[0]] * length
        assert (errors(chain, epsilon, word, base='counting')
                < errors(chain, epsilon, word, selection='permute_and_flip'))
        for how, found in (({'selection': 'permute_and_flip'}, parts),
                           ({'base': 'counting'}, whole := [])):
            logs, _ = law(chain, epsilon, length, **how)
            here = logs(word)  # all positions are alike, and so are all words
            other = logs([*word[1:], states[1]])
            found.append(np.abs(here - other).max() / epsilon)
        assert whole == pytest.approx([1])
    assert 0.5 < min(parts) < max(parts) < 0.98
