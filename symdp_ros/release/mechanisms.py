# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mechanism of a release: the one in the settings, or the one that errs least."""
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from symdp_ros.analysis.accuracy import compare_mechanisms
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import (CHOICES, loops, MOST_COUNTING_STEPS, MOST_SMOOTHED,
                                    OfflineMechanism)
from symdp_ros.core.policies import DEFAULT_BASE, DEFAULT_TRUST
from symdp_ros.core.privacy import Privacy
from symdp_ros.release.settings import Settings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

_Choice: TypeAlias = tuple[str, str, bool]  # selection, base, smooth

_JUDGED = 200  # symbols
_SHORT = 2     # symbols of a word that is drawn in preparation
_MOST_ONE_BY_ONE = 10**6  # symbols that are smoothed, one word after another


@lru_cache(maxsize=1000)
def compared(chain: Chain, privacy: Privacy, length: int, policy: str, symbols: int = 0,
             base: str = DEFAULT_BASE, trust: float = DEFAULT_TRUST) -> dict[str, float]:
    """
    Return the expected errors for a log of some length; first, what `mechanism: auto` takes.

    The one of least expected error (`analysis.accuracy.compare_mechanisms`), judged by words of
    up to 200 symbols: longer ones commonly err about as much per symbol, and would take long.

    :param length: of the longest word.
    :param symbols: in all words together, where there are several: mechanisms that count words,
        and smooth, are left out for archives so large that they would take long.
    :return: names of `core.offline.CHOICES` → expected error per symbol.
    """
    all_symbols = max(length, symbols)
    return compare_mechanisms(
        chain, privacy, min(length, _JUDGED), base=base, trust=trust, policy=policy, walks=20,
        counting=all_symbols * length * chain.edge_count <= MOST_COUNTING_STEPS,
        smooth=all_symbols <= _MOST_ONE_BY_ONE and length * len(chain) <= MOST_SMOOTHED)


class Mechanisms:
    """
    The mechanisms of releases under some settings, each made when it is first needed.

    :param random: for tests, an object with `getrandbits`.
    :param on_choice: called with a sentence when 'auto' first chooses a mechanism for words: which
        one, and the expected errors of all, from public data alone.
    :raises ConfigurationError: the settings name no mechanism that can be made.
    """

    def __init__(self, settings: Settings, random: 'RandomBits | None' = None,
                 on_choice: Callable[[str], None] = lambda text: None):
        self._settings, self._random, self._on_choice = settings, random, on_choice
        self._made: dict[_Choice, OfflineMechanism] = {}
        self._reported: set[str] = set()
        self._named = (None if settings.mechanism == 'auto' else
                       (settings.mechanism, settings.base, settings.smooth))
        if self._named is not None:
            self._of(*self._named)  # now, so that errors are found at the start

    @property
    def need_length(self) -> bool:
        """Return whether the choice, or whether words are too long, depends on their length."""
        if self._named is None:
            return True
        mechanism = self._of(*self._named)
        return mechanism.smooth or mechanism.law.counting_steps(_SHORT) > 0

    def for_length(self, length: int, symbols: int = 0) -> OfflineMechanism:
        """
        Return the mechanism for words of up to this length, with so many symbols in all.

        :raises ConfigurationError: they are too long for it.
        """
        mechanism = self._of(*(self._named or CHOICES[self._chosen(length, symbols)]))
        mechanism.check(length)
        return mechanism

    def prepare(self) -> None:
        """
        Draw a word of unknown symbols with each mechanism that may be chosen.

        This compiles and imports all that releases need, however short they are.
        """
        loops.use_compiled()
        if self._named is None:
            self._compared(_SHORT)
        for named in CHOICES.values() if self._named is None else (self._named,):
            self._of(*named).privatize([None] * _SHORT)

    def _compared(self, length: int, symbols: int = 0) -> dict[str, float]:
        settings = self._settings
        return compared(settings.chain, settings.privacy, length, settings.policy, symbols,
                        settings.base, settings.trust)

    def _chosen(self, length: int, symbols: int) -> str:
        errors = self._compared(length, symbols)
        name = next(iter(errors))
        if name not in self._reported:
            self._reported.add(name)
            shown = '; '.join(f'{other}: {error:.3f}' for other, error in errors.items())
            self._on_choice(f'auto takes "{name}" for {length} symbols. Expected share of wrong '
                            f'symbols: {shown}')
        return name

    def _of(self, selection: str, base: str, smooth: bool = False) -> OfflineMechanism:
        choice = selection, base, smooth
        if choice not in self._made:
            self._made[choice] = self._settings.mechanism_of(*choice, self._random)
        return self._made[choice]
