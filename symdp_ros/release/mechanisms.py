# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mechanism of a release: the one in the settings, or the one that errs least."""
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from symdp_ros.analysis.accuracy import compare_mechanisms
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import MOST_COUNTING_STEPS
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.offline.passes import loops
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import CHOICES, DEFAULT_BASE
from symdp_ros.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

_JUDGED = 200  # symbols
_SHORT = 2     # symbols of a word that is drawn in preparation


@lru_cache(maxsize=1000)
def compared(chain: Chain, privacy: Privacy, length: int, settings: MechanismSettings,
             symbols: int = 0) -> dict[str, float]:
    """
    Return the expected errors for a log of some length; first, what `mechanism: auto` takes.

    The one of least expected error (`analysis.accuracy.compare_mechanisms`), judged by words of
    up to 200 symbols: longer ones commonly err about as much per symbol, and would take long.

    :param length: of the longest word.
    :param symbols: in all words together, where there are several: mechanisms that count words
        are left out for archives so large that they would take long.
    :return: names of `core.registry.CHOICES` → expected error per symbol.
    """
    return compare_mechanisms(
        chain, privacy, min(length, _JUDGED), base=settings.base, trust=settings.trust,
        policy=settings.policy, walks=20,
        counting=max(length, symbols) * length * chain.edge_count <= MOST_COUNTING_STEPS)


class Mechanisms:
    """
    The mechanisms of releases under some settings, each made when it is first needed.

    :param random: for tests, an object with `getrandbits`.
    :param on_choice: called with a sentence when 'auto' first chooses a mechanism for words: which
        one, and the expected errors of all, from public data alone.
    :raises ConfigurationError: the settings name no mechanism that can be made.
    """

    def __init__(self, settings: ReleaseSettings, random: 'RandomBits | None' = None,
                 on_choice: Callable[[str], None] = lambda text: None):
        self._settings, self._random, self._on_choice = settings, random, on_choice
        self._made: dict[MechanismSettings, OfflineMechanism] = {}
        self._reported: set[str] = set()
        self._is_auto = settings.mechanism.selection == 'auto'
        if not self._is_auto:
            self._of(settings.mechanism)  # now, so that errors are found at the start

    @property
    def need_length(self) -> bool:
        """Return whether the choice, or whether words are too long, depends on their length."""
        return self._is_auto or self._of(self._settings.mechanism).law.counting_steps(_SHORT) > 0

    def for_length(self, length: int, symbols: int = 0) -> OfflineMechanism:
        """
        Return the mechanism for words of up to this length, with so many symbols in all.

        :raises ConfigurationError: they are too long for it.
        """
        return self.made(self.settings_for(length, symbols), length)

    def made(self, settings: MechanismSettings, length: int) -> OfflineMechanism:
        """Return the mechanism of some settings, for words of up to this length."""
        mechanism = self._of(settings)
        mechanism.check(length)
        return mechanism

    def settings_for(self, length: int, symbols: int = 0) -> MechanismSettings:
        """Return the settings of the mechanism `for_length`, whose selection is not 'auto'."""
        return self._choice(self._chosen(length, symbols)) if self._is_auto else \
            self._settings.mechanism

    def prepare(self) -> None:
        """
        Draw a word of unknown symbols with each mechanism that may be chosen.

        This compiles and imports all that releases need, however short they are.
        """
        loops.use_compiled()
        if self._is_auto:
            self._compared(_SHORT)
        for settings in map(self._choice, CHOICES) if self._is_auto else (
                self._settings.mechanism,):
            self._of(settings).privatize([None] * _SHORT)

    def _choice(self, name: str) -> MechanismSettings:
        return replace(self._settings.mechanism, **{'base': DEFAULT_BASE, **CHOICES[name]})

    def _compared(self, length: int, symbols: int = 0) -> dict[str, float]:
        settings = self._settings
        return compared(settings.chain, settings.privacy, length, settings.mechanism, symbols)

    def _chosen(self, length: int, symbols: int) -> str:
        errors = self._compared(length, symbols)
        name = next(iter(errors))
        if name not in self._reported:
            self._reported.add(name)
            shown = '; '.join(f'{other}: {error:.3f}' for other, error in errors.items())
            self._on_choice(f'auto takes "{name}" for {length} symbols. Expected share of wrong '
                            f'symbols: {shown}')
        return name

    def _of(self, settings: MechanismSettings) -> OfflineMechanism:
        if settings not in self._made:
            self._made[settings] = settings.offline(self._settings.chain, self._settings.privacy,
                                                    self._random)
        return self._made[settings]
