# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which mechanism serves a release: what the settings name, or what errs least for its length."""
from functools import lru_cache

from symdp_ros.analysis.accuracy import best_mechanism
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import MOST_COUNTING_STEPS, OfflineMechanism, SELECTIONS
from symdp_ros.core.privacy import Privacy

_JUDGED = 200  # symbols
_SHORT = 2     # symbols of a word that is drawn for nobody


@lru_cache(maxsize=1000)
def chosen_selection(chain: Chain, privacy: Privacy, length: int, policy: str,
                     symbols: int = 0) -> str:
    """
    Return the selection that `mechanism: auto` takes for a log of some length.

    The one of least expected error (`analysis.accuracy.best_mechanism`), judged by words of up to
    200 symbols: longer ones commonly err about as much per symbol, and would take long to judge.

    :param length: of the longest word.
    :param symbols: in all words together, where there are several: for archives so large that
        permute-and-flip would take long, it is not considered.
    """
    counting = max(length, symbols) * length * chain.edge_count <= MOST_COUNTING_STEPS
    return best_mechanism(chain, privacy, min(length, _JUDGED), policy=policy, walks=20,
                          counting=counting)


class Mechanisms:
    """
    The mechanisms that releases under some settings draw with, each made when it is first needed.

    :param settings: a `ReleaseSettings` or an `ArchiveSettings`.
    :param random: for tests, an object with `getrandbits`.
    :raises ConfigurationError: the settings name no mechanism that can be made.
    """

    def __init__(self, settings, random=None):
        self._settings, self._random, self._made = settings, random, {}
        if settings.mechanism != 'auto':
            self._of(settings.mechanism)  # tried now, so that what is wrong is said at the start

    def for_length(self, length: int, symbols: int = 0) -> OfflineMechanism:
        """
        Return the mechanism for words of up to this length, so many symbols in all.

        :raises ConfigurationError: they are too long for it.
        """
        settings, selection = self._settings, self._settings.mechanism
        if selection == 'auto':
            selection = chosen_selection(settings.chain, settings.privacy, length,
                                         settings.policy, symbols)
        mechanism = self._of(selection)
        mechanism.check(length)
        return mechanism

    def prepare(self) -> None:
        """
        Draw a word of unknown symbols with each mechanism that may be chosen.

        Afterwards nothing that releases need has to be compiled, or read, any more.
        """
        chosen = self._settings.mechanism
        if chosen == 'auto':
            self.for_length(_SHORT)
        for selection in SELECTIONS if chosen == 'auto' else (chosen,):
            self._of(selection).privatize([None] * _SHORT)

    def _of(self, selection):
        if selection not in self._made:
            self._made[selection] = self._settings.mechanism_of(selection, self._random)
        return self._made[selection]
