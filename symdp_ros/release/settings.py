# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The settings of releases: how logs and archives are read, privatized and written.

Releases with the same `digest` are the same release; other settings change only their form.
"""
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
import json
import os
from pathlib import Path
from typing import Any

from symdp_ros.core.chain import Chain
from symdp_ros.core.law import Law
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.ledger.charging import loss_of
from symdp_ros.ledger.entry import Loss
from symdp_ros.logs import Keep
from symdp_ros.maps.dead_ends import counted
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.pose_report import never_found_text
from symdp_ros.maps.positions import Locator
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.release.archives import parquet_file
from symdp_ros.release.archives.parquet_file import Columns
from symdp_ros.settings import check_choice, digest_of_settings
from symdp_ros.words.sampling_settings import SamplingSettings
from symdp_ros.words.visit_rule import settled

CHARGES = ('archive', 'route')
_ENVELOPE = 128  # bytes: more than the stamp of a symbol and what frames it take in any format


@dataclass(frozen=True)
class WritingSettings:
    """
    How releases of logs are written.

    With `keep`, a release is a recording with these topics, too, and the topic of the region keeps
    its name; otherwise it is that of `logs.write_log`.
    """

    format: str = 'csv'  # noqa: A003 (a public name)
    keep_names: bool = False
    keep: Keep = Keep()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'WritingSettings':
        """Return those among the values of options; kept topics need a recording."""
        keep = Keep.of(values['keep'], values['keep_anyway'], values['coarse_stamps'])
        return cls(values['format'] or ('mcap' if keep.topics else cls.format),
                   keep_names=values['keep_names'], keep=keep)


@dataclass(frozen=True)
class ArchiveSettings:
    """
    How an archive is read and charged: each row is a symbol.

    :param charge: 'archive': ε once, which bounds k changed rows; right if no two routes show the
        same time. 'route': ε for each route, which bounds k changed symbols even if every route
        shows them.
    """

    columns: Columns = Columns()
    charge: str = 'archive'

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'ArchiveSettings':
        """Return those among the values of options."""
        return cls(Columns(values['route_key'], values['position_key'], values['symbol_key'],
                           values['subject_key'], values['stamp_key'], tuple(values['keep'])),
                   values['charge'])

    def check(self) -> None:
        """
        Check the settings, before anything is read.

        :raises ConfigurationError: one of them is not valid; the packages are not installed.
        """
        parquet_file.parquet()
        check_choice('charge', self.charge, CHARGES)

    def described(self) -> dict[str, Any]:
        """Return what a release's distribution depends on, for people to read."""
        charge = {} if self.charge == 'archive' else {'charge': self.charge}
        return {'archive': self.columns.described(), 'unknown_symbol': 'uniform', **charge}


@dataclass(frozen=True)
class ReleaseSettings:
    """
    How logs, or an archive, are read, privatized and written.

    :param locator: where the input is poses: what finds their regions.
    :param archive: of archives; None: logs are released. Of an archive, each row is a symbol, an
        unknown region is one more symbol, and neither `sampling` nor `writing` is used.
    """

    chain: Chain
    privacy: Privacy
    mechanism: MechanismSettings = MechanismSettings()
    sampling: SamplingSettings = SamplingSettings()
    input: InputSettings = InputSettings()  # noqa: A003 (a public name)
    writing: WritingSettings = WritingSettings()
    locator: Locator | None = None
    archive: ArchiveSettings | None = None

    @classmethod
    def of(cls, graph: TransitionGraph, values: Mapping[str, Any], *, archive: bool = False,
           refuse_frames: bool = False) -> 'ReleaseSettings':
        """
        Return those among the values of options.

        :param graph: the map.
        :param archive: whether an archive is released.
        :param refuse_frames: as of `InputSettings`.
        :raises ChainError, ConfigurationError: the options go together neither with one another
            nor with the map; the regions of poses cannot be used.
        :raises PrivacyError: ε and k are not valid.
        """
        regions = MapSettings.of(values)
        sampling, mechanism = _rows(values) if archive else settled(values, graph)
        read = replace(InputSettings.of(values), refuse_frames=refuse_frames)
        if regions.regions_file and not read.is_pose:
            raise ConfigurationError('regions_file is not for input: region: leave it out',
                                     setting='regions_file')
        read.refuse_others('hysteresis', 'max_distance', 'level_field', 'symbol_map')
        return cls(
            sampling.chain(graph), sampling.privacy(values['epsilon'], values['adjacency'],
                                                    regions.zones()),
            mechanism, sampling, read,
            WritingSettings.of(values) if 'keep' in values else WritingSettings(),
            regions.locator(graph, read.hysteresis, read.max_distance) if read.is_pose else None,
            ArchiveSettings.of(values) if archive else None)

    def described(self) -> dict[str, Any]:
        """Return the settings that a release's distribution depends on, for people to read."""
        return self.mechanism.described(self.chain, self.privacy) | self.described_reading()

    def described_reading(self) -> dict[str, Any]:
        """Return the part of `described` that says which word is read from a log."""
        if self.archive is not None:
            return self.archive.described() | self.input.described_names()
        regions = {} if self.locator is None else {'regions': self.locator.digest()}
        return self.sampling.described() | self.input.described() | regions

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return digest_of_settings(self.described())

    def record(self, program: str, **more: str) -> str:
        """
        Return in JSON what a release made with these settings says of itself.

        Topics, fields and names of regions, which may name a robot, are in the digest alone.
        """
        read = self.sampling if self.archive is None else self.archive
        return json.dumps({'program': program, 'settings': self.digest(), **more}
                          | self.mechanism.described(self.chain, self.privacy) | read.described())

    def privacy_for(self, length: int) -> Privacy:
        """
        Return ε and the k that words are drawn with: less for a short word (`Privacy.for_length`).

        But not in an archive that is charged as one, where k rows of any routes may change.

        :param length: of all words of the log together; of the longest route.
        """
        as_one = self.archive is not None and self.archive.charge == 'archive'
        return self.privacy if as_one else self.privacy.for_length(length)

    @cached_property
    def most_bytes(self) -> int:
        """Return how many bytes a released symbol of a log takes at most, in any format."""
        keys = len(json.dumps([self.input.stamp_key, self.input.symbol_key]))
        return _ENVELOPE + keys + max(len(json.dumps(state)) for state in self.chain.states)

    @property
    def privacy_text(self) -> str:
        """Return ε and k, and for what they are, for people to read."""
        each, whose = ('each log', 'its symbols') if self.archive is None else (
            ('each route', 'the symbols of the longest') if self.archive.charge == 'route' else
            ('the archive', ''))
        text = f'ε = {self.privacy.epsilon:g} and k = {self.privacy.adjacency} for {each}'
        if self.privacy.zones is not None:
            text += f', inside each of {counted(len(self.privacy.zones), "zone")}, which are told'
        short = self.privacy_for(1) != self.privacy
        return text + (f' (k = {whose}, if they are fewer)' if short else '')

    @property
    def pose_text(self) -> str:
        """Return what to say of states that no pose leads to, from public data; ''."""
        return '' if self.locator is None else never_found_text(self.locator,
                                                                self.input.level_field)

    def loss(self, law: Law | None = None, length: int | None = None, routes: int = 1) -> Loss:
        """
        Return the privacy loss of a release.

        :param law: of the mechanism; None: only its ε is known.
        :param length: as of `privacy_for`; None: it is not drawn by `privacy_for`.
        :param routes: of an archive: how many it has.
        """
        bound, values = ('pure', 2) if law is None else (law.loss_bound, law.response_values)
        if self.archive is None:
            return replace(loss_of(self.privacy, self.sampling, bound), length=length,
                           values=values)
        loss = replace(Loss.of(self.privacy, 'archive', bound=bound), values=values)
        return replace(loss, epsilon=loss.epsilon * routes, routes=routes, length=length) \
            if self.archive.charge == 'route' else loss

    def check(self) -> None:
        """
        Check the settings, before anything is read.

        :raises ConfigurationError: one of them is not valid; packages are not installed.
        """
        self.mechanism.check()
        self.input.table(self.chain.states)
        if self.archive is not None:
            self.archive.check()
            return
        self.writing.keep.check(self.input.topic, self.writing.format,
                                self.sampling.unknown_symbol)
        self.sampling.check(self.chain)

    def states_by_value(self) -> dict[str, int]:
        """Return value → position in the states of the chain."""
        return {value: self.chain.state_index[state]
                for value, state in self.input.table(self.chain.states).items()}


def _rows(values: Mapping[str, Any]) -> tuple[SamplingSettings, MechanismSettings]:
    """
    Return the settings of an archive, whose rows are symbols.

    :raises ConfigurationError: `protect` says what is hidden, or nothing does.
    """
    if values.get('protect') or not values['adjacency']:
        raise ConfigurationError(
            'protect needs times, and the rows of an archive are symbols: give adjacency: k '
            '(--adjacency) instead, which hides any k of them', setting='adjacency')
    return SamplingSettings(), MechanismSettings.of(values)


def check_apart(ledger_path: str | Path, release_dir: str | Path) -> None:
    """
    Check that a ledger is, or would be, outside a release directory.

    :raises ConfigurationError: it is inside.
    """
    if _lies_within(ledger_path, release_dir):
        raise ConfigurationError(f'the ledger {ledger_path} is inside the release directory '
                                 f'{printable(os.path.realpath(release_dir))}: keep it where '
                                 'readers of releases cannot read it', setting='ledger_file')


def check_directories_apart(logs: str | Path, releases: str | Path) -> None:
    """
    Check that neither the logs nor their releases are, or would be, inside the other.

    :raises ConfigurationError: one is, or they are the same.
    """
    if _lies_within(logs, releases) or _lies_within(releases, logs):
        raise ConfigurationError(
            f'{printable(logs)} and {printable(releases)} are the same, or lie inside one '
            'another. Readers of releases must not be able to read what they are made of: use two '
            'separate directories', setting='release_dir')


def _lies_within(path: str | Path, directory: str | Path) -> bool:
    """Return whether a path is a directory, or is, or would be, inside it; links are followed."""
    inner, outer = Path(os.path.realpath(path)), Path(os.path.realpath(directory))
    return outer in (inner, *inner.parents)
