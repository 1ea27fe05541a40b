# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Real maps: a bound by one symbol's channel, beside what our mechanisms reach."""
import json
from typing import Any

from studies.common import DOCS
from studies.compare import areas, words
from studies.compare.floor import bound
from symdp_ros.analysis.accuracy import average_accuracy, patrols
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

LENGTH, WALKS, DELAY = 50, 100, 3
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
STORED = DOCS / 'evidence' / 'comparison.json'
#: Of `words.MECHANISMS`: what the package has live, and for a log; what waits is 'delayed'.
LIVE = ('paper', 'guided', 'adaptive')
LOGS = ('counting', 'guided', 'decoded', 'chain')


def row(name: str, epsilon: float, k: int) -> dict[str, Any]:
    """Return bounds and errors, live, later and on logs, on one map of `areas.names`."""
    chain, length = areas.area(name).chain(k), words.LENGTHS[k]
    found = stored(name, epsilon, k) or measured(chain, length, epsilon)
    bounds = [bound(chain, length, epsilon, k, delay) for delay in (0, DELAY, None)]
    return {'map': name, 'epsilon': epsilon, 'k': k, 'bounds': [round(b, 4) for b in bounds],
            'found': [[key, found[key]] for key in (
                min(LIVE, key=lambda key: found.get(key, 1.0)), 'delayed',
                min(LOGS, key=lambda key: found.get(key, 1.0)))]}


def stored(name: str, epsilon: float, k: int) -> dict[str, float] | None:
    """Return the errors that docs/evidence/comparison.json has, or None."""
    rows = json.loads(STORED.read_text(encoding='utf-8'))['sections']['words']['rows']
    for found in rows:
        if (found['map'], found['epsilon'], found['k']) == (name, epsilon, k):
            return {key: numbers[words.ERROR] for key, numbers in found['found'].items()}
    return None


def measured(chain: Chain, length: int, epsilon: float) -> dict[str, float]:
    """Return the same errors, at k = 1."""
    privacy, walks = Privacy(epsilon), patrols(chain, length, WALKS)
    made: dict[str, OnlineMechanism | OfflineMechanism] = {
        **{policy: OnlineMechanism(chain, privacy, policy=policy)
           for policy in ('paper', 'guided')},
        **{key: OnlineMechanism(chain, privacy, policy='adaptive', delay=delay)
           for key, delay in (('adaptive', 0), ('delayed', DELAY), ('decoded', None))},
        'counting': OfflineMechanism(chain, privacy, base='counting'),
        'chain': OfflineMechanism(chain, privacy)}
    return {key: round(average_accuracy(mechanism, walks).error, 4)
            for key, mechanism in made.items()}


def tasks() -> list[tuple[str, float, int]]:
    """Return what is computed: every map, and every ε that is measured for its k."""
    return [(name, epsilon, k) for k in words.LENGTHS
            for epsilon in (EPSILONS if k == 1 else words.EPSILONS) for name in areas.names()]
