# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
DP-Sniper, a black-box auditor by others, against the mechanisms and against broken copies.

DP-Sniper (B. Bichsel, S. Steffen, I. Bogunovic, M. Vechev, 2021) draws outputs for two adjacent
words, trains a classifier to tell them apart, and returns a lower bound of the privacy loss. Their
code is run as it is: DP_SNIPER names a checkout of github.com/eth-sri/dp-sniper, and the Python
that runs this needs torch, scikit-learn, mmh3, pandas and tensorboard.
"""
from collections.abc import Sequence
from itertools import product
from math import exp, inf, log
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from studies.compare.section import measure_all, Skipped, table, template
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

TITLE = 'An audit from outside'
CHAIN = Chain({'s0': ['s1', 's2', 's3'], 's1': ['s1', 's2'], 's2': ['s0'],
               's3': ['s3', 's0', 's1', 's2']}, 's0')
LENGTH = 3
EPSILON = 1.0
CONFIDENCE = 0.999
PAIRS = 3  # of words that each mechanism is audited on
WORDS = list(product(CHAIN.states, repeat=LENGTH))
OUTPUTS = [word for word in WORDS if CHAIN.is_feasible(word)]

Law = dict[tuple[str, ...], float]


class Online:
    """Words that `OnlineMechanism.step` draws symbol by symbol."""

    samples = {'n_train': 20_000, 'n': 20_000, 'n_check': 40_000, 'n_final': 200_000}

    def __init__(self, policy: str):
        self.mechanism = OnlineMechanism(CHAIN, Privacy(EPSILON), policy=policy)

    def draw(self, word: Sequence[str]) -> tuple[str, ...]:
        """Return a private word."""
        self.mechanism.reset()
        return tuple(map(self.step, word))

    def step(self, symbol: str) -> str:
        """Return the next private symbol."""
        return self.mechanism.step(symbol)

    def chances(self, symbol: str) -> dict[str, float]:
        """Return how likely each next private symbol is."""
        return self.mechanism.current_distribution(symbol)

    def law(self, word: Sequence[str]) -> Law:
        """Return how likely each private word is."""
        found = {}
        for output in OUTPUTS:
            chance = 1.0
            for t, symbol in enumerate(word):
                if not chance:
                    break
                self.mechanism.replay(output[:t])
                chance *= self.chances(symbol).get(output[t], 0.0)
            found[output] = chance
        return found


class DrawnTwice(Online):
    """Broken: where the first draw is not the true symbol, it draws once more."""

    def step(self, symbol: str) -> str:
        """Return the next symbol, which is not private."""
        previous = self.mechanism.previous
        first = self.mechanism.step(symbol)
        if first == symbol:
            return first
        self.mechanism.reset(previous)
        return self.mechanism.step(symbol)

    def chances(self, symbol: str) -> dict[str, float]:
        """Return how likely each next symbol is."""
        once = self.mechanism.current_distribution(symbol)
        missed = 1 - once.get(symbol, 0.0)
        return {s: chance * ((s == symbol) + missed) for s, chance in once.items()}


class Offline:
    """Words of `OfflineMechanism.privatize`."""

    samples = {'n_train': 2_000, 'n': 2_000, 'n_check': 5_000, 'n_final': 30_000}

    def __init__(self, selection: str, epsilon: float = EPSILON):
        self.mechanism = OfflineMechanism(CHAIN, Privacy(epsilon), selection=selection)

    def draw(self, word: Sequence[str]) -> tuple[str, ...]:
        """Return a private word."""
        return tuple(self.mechanism.privatize(word))

    def law(self, word: Sequence[str]) -> Law:
        """Return how likely each private word is."""
        return {o: exp(self.mechanism.log_probability(word, o)) for o in OUTPUTS}


AUDITED = {  # name: (class, its arguments, whether it is broken)
    '`OnlineMechanism.step`, guided': (Online, ('guided',), False),
    '`OfflineMechanism.privatize`, exponential': (Offline, ('exponential',), False),
    'broken: `step` draws again where it missed the truth': (DrawnTwice, ('guided',), True),
    'broken: `privatize` uses ε twice': (Offline, ('exponential', 2 * EPSILON), True),
}


class Audited:
    """A mechanism as DP-Sniper wants it: words as numbers, an indicator for each output."""

    def __init__(self, name: str):
        self.name = name
        self.mechanism: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {'name': self.name, 'mechanism': None}

    def m(self, a: npt.NDArray[np.float64], n_samples: int = 1) -> npt.NDArray[np.float64]:
        """Return n_samples outputs for a word: float64, shape (n_samples, outputs)."""
        if self.mechanism is None:  # it is not sent to other processes
            kind, arguments, _ = AUDITED[self.name]
            self.mechanism = kind(*arguments)
        word = [CHAIN.states[int(number)] for number in a]
        number = {output: i for i, output in enumerate(OUTPUTS)}
        drawn = [number[self.mechanism.draw(word)] for _ in range(n_samples)]
        return np.eye(len(OUTPUTS))[drawn]


class Pairs:
    """The pairs of words that DP-Sniper tries."""

    def __init__(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]):
        self.pairs = pairs

    def get_input_pairs(self) -> list[tuple[npt.NDArray[np.float64], ...]]:
        """Return the pairs, each word as numbers of states."""
        return [tuple(np.array([CHAIN.state_index[s] for s in word], float) for word in pair)
                for pair in self.pairs]


def worst_pairs(name: str) -> list[tuple[float, tuple[str, ...], tuple[str, ...]]]:
    """Return the adjacent words with the largest exact loss, and that loss, largest first."""
    kind, arguments, _ = AUDITED[name]
    mechanism = kind(*arguments)
    laws = {word: mechanism.law(word) for word in WORDS}
    losses = [(max(_loss(laws[v][o], laws[w][o]) for o in OUTPUTS), v, w)
              for v in WORDS for w in WORDS
              if sum(s != t for s, t in zip(v, w, strict=True)) == 1]
    return sorted(losses, reverse=True)[:PAIRS]


def _loss(chance: float, other: float) -> float:
    return -inf if chance == 0 else inf if other == 0 else log(chance / other)


def audit(name: str, quick: bool) -> dict[str, Any]:
    """Return what DP-Sniper finds, beside the exact loss."""
    from dpsniper.attack.dpsniper import DPSniper
    from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory
    from dpsniper.classifiers.torch_optimizer_factory import AdamOptimizerFactory
    from dpsniper.search.ddconfig import DDConfig
    from dpsniper.search.ddsearch import DDSearch
    from dpsniper.utils.initialization import initialize_dpsniper

    kind, _, broken = AUDITED[name]
    worst = worst_pairs(name)
    samples = {what: count // (10 if quick else 1) for what, count in kind.samples.items()}
    config = DDConfig(**samples, n_processes=1, confidence=CONFIDENCE, training_batch_size=2_000)
    mechanism = Audited(name)
    with TemporaryDirectory() as folder, initialize_dpsniper(config, folder, torch_threads=1):
        classifiers = LogisticRegressionFactory(in_dimensions=len(OUTPUTS),
                                                optimizer_factory=AdamOptimizerFactory())
        witness = DDSearch(mechanism, DPSniper(mechanism, classifiers, config),
                           Pairs([pair for _, *pair in worst]), config).run()
        witness.compute_eps_high_precision(mechanism, config)
    return {'mechanism': name, 'broken': broken, 'exact': worst[0][0], 'found': witness.eps,
            'bound': witness.lower_bound, 'samples': samples['n_final']}


def measure(quick: bool) -> dict[str, Any]:
    """Return a row for each mechanism."""
    folder = os.environ.get('DP_SNIPER')
    if not folder:
        raise Skipped('DP_SNIPER does not name a checkout of DP-Sniper')
    if not (Path(folder) / 'dpsniper').is_dir():
        raise Skipped('the folder that DP_SNIPER names holds no DP-Sniper')
    sys.path.append(folder)
    try:
        import dpsniper.search.ddsearch  # noqa: F401
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise Skipped(f'DP-Sniper needs {error.name}, which is not installed') from None
    return {'epsilon': EPSILON, 'confidence': CONFIDENCE, 'pairs': PAIRS, 'length': LENGTH,
            'rows': measure_all('outside_audit', quick, audit,
                                [(name, quick) for name in AUDITED])}


def page(found: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    rows = [(row['mechanism'], f'{row["exact"]:.3f}', f'{row["found"]:.3f}',
             f'{row["bound"]:.3f}', f'{row["samples"]:,}',
             'caught' if caught(row, found) else 'not caught') for row in found['rows']]
    wrong = [row['mechanism'] for row in found['rows'] if caught(row, found) != row['broken']]
    verdict = (f'**Not as expected: {"; ".join(wrong)}.**' if wrong else
               'Both broken copies are caught, and none of ours.')
    head = ['mechanism', 'exact loss', 'found', 'lower bound', 'samples', '']
    return template(__file__).format(**{**found, 'rows': table(head, rows)}, verdict=verdict)


def caught(row: dict[str, Any], found: dict[str, Any]) -> bool:
    """Return whether the bound is above the promised ε."""
    return bool(row['bound'] > found['epsilon'])
