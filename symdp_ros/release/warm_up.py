# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling loops ahead of their first use; they are kept on the disk."""
from collections.abc import Iterable

import numpy as np
from symdp_ros.analysis import choice
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.offline.passes import loops
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import CHOICES, COMPILED_POLICIES, DEFAULT_TRUST, LIVE

_RING = {'a': {'a': 0.9, 'b': 0.1}, 'b': {'b': 0.5, 'c': 0.5}, 'c': {'c': 0.2, 'a': 0.8}}
_WORD = ['a', 'b', None]
_WORDS = [0, 1, -1], [0, 2, 3]
_EPSILONS = 1.0, 30.0  # drawn from 30 and from 60 bits


def warm_up_policies(policies: Iterable[str]) -> None:
    """Compile what nodes with these policies run, and what 'auto' chooses by."""
    chain, privacy = Chain(_RING, 'a'), Privacy(1.0)
    for policy in policies:
        settings = MechanismSettings(LIVE, policy=policy)
        for each in settings.available().values():
            each.online(chain, privacy).privatize(_WORD)
        choice.choose(chain, privacy, settings, len(_WORD))


def warm_up() -> None:
    """Compile all loops of this package: for nodes, logs, archives and calibration."""
    loops.use_compiled()
    warm_up_policies(COMPILED_POLICIES)
    chains = Chain(_RING, 'a'), Chain.complete(tuple(_RING), 'a')
    zoned = Privacy(1.0, zones={'A': ['a', 'b'], 'B': ['c']})
    for law in (OnlineMechanism(chains[0], zoned, policy='adaptive').law,
                OfflineMechanism(chains[0], zoned).law):
        law.draw(_WORD)
        law.draw_many(np.array(_WORDS[0], np.int32), np.array(_WORDS[1]))
    for chain in chains:
        for epsilon in _EPSILONS:
            OnlineMechanism(chain, Privacy(epsilon)).privatize_many(*_WORDS)
        for policy in COMPILED_POLICIES:
            OnlineMechanism(chain, Privacy(1.0), policy=policy).privatize_many(*_WORDS)
        for made in CHOICES.values():
            for trust in (DEFAULT_TRUST, 1.0):  # with several models, and with one
                mechanism = OfflineMechanism(chain, Privacy(1.0), trust=trust, **made)
                mechanism.privatize(_WORD)
                mechanism.privatize_many(*_WORDS)
        choice.compare(chain, Privacy(1.0), MechanismSettings(), len(_WORD))
