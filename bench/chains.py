# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The chains and words that the rows are measured on; what is random has a public seed."""
import numpy as np
from studies.paper.town import CHAIN_FILE
from symdp_ros.analysis.accuracy import patrols
from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_chain

PRIVACY = Privacy(2.0)
ALPHABET = tuple(f'region_{i}' for i in range(43))


def town() -> Chain:
    """Return an invented town: 43 streets, 211 moves."""
    return read_chain(CHAIN_FILE)


def random_chain(states: int, degree: int = 4, seed: int = 1) -> Chain:
    """Return a chain in which each state is followed by the next and `degree` − 1 random ones."""
    rng = np.random.default_rng(seed)
    ahead = np.sort(rng.integers(2, states, (states, degree - 1)), axis=1)
    while (repeated := (np.diff(ahead, axis=1) == 0).any(axis=1)).any():
        ahead[repeated] = np.sort(rng.integers(2, states, (repeated.sum(), degree - 1)), axis=1)
    successors = (np.arange(states)[:, None] + np.insert(ahead, 0, 1, axis=1)) % states
    names = [f's{i}' for i in range(states)]
    return Chain({name: [names[j] for j in row]
                  for name, row in zip(names, successors.tolist(), strict=True)}, names[0])


def grid(width: int, height: int) -> Chain:
    """Return a map-like chain: a grid with moves to the up to four neighbours, from its middle."""
    def name(x, y):
        return f'{x},{y}'

    moves = (1, 0), (-1, 0), (0, 1), (0, -1)
    return Chain({name(x, y): [name(x + a, y + b) for a, b in moves
                               if 0 <= x + a < width and 0 <= y + b < height]
                  for x in range(width) for y in range(height)}, name(width // 2, height // 2))


def with_staying(chain: Chain) -> Chain:
    """Return the chain in which every state can also follow itself."""
    return Chain({state: [state, *chain.successors(state)] for state in chain.states},
                 chain.initial_state)


def any_word(chain: Chain, length: int, seed: int = 2) -> list[str]:
    """Return a word of uniformly random states, feasible or not."""
    rng = np.random.default_rng(seed)
    return [chain.states[i] for i in rng.integers(0, len(chain), length)]


def walk(chain: Chain, length: int) -> list[str]:
    """Return a feasible word, each move uniformly random."""
    return patrols(chain, length, 1)[0]
