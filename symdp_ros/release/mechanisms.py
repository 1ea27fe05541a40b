# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mechanism of a release: the one in the settings, or the one that errs least."""
from functools import lru_cache
from typing import TYPE_CHECKING

from symdp_ros.analysis.accuracy import best_mechanism
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import CHOICES, MOST_COUNTING_STEPS, OfflineMechanism
from symdp_ros.core.policies import DEFAULT_BASE, DEFAULT_TRUST
from symdp_ros.core.privacy import Privacy
from symdp_ros.release.settings import Settings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

_JUDGED = 200  # symbols
_SHORT = 2     # symbols of a word that is drawn in preparation


@lru_cache(maxsize=1000)
def chosen_mechanism(chain: Chain, privacy: Privacy, length: int, policy: str, symbols: int = 0,
                     base: str = DEFAULT_BASE, trust: float = DEFAULT_TRUST) -> str:
    """
    Return what `mechanism: auto` takes for a log of some length: a name of `core.offline.CHOICES`.

    The one of least expected error (`analysis.accuracy.best_mechanism`), judged by words of up to
    200 symbols: longer ones commonly err about as much per symbol, and would take long to judge.

    :param length: of the longest word.
    :param symbols: in all words together, where there are several: mechanisms that count words are
        left out for archives so large that they would take long.
    """
    counting = max(length, symbols) * length * chain.edge_count <= MOST_COUNTING_STEPS
    return best_mechanism(chain, privacy, min(length, _JUDGED), base=base, trust=trust,
                          policy=policy, walks=20, counting=counting)


class Mechanisms:
    """
    The mechanisms of releases under some settings, each made when it is first needed.

    :param random: for tests, an object with `getrandbits`.
    :raises ConfigurationError: the settings name no mechanism that can be made.
    """

    def __init__(self, settings: Settings, random: 'RandomBits | None' = None):
        self._settings, self._random = settings, random
        self._made: dict[tuple[str, str], OfflineMechanism] = {}
        self._named = (None if settings.mechanism == 'auto' else
                       (settings.mechanism, settings.base))
        if self._named is not None:
            self._of(*self._named)  # now, so that errors are found at the start

    @property
    def need_length(self) -> bool:
        """Return whether the choice, or whether words are too long, depends on their length."""
        return self._named is None or self._of(*self._named).law.counting_steps(_SHORT) > 0

    def for_length(self, length: int, symbols: int = 0) -> OfflineMechanism:
        """
        Return the mechanism for words of up to this length, with so many symbols in all.

        :raises ConfigurationError: they are too long for it.
        """
        settings = self._settings
        mechanism = self._of(*(self._named or CHOICES[chosen_mechanism(
            settings.chain, settings.privacy, length, settings.policy, symbols, settings.base,
            settings.trust)]))
        mechanism.check(length)
        return mechanism

    def prepare(self) -> None:
        """
        Draw a word of unknown symbols with each mechanism that may be chosen.

        This compiles and imports all that releases need.
        """
        self.for_length(_SHORT)
        for named in CHOICES.values() if self._named is None else (self._named,):
            self._of(*named).privatize([None] * _SHORT)

    def _of(self, selection: str, base: str) -> OfflineMechanism:
        if (selection, base) not in self._made:
            self._made[selection, base] = self._settings.mechanism_of(selection, base,
                                                                      self._random)
        return self._made[selection, base]
