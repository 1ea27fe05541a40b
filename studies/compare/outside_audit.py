# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
DP-Sniper, a black-box auditor by others, against the mechanisms and against broken copies.

DP-Sniper (B. Bichsel, S. Steffen, I. Bogunovic, M. Vechev, 2021) draws outputs for two adjacent
words, trains a classifier to tell them apart, and returns a lower bound of the privacy loss. Their
code is run as it is: DP_SNIPER names a checkout of github.com/eth-sri/dp-sniper, and the Python
that runs this needs torch, scikit-learn, mmh3, pandas and tensorboard.
"""
from collections.abc import Callable, Sequence
from itertools import product
from math import exp, inf, log
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from studies.common import measure_all, Skipped, table
from studies.tables import FOUR as CHAIN
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

LENGTH = 3
EPSILON = 1.0
CONFIDENCE = 0.999
PAIRS = 3  # of words that each mechanism is audited on
WORDS = list(product(CHAIN.states, repeat=LENGTH))
OUTPUTS = [word for word in WORDS if CHAIN.is_feasible(word)]

Mechanism = OnlineMechanism | OfflineMechanism
Word = tuple[str, ...]


def stepped(mechanism: OnlineMechanism, word: Sequence[str]) -> Word:
    """Return a private word, drawn symbol by symbol."""
    mechanism.reset()
    return tuple(map(mechanism.step, word))


def drawn_twice(mechanism: OnlineMechanism, word: Sequence[str]) -> Word:
    """Return a word that is not private: where a draw is not the truth, it is drawn again."""
    mechanism.reset()
    output = []
    for symbol in word:
        previous = mechanism.previous
        output.append(mechanism.step(symbol))
        if output[-1] != symbol:
            mechanism.reset(previous)
            output[-1] = mechanism.step(symbol)
    return tuple(output)


def privatized(mechanism: OfflineMechanism, word: Sequence[str]) -> Word:
    """Return a private word."""
    return tuple(mechanism.privatize(word))


def law(mechanism: Mechanism, word: Sequence[str]) -> dict[Word, float]:
    """Return how likely each private word is."""
    return {output: exp(mechanism.law.log_probability(word, output)) for output in OUTPUTS}


def law_twice(mechanism: OnlineMechanism, word: Sequence[str]) -> dict[Word, float]:
    """Return how likely each word is that is `drawn_twice`."""
    found = dict.fromkeys(OUTPUTS, 1.0)
    for output in OUTPUTS:
        for t, (symbol, said) in enumerate(zip(word, output, strict=True)):
            mechanism.replay(output[:t])
            once = mechanism.current_distribution(symbol)
            found[output] *= once[said] * ((said == symbol) + 1 - once.get(symbol, 0.0))
    return found


class Audited(NamedTuple):
    """What is audited: how it is made, drawn from and computed, how often it is drawn from."""

    make: Callable[[], Mechanism]
    draw: Callable[[Any, Sequence[str]], Word]
    law: Callable[[Any, Sequence[str]], dict[Word, float]]
    samples: dict[str, int]
    broken: bool


def _live() -> OnlineMechanism:
    return OnlineMechanism(CHAIN, Privacy(EPSILON), policy='guided')


_MANY = {'n_train': 20_000, 'n': 20_000, 'n_check': 40_000, 'n_final': 200_000}
_FEWER = {'n_train': 2_000, 'n': 2_000, 'n_check': 5_000, 'n_final': 30_000}
AUDITED = {
    '`OnlineMechanism.step`, guided': Audited(_live, stepped, law, _MANY, False),
    '`OfflineMechanism.privatize`, exponential': Audited(
        lambda: OfflineMechanism(CHAIN, Privacy(EPSILON)), privatized, law, _FEWER, False),
    'broken: `step` draws again where it missed the truth': Audited(
        _live, drawn_twice, law_twice, _MANY, True),
    'broken: `privatize` uses ε twice': Audited(
        lambda: OfflineMechanism(CHAIN, Privacy(2 * EPSILON)), privatized, law, _FEWER, True),
}


class Sampler:
    """A mechanism as DP-Sniper wants it: words as numbers, an indicator for each output."""

    def __init__(self, name: str):
        self.name = name

    def m(self, a: npt.NDArray[np.float64], n_samples: int = 1) -> npt.NDArray[np.float64]:
        """Return n_samples outputs for a word: float64, shape (n_samples, outputs)."""
        word = [CHAIN.states[int(number)] for number in a]
        mechanism, draw = AUDITED[self.name].make(), AUDITED[self.name].draw
        number = {output: i for i, output in enumerate(OUTPUTS)}
        drawn = [number[draw(mechanism, word)] for _ in range(n_samples)]
        return np.eye(len(OUTPUTS))[drawn]


class Pairs:
    """The pairs of words that DP-Sniper tries."""

    def __init__(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]):
        self.pairs = pairs

    def get_input_pairs(self) -> list[tuple[npt.NDArray[np.float64], ...]]:
        """Return the pairs, each word as numbers of states."""
        return [tuple(np.array([CHAIN.state_index[s] for s in word], float) for word in pair)
                for pair in self.pairs]


def worst_pairs(name: str) -> list[tuple[float, Word, Word]]:
    """Return the adjacent words with the largest exact loss, and that loss, largest first."""
    mechanism = AUDITED[name].make()
    laws = {word: AUDITED[name].law(mechanism, word) for word in WORDS}
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

    worst = worst_pairs(name)
    samples = {what: count // (10 if quick else 1)
               for what, count in AUDITED[name].samples.items()}
    config = DDConfig(**samples, n_processes=1, confidence=CONFIDENCE, training_batch_size=2_000)
    mechanism = Sampler(name)
    with TemporaryDirectory() as folder, initialize_dpsniper(config, folder, torch_threads=1):
        classifiers = LogisticRegressionFactory(in_dimensions=len(OUTPUTS),
                                                optimizer_factory=AdamOptimizerFactory())
        witness = DDSearch(mechanism, DPSniper(mechanism, classifiers, config),
                           Pairs([pair for _, *pair in worst]), config).run()
        witness.compute_eps_high_precision(mechanism, config)
    return {'mechanism': name, 'broken': AUDITED[name].broken, 'exact': worst[0][0],
            'found': witness.eps, 'bound': witness.lower_bound, 'samples': samples['n_final']}


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
            'rows': measure_all('compare', 'outside_audit', quick, audit, [
                                (name, quick) for name in AUDITED])}


def tabled(found: dict[str, Any]) -> str:
    """Return the table."""
    return table(['mechanism', 'exact loss', 'found', 'lower bound', 'samples', ''], [
        (row['mechanism'], f'{row["exact"]:.3f}', f'{row["found"]:.3f}', f'{row["bound"]:.3f}',
         f'{row["samples"]:,}', 'caught' if caught(row, found) else 'not caught')
        for row in found['rows']])


def verdict(found: dict[str, Any]) -> str:
    """Say whether the broken copies are caught, and they alone."""
    wrong = [row['mechanism'] for row in found['rows'] if caught(row, found) != row['broken']]
    return (f'**Not as expected: {"; ".join(wrong)}.**' if wrong else
            'Both broken copies are caught, and none of ours.')


def caught(row: dict[str, Any], found: dict[str, Any]) -> bool:
    """Return whether the bound is above the promised ε."""
    return bool(row['bound'] > found['epsilon'])
