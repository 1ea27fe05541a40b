# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Causal release: an online mechanism over a whole word."""
from symdp_ros.core.annotations import RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy


def law(chain: Chain, privacy: Privacy, random: RandomBits | None, *, trust: float, policy: str,
        reports: int, learn: str, **_: object) -> Law:
    """Return the law of the selection 'causal': that of an online mechanism."""
    delay = None if policy == 'adaptive' else 0  # the whole word is there
    return OnlineMechanism(chain, privacy, policy=policy, trust=trust, delay=delay,
                           reports=reports, learn=learn, random=random).law
