# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mechanism of a release: the one in the settings, or the one that errs least."""
from collections.abc import Callable
from typing import TYPE_CHECKING

from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps.dead_ends import counted
from symdp_ros.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

_SHORT = 2       # symbols of a word that is drawn in preparation
_MOST_KEPT = 40  # mechanisms: there is one for each length of short words


class Mechanisms:
    """
    The mechanisms of releases under some settings, each made when it is first needed.

    :param random: for tests, an object with `getrandbits`.
    :param on_choice: called with a sentence when 'auto' chooses another mechanism than for the
        words before, from public data alone.
    :raises ConfigurationError: the settings name no mechanism that can be made.
    """

    def __init__(self, settings: ReleaseSettings, random: 'RandomBits | None' = None,
                 on_choice: Callable[[str], None] = lambda text: None):
        self._settings, self._random, self._on_choice = settings, random, on_choice
        self._made: dict[tuple[MechanismSettings, Privacy], OfflineMechanism] = {}
        self._reported = ''  # the name that was told last
        self._available = settings.mechanism.available(settings.privacy.zones)
        if len(self._available) == 1:
            self.for_length(_SHORT)  # now, so that errors are found at the start

    def for_length(self, length: int, privacy: Privacy | None = None
                   ) -> tuple[OfflineMechanism, MechanismSettings, str]:
        """
        Return the mechanism for words of up to this length, and what it is.

        :param privacy: `ReleaseSettings.privacy_for` these words; None: as in the settings.
        :return: the mechanism; its settings, which leave nothing open; its name where auto took
            it, else ''.
        """
        given, privacy = self._settings, privacy or self._settings.privacy
        taken = choose(given.chain, privacy, given.mechanism, length)
        name = '' if taken == given.mechanism else taken.name
        if name not in ('', self._reported):
            self._reported = name
            self._on_choice(f'auto takes "{name}" for {counted(length, "symbol")}')
        return self._mechanism(taken, privacy), taken, name

    def prepare(self) -> None:
        """Draw a word with each mechanism that may be chosen: this imports what releases need."""
        for settings in self._available.values():
            self._mechanism(settings, self._settings.privacy).privatize([None] * _SHORT)

    def _mechanism(self, settings: MechanismSettings, privacy: Privacy) -> OfflineMechanism:
        key = settings, privacy
        if key not in self._made:
            if len(self._made) >= _MOST_KEPT:
                del self._made[next(iter(self._made))]
            self._made[key] = settings.offline(self._settings.chain, privacy, self._random)
        return self._made[key]
