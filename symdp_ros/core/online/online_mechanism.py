# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The online mechanism: one private symbol for each sensitive one, as it comes."""
from symdp_ros.core.online.adaptive.causal_adaptive import CausalAdaptive
from symdp_ros.core.online.causal_law import Causal
from symdp_ros.core.online.steps import OnlineSteps


class OnlineMechanism(OnlineSteps):
    """
    Word ε-differentially private symbols, each a move that the chain allows.

    The private symbol o_t is drawn from μ(· | s_t, o_{t−1}) (paper, Algorithm 4): with N feasible
    states C(o_{t−1}), the target of s_t has probability τ = 1 / ((N−1)·e^{−ε/k} + 1), each other
    (1−τ)/(N−1), as close as integers come to it from the private side (`core.online.response`);
    where s_t has no target, each has 1/N.

    policy='guided' (the default): the target is s_t itself where it is feasible, and else the
    feasible state from which s_t can be reached in the fewest moves (`core.online.targets`).
    policy='paper': the target is s_t itself, where it is feasible; else there is none (Theorem 7).
    policy='adaptive': what is drawn is a signal about s_t: a cell of a partition of all states,
    which is fitted to the public belief. o_t is decoded from all signals so far, and from the
    `delay` later ones that are waited for: the feasible route of most expected matches
    (`core.online.adaptive`). `replay`, `advance` and `current_distribution` are then of signals,
    and the methods that take `previous` do not describe it.

    **Privacy.** Fix the previous private symbol o (adaptive: all signals so far). For any two
    sensitive symbols, the probability of one output differs by a factor of at most e^{ε/k}
    (`core.online.response`, Claim), whatever the targets are, as long as they are fixed by public
    data. P[o_1…o_n | w] is the product of μ(o_t | w_t, o_{t−1}); for adjacent words at most k
    factors differ: the ratio is at most e^ε. Changing j symbols costs at most j·ε/k. What adaptive
    publishes is computed from signals, of which the same holds.

    **Zones.** `privacy.zones`, with 'adaptive' alone: the zone of each symbol is told exactly, and
    of the others only those words are adjacent to a word that have its zones
    (`core.online.adaptive.in_zones`). `zone` is the one told last.

    A step takes O(1) time (adaptive: see there); the mechanism O(states + edges) memory, the table
    of targets apart. One mechanism draws one word at a time: use it from one thread, and `another`
    for each other word.

    :param chain: the public chain.
    :param privacy: ε and k.
    :param policy: 'guided', 'paper' or 'adaptive'.
    :param trust: from 0 to 1, the weight of the chain's P, where it names one; the rest goes to
        the models that need no knowledge (`core.models`); used by 'adaptive' and
        filters.
    :param delay: of 'adaptive' alone: how many symbols after its own each report leaves; None:
        all with `finish`.
    :param reports: ≥ 1, of 'adaptive' alone: how many reports there are for each symbol. One
        leaves with the `step` of a symbol, the others with `tick` after it.
    :param learn: 'own', of 'adaptive' alone: each word learns how the robot moves from its own
        signals (`core.online.adaptive.own_moves`; nothing on `Chain.complete`); or 'none'.
    :param random: an object with `getrandbits`, for tests; None: the operating system.
    :raises ChainError, PrivacyError: something else is passed as chain or privacy.
    :raises ConfigurationError: unknown policy, trust out of range; a delay, reports, moves to
        learn or zones with another policy; reports or zones on `Chain.complete`; a delay, or
        symbols of so many ticks, that take more than 4 GB of memory.
    """

    @property
    def law(self) -> Causal:
        """Return how likely its outputs are, for whole words (`core.law.Law`)."""
        return Causal(self) if self.tables is None else CausalAdaptive(self)
