# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`symdp check MAP --topic TOPIC`: whether the messages of a robot name states of the map.

With `--input pose`: how far its poses lie from the regions of the map.

For the operator's own terminal: it prints what messages name, which is sensitive.
"""
import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.core.naming import alike, quoted
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.resources import resolve_path
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.pose_report import (distances_text, far_text, floors_text, never_found_text,
                                        share)
from symdp_ros.maps.regions import read_locator
from symdp_ros.messages.field_paths import NOT_INPUT, symbol_reader
from symdp_ros.messages.fields import fields_of, name_of_type
from symdp_ros.messages.poses import position_reader
from symdp_ros.messages.symbols import parse_symbol_map, symbol_table

_SHOWN = 8  # unknown names, or frames

Row: TypeAlias = tuple[str, str]


def compare(graph: TransitionGraph, options: argparse.Namespace) -> int:
    """
    Listen, and print what the messages are on this map; return 1 where they do not fit it.

    :raises ConfigurationError: no ROS, no such topic, no message; no regions for poses.
    """
    rows, fits = (_poses if options.input == 'pose' else _names)(graph, options)
    for name, value in rows:
        print(f'{name:<19} {value}')
    return 0 if fits else 1


def _names(graph: TransitionGraph, options: argparse.Namespace) -> tuple[list[Row], bool]:
    """Return how many messages name no state, and whether all name one."""
    table = symbol_table(graph.successors, parse_symbol_map(options.symbol_map or ()))
    no_region, heard = {*options.no_region}, _Heard(options)
    seen = Counter[str | None](heard.listen(lambda kind: symbol_reader(
        fields_of(kind), name_of_type(kind), options.field, options.where or ())[0]))
    # None: no region is known, such as in an empty list.
    known = Counter({symbol: count for symbol, count in seen.items()
                     if symbol is not None and symbol not in no_region})
    rows = [*heard.rows(seen.total()),
            *_report(known, seen.total() - known.total(), seen.total() + heard.damaged, table)]
    return rows, not heard.damaged and all(symbol in table for symbol in known)


def _poses(graph: TransitionGraph, options: argparse.Namespace) -> tuple[list[Row], bool]:
    """Return how far poses lie from their regions, and whether most of them have one."""
    locator = read_locator(graph, resolve_path(options.regions) if options.regions else None,
                           max_distance=options.max_distance)
    locator.recorded = []
    frames, heard = list[str](), _Heard(options)
    positions = heard.listen(lambda kind: position_reader(
        fields_of(kind), name_of_type(kind), options.field, where=options.where or (),
        level_field=options.level_field, map_frame=options.map_frame,
        on_foreign_frame=frames.append))
    by_region = Counter(locator.locate(*at) if at is not None else None for at in positions)
    total, without = len(positions), by_region[None]
    rows = [*heard.rows(total)]
    if never := never_found_text(locator, options.level_field):
        rows.append(('never found', never))
    for frame, count in Counter(frames).most_common(_SHOWN):
        rows.append(('other frame', f'{share(count, total)} are in {printable(repr(frame))}, not '
                     f'in {options.map_frame!r} (--map-frame): they have no region'))
    rows.append(('no region', share(without, total) if without else 'none'))
    rows += [(name, text) for name, text in (
        ('distances', distances_text(locator)), ('floors', floors_text(locator)),
        ('far away', far_text(locator))) if text]
    return rows, not heard.damaged and 2 * without <= total


class _Heard:
    """Messages of the topic that the arguments name."""

    def __init__(self, options: argparse.Namespace):
        self._options, self.skipped, self.damaged, self._topic = options, 0, 0, options.topic

    def listen(self, reader: Callable[[type], Callable[[Any], Any]]) -> list[Any]:
        """Return what a reader, made for their type, finds in messages that are input."""
        with needing_ros():
            from symdp_ros.ros.graph.listening import listen
        options, values = self._options, list[Any]()

        def take(message_type: type) -> Callable[[object], None]:
            read = reader(message_type)

            def count(message: object) -> None:
                try:
                    value = None if message is None else read(message)
                except Exception:  # of whatever type: one message ends no check
                    message = None
                if message is None:
                    self.damaged += 1
                elif value is NOT_INPUT:
                    self.skipped += 1
                else:
                    values.append(value)

            return count

        type_name = listen(domain_of(options), options.topic, options.seconds, take)
        self._topic = f'{options.topic} ({type_name})'
        return values

    def rows(self, read: int) -> Iterator[Row]:
        """Yield what came, of which so many were read."""
        seconds, total = self._options.seconds, read + self.damaged
        if not total:
            raise ConfigurationError(
                f'no message came on {self._topic} in {seconds:g} s' + (
                    f' that meets the conditions; {self.skipped} do not' if self.skipped else '')
                + ': move the robot, or give more --seconds')
        yield 'topic', self._topic
        yield 'messages', f'{total:,} in {seconds:g} s' + (
            f', and {self.skipped:,} that are not input (--where, --field)' if self.skipped
            else '')
        if self.damaged:
            yield 'cannot be read', f'{self.damaged:,}'


def _report(known: Counter[str], without: int, total: int,
            table: dict[str, str]) -> Iterator[Row]:
    if without:
        yield 'no region', f'{without:,} (--no-region)'
    unknown = Counter({symbol: count for symbol, count in known.items() if symbol not in table})
    missing = unknown.total()
    yield 'name no state', f'{missing:,} ({missing / total:.0%})' if missing else 'none'
    for symbol, count in unknown.most_common(_SHOWN):
        times = f'{count:,} time{"s" if count > 1 else ""}'
        close = alike(symbol, table)
        yield '', f'{quoted(symbol)}, {times}' + (
            f': did you mean {" or ".join(map(quoted, close))}?' if close else '')
    if len(unknown) > _SHOWN:
        yield '', f'and {len(unknown) - _SHOWN:,} other names'
    if missing:
        yield '', ('where a value means a state, say so: --symbol-map VALUE=STATE, and '
                   'symbol_map of the privatizer')
