# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiling loops ahead of their first use; they are kept on the disk."""
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
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
    """Compile what nodes with these policies run."""
    chain, privacy = Chain(_RING, 'a'), Privacy(1.0)
    for policy in policies:
        settings = MechanismSettings(LIVE, policy=policy)
        for each in settings.available().values():
            each.online(chain, privacy).privatize(_WORD)


def warm_up(backward: bool = False) -> None:
    """
    Compile all loops of this package: for nodes, logs, archives and calibration.

    Two processes that do so from both ends share the work: each waits for what the other compiles.
    """
    loops.use_compiled()
    steps = [*_steps()]
    for step in reversed(steps) if backward else steps:
        step()


def _steps() -> Iterator[Callable[[], object]]:
    """Yield what runs all loops."""
    yield lambda: warm_up_policies(COMPILED_POLICIES)
    chains = Chain(_RING, 'a'), Chain.complete(tuple(_RING), 'a')
    zoned = Privacy(1.0, zones={'A': ['a', 'b'], 'B': ['c']})
    yield lambda: _draw(OnlineMechanism(chains[0], zoned, policy='adaptive').law)
    yield lambda: _draw(OfflineMechanism(chains[0], zoned).law)
    for chain in chains:
        for epsilon in _EPSILONS:
            yield partial(_privatize, chain, Privacy(epsilon))
        for policy in COMPILED_POLICIES:
            yield partial(_privatize, chain, Privacy(1.0), policy=policy)
        for made in CHOICES.values():
            for trust in (DEFAULT_TRUST, 1.0):  # with several models, and with one
                yield partial(_release, chain, trust, made)


def _draw(law: Law) -> None:
    law.draw(_WORD)
    law.draw_many(np.array(_WORDS[0], np.int32), np.array(_WORDS[1]))


def _privatize(chain: Chain, privacy: Privacy, **options: Any) -> None:
    OnlineMechanism(chain, privacy, **options).privatize_many(*_WORDS)


def _release(chain: Chain, trust: float, made: dict[str, Any]) -> None:
    mechanism = OfflineMechanism(chain, Privacy(1.0), trust=trust, **made)
    mechanism.privatize(_WORD)
    mechanism.privatize_many(*_WORDS)
