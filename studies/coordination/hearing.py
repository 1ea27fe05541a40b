# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What others hear of some robots, step by step, and what they can infer from it."""
from random import Random

import numpy as np
from symdp_ros.core.online import OnlineMechanism


class Hearing:
    """
    The private words of some robots, drawn together, and the beliefs that follow from them.

    The beliefs are those of `symdp_ros.analysis.belief.Filter`, computed for all words at once;
    of the policy 'adaptive' its `posterior`: with a delay, of where the robot was so long ago.

    :param mechanisms: one for each word: its chain begins where the robot does. All chains have
        the same states and probabilities.
    :param seed: public: these robots are simulated.
    """

    def __init__(self, mechanisms: list[OnlineMechanism], seed: int):
        self._chain = chain = mechanisms[0].chain
        self._words = [mechanism.another(random=Random(f'{seed} {i}'))
                       for i, mechanism in enumerate(mechanisms)]
        self._last = np.array([chain.state_index[word.previous] for word in self._words])
        self.beliefs = np.eye(len(chain))[self._last]
        self._draws_signals = mechanisms[0].tables is not None
        if not self._draws_signals:
            self._models = chain.models(mechanisms[0].trust)
            self._joint = np.stack([self._models.begin(state, len(chain))
                                    for state in self._last], axis=2)  # (models, states, words)
            self._likelihoods = likelihoods(mechanisms[0])

    def step(self, places: np.ndarray) -> np.ndarray:
        """
        Draw the next symbol of each word: positions of states, shape (words,).

        As long as a delay holds them back, they are where the robots began.
        """
        states, index = self._chain.states, self._chain.state_index
        outputs = [word.step(states[place])
                   for word, place in zip(self._words, places, strict=True)]
        if outputs[0] is None:
            return self._last
        heard = np.array([index[output] for output in outputs])
        if self._draws_signals:
            self.beliefs = np.array([word.posterior for word in self._words])
        else:
            self._joint = (self._models.forward(self._joint)
                           * self._likelihoods[self._last, heard].T)
            self._joint /= self._joint.sum(axis=(0, 1))
            self.beliefs = self._joint.sum(axis=0).T
        self._last = heard
        return heard


def likelihoods(mechanism: OnlineMechanism) -> np.ndarray:
    """Return μ(output | s, previous): shape (previous, outputs, states)."""
    chain = mechanism.chain
    return np.array([[mechanism.likelihood(output, previous) for output in chain.states]
                     for previous in chain.states])
