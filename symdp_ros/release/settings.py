# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The settings of releases: how logs and archives are read, privatized and written.

Releases with the same `digest` are the same release; other settings change only their form.
"""
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
import json
from typing import Any, TYPE_CHECKING

import numpy as np
from symdp_ros.core.base_measure import check_base
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import DEFAULT_BASE, DEFAULT_TRUST, SELECTIONS
from symdp_ros.errors import ConfigurationError, LogError
from symdp_ros.ledger.units import Loss
from symdp_ros.logs import Keep, LogFile, read_log, sample, sampled_values
from symdp_ros.maps.positions import Locator, Place
from symdp_ros.messages.symbols import parse_symbol_map, symbol_table
from symdp_ros.release import archive_file
from symdp_ros.release.archive_file import Archive, Columns
from symdp_ros.release.inspection import Inspection, MOST_NAMES, Moves
from symdp_ros.words.rules import check_sampling, LOG_UNKNOWN_SYMBOL

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits

_OF_POSES = ('regions_file', 'hysteresis', 'max_distance', 'level_field')
CHARGES = ('archive', 'route')


@dataclass(frozen=True)
class PoseInput:
    """
    How positions in recordings become regions.

    :param places: of the states, from which the locator was made with these two distances.
    :param level_field: path to the name of the floor; '': there is none.
    :param map_frame: the frame that positions must be in.
    :param refuse_frames: as in `read_log`: not for nodes, whose callers read why a log failed.
    """

    locator: Locator
    places: Mapping[str, Place]
    hysteresis: float = 0.0
    max_distance: float = 0.0
    level_field: str = ''
    map_frame: str = 'map'
    refuse_frames: bool = False

    def described(self) -> dict[str, Any]:
        """Return what the regions of positions depend on, for people to read."""
        places = repr(sorted(self.places.items()))
        return {'input': 'pose', 'regions': sha256(places.encode()).hexdigest(),
                'hysteresis': self.hysteresis, 'max_distance': self.max_distance,
                'level_field': self.level_field, 'map_frame': self.map_frame}


def input_settings(values: Mapping[str, Any],
                   read: Callable[[], tuple[Locator, Mapping[str, Place]]], *,
                   refuse_frames: bool = False) -> dict[str, Any]:
    """
    Return the arguments of `ReleaseSettings` that say what is read from logs.

    :param values: of the options.
    :param read: returns what finds the state of a position, and where the states are; called with
        `input: pose` alone.
    :param refuse_frames: as of `PoseInput`.
    :raises ConfigurationError: the options do not go together; as `read` does.
    """
    same = {name: values[name] for name in ('topic', 'message_type', 'field', 'stamp_key',
                                            'symbol_key')}
    for name in (_OF_POSES if values['input'] != 'pose' else ('symbol_map',)):
        if values[name]:
            raise ConfigurationError(f'{name} is not for input: {values["input"]}: leave it out',
                                     setting=name)
    lists = {name: tuple(values[name]) for name in ('where', 'symbol_map')}
    if values['input'] != 'pose':
        return same | lists
    if same['topic'] == 'region':
        same['topic'] = 'pose'
    of_poses = {name: values[name] for name in (*_OF_POSES[1:], 'map_frame')}
    of_poses['level_field'] = of_poses['level_field'] or ''  # None on the command line
    return same | lists | {'pose': PoseInput(*read(), **of_poses, refuse_frames=refuse_frames)}


def output_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the arguments of `ReleaseSettings` that say what is written.

    :param values: of the options. Where topics are kept, the format is a recording if not set.
    """
    keep = Keep.of(values['keep'], values['keep_anyway'], values['coarse_stamps'])
    return {'format': values['format'] or ('mcap' if keep.topics else 'csv'), 'keep': keep,
            'keep_names': values['keep_names']}


@dataclass(frozen=True)
class ReleaseSettings:
    """
    How logs are read, privatized and written.

    Durations are in seconds; `symbol_map` holds value=state items. With `pose`, messages hold a
    position, and `symbol_map` and `no_region` are not used. The `mechanism` 'auto' is for each log
    the one that is expected to err least, chosen from chain, ε, k and the log's length alone; with
    the base 'counting', of those without the chain's base measure. With `keep`, a release is a
    recording with these topics, too, and the topic of the region keeps its name.
    """

    chain: Chain
    privacy: Privacy
    mechanism: str = 'auto'
    base: str = DEFAULT_BASE
    trust: float = DEFAULT_TRUST
    policy: str = 'guided'
    topic: str = 'region'
    message_type: str | None = None
    field: str = 'data'
    where: tuple[str, ...] = ()
    pose: PoseInput | None = None
    stamp_key: str = 'stamp'
    symbol_key: str = 'symbol'
    sampling: str = 'message'
    period: float = 1.0
    input_timeout: float = 0.0
    protect: float = 0.0
    unknown_symbol: str = 'uniform'
    symbol_map: tuple[str, ...] = ()
    no_region: tuple[str, ...] = ('none', '')
    format: str = 'csv'  # noqa: A003 (a public name)
    release_topic: str = 'private_region'
    keep_names: bool = False
    keep: Keep = Keep()

    def described(self) -> dict[str, Any]:
        """Return the settings that a release's distribution depends on, for people to read."""
        sampling: dict[str, Any] = {'sampling': self.sampling,
                                    'unknown_symbol': self.unknown_symbol}
        if self.sampling == 'period':
            sampling |= {'period': self.period, 'input_timeout': self.input_timeout}
        if self.where:
            sampling['where'] = sorted(self.where)
        return {**_described(self), **sampling, 'topic': f'/{self.topic.lstrip("/")}',
                'field': self.field, **(self.pose.described() if self.pose else {})}

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return _digest(self.described())

    @property
    def loss(self) -> Loss:
        """Return the privacy loss of a release."""
        return Loss.of(self.privacy, self.sampling, self.period, self.protect or None)

    def words(self, log: LogFile) -> list[list[str | None]]:
        """
        Return the words of a log.

        :raises LogError, ConfigurationError: as `read_log` and `sample`.
        """
        return self.words_of(self.entries(log), log)

    def entries(self, log: LogFile) -> list[tuple[int, str | None]]:
        """Return what `read_log` finds in a log."""
        how: dict[str, Any] = {
            'topic': self.topic, 'message_type': self.message_type, 'field': self.field,
            'where': self.where, 'stamp_key': self.stamp_key, 'symbol_key': self.symbol_key}
        if self.pose is None:
            naming = symbol_table(self.chain.states, parse_symbol_map(self.symbol_map))
            return read_log(log.path, naming=naming, **how)
        self.pose.locator.reset()  # no log's regions depend on another log
        return read_log(log.path, locator=self.pose.locator, level_field=self.pose.level_field,
                        map_frame=self.pose.map_frame, refuse_frames=self.pose.refuse_frames,
                        **how)

    def words_of(self, entries: list[tuple[int, str | None]],
                 log: LogFile) -> list[list[str | None]]:
        """Return the words that are sampled from the entries of a log."""
        words = self._sample(entries)
        if not words:
            raise LogError('no symbols are left to release', path=log.path)
        return words

    def inspect(self, entries: list[tuple[int, str | None]], words: list[list[str | None]],
                moves: Moves) -> Inspection:
        """
        Return what is known of a log, for its operator alone.

        :param words: `words_of` the entries.
        :param moves: of the chain.
        """
        index, no_region = self.chain.state_index, self.no_region
        counts = Counter(sampled_values(entries, sampling=self.sampling, period=self.period,
                                        input_timeout=self.input_timeout))
        symbols, none = counts.total(), counts.pop(None, 0)
        if self.pose is None:
            table = symbol_table(index, parse_symbol_map(self.symbol_map), no_region)
            names = Counter({str(value): count for value, count in counts.items()
                             if value not in table and value not in no_region})
            unknown = names.total()
            silent = none + sum(counts[value] for value in no_region)
        else:  # positions name a state, or none
            names, unknown, silent = Counter(), none, 0
        flat = np.array([-1 if symbol is None else index[symbol] for word in words
                         for symbol in word], np.int64)
        begins = np.zeros(len(flat), bool)
        begins[np.cumsum([0, *map(len, words[:-1])])] = True
        return Inspection(symbols, unknown, silent, dict(names.most_common(MOST_NAMES)),
                          moves.missing(flat, begins),
                          _named(moves.standing(flat, begins), self.chain))

    def check(self) -> None:
        """
        Check the settings of sampling, before any log is read.

        :raises ConfigurationError: one of them is not valid.
        """
        check_base(self.base, self.trust)
        self.keep.check(self.topic, self.format, self.unknown_symbol)
        self._sample([])
        check_sampling(self.chain, sampling=self.sampling, input_timeout=self.input_timeout,
                       unknown_symbol=self.unknown_symbol, unknown_symbols=LOG_UNKNOWN_SYMBOL)

    @property
    def values(self) -> dict[str, str]:
        """Return state → the value that stands for it in recorded messages."""
        mapped = {} if self.pose else parse_symbol_map(self.symbol_map)
        first = {state: value for value, state in reversed(mapped.items())}
        return {state: first.get(state, state) for state in self.chain.states}

    def mechanism_of(self, selection: str, base: str,
                     random: 'RandomBits | None' = None) -> OfflineMechanism:
        """Return a new mechanism of a selection and a base."""
        return _mechanism(self, selection, base, random)

    def _sample(self, entries: Sequence[tuple[int, str | None]]) -> list[list[str | None]]:
        return sample(entries, self.chain.states, sampling=self.sampling,
                      period=self.period if self.sampling == 'period' else None,
                      input_timeout=self.input_timeout, unknown_symbol=self.unknown_symbol,
                      symbol_map={} if self.pose else parse_symbol_map(self.symbol_map),
                      no_region=() if self.pose else self.no_region)


@dataclass(frozen=True)
class ArchiveSettings:
    """
    How an archive is read and privatized; as `ReleaseSettings`, where they are alike.

    Each row is a symbol; an unknown region is one more symbol. The `mechanism` 'auto' is chosen by
    the longest route and the number of rows.

    :param charge: 'archive': ε once, which bounds k changed rows; right if no two routes show the
        same time. 'route': ε for each route, which bounds k changed symbols even if every route
        shows them.
    """

    chain: Chain
    privacy: Privacy
    mechanism: str = 'auto'
    base: str = DEFAULT_BASE
    trust: float = DEFAULT_TRUST
    policy: str = 'guided'
    charge: str = 'archive'
    columns: Columns = Columns()
    symbol_map: tuple[str, ...] = ()
    no_region: tuple[str, ...] = ('none', '')

    def described(self) -> dict[str, Any]:
        """Return the settings that a release's distribution depends on, for people to read."""
        charge = {} if self.charge == 'archive' else {'charge': self.charge}
        return {'archive': list(self.columns.names()), **_described(self),
                'unknown_symbol': 'uniform', **charge}

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return _digest(self.described())

    def loss_of(self, routes: int, bound: str = 'pure') -> Loss:
        """Return the privacy loss of a release of so many routes: a row is a symbol."""
        loss = Loss.of(self.privacy, 'archive', bound=bound)
        return replace(loss, epsilon=loss.epsilon * routes, routes=routes) \
            if self.charge == 'route' else loss

    def check(self) -> None:
        """
        Check the settings, before anything is read.

        :raises ConfigurationError: one of them is not valid; the packages are not installed.
        """
        check_base(self.base, self.trust)
        archive_file.parquet()
        self.states_by_value()
        if self.charge not in CHARGES:
            raise ConfigurationError(f'charge is {self.charge!r}: it must be one of '
                                     f'{", ".join(CHARGES)}', setting='charge')

    def states_by_value(self) -> dict[str, int]:
        """Return value → position in the states of the chain."""
        table = symbol_table(self.chain.states, parse_symbol_map(self.symbol_map), self.no_region)
        return {value: self.chain.state_index[state] for value, state in table.items()}

    def inspect(self, archive: Archive, moves: Moves) -> Inspection:
        """Return what is known of an archive, for its operator alone; `moves`: of the chain."""
        unknown, silent, names, missing, standing = archive.inspect(
            self.states_by_value(), self.no_region, moves)
        return Inspection(archive.rows, unknown, silent, names, missing,
                          _named(standing, self.chain))

    def mechanism_of(self, selection: str, base: str,
                     random: 'RandomBits | None' = None) -> OfflineMechanism:
        """Return a new mechanism of a selection and a base."""
        return _mechanism(self, selection, base, random)


Settings = ReleaseSettings | ArchiveSettings


def _described(settings: Settings) -> dict[str, Any]:
    """Return the part of `described` that logs and archives have in common."""
    used = SELECTIONS.get(settings.mechanism, ('base', 'policy'))  # 'auto' may choose any
    more: dict[str, str | float] = (
        {'policy': settings.policy} if 'policy' in used else {})
    if 'adaptive' in more.values():
        more['trust'] = float(settings.trust)
    # Older versions counted words, and wrote no base.
    if settings.base != 'counting' and 'base' in used:
        more |= {'base': settings.base, 'trust': float(settings.trust)}
    return {'chain': settings.chain.digest(), 'epsilon': settings.privacy.epsilon,
            'adjacency': settings.privacy.adjacency, 'mechanism': settings.mechanism, **more,
            'no_region': sorted(settings.no_region), 'symbol_map': sorted(settings.symbol_map)}


def _named(counts: Iterable[int], chain: Chain) -> dict[str, int]:
    return {state: int(count) for state, count in zip(chain.states, counts, strict=True) if count}


def _digest(described: dict[str, Any]) -> str:
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _mechanism(settings: Settings, selection: str, base: str,
               random: 'RandomBits | None') -> OfflineMechanism:
    return OfflineMechanism(settings.chain, settings.privacy, selection=selection, base=base,
                            trust=settings.trust, policy=settings.policy, random=random)
