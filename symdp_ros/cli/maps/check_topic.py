# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`symdp check MAP --topic TOPIC`: whether the messages of a robot name states of the map.

For the operator's own terminal: it prints what messages name, which is sensitive.
"""
import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.core.naming import alike, quoted
from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.field_paths import NOT_INPUT, symbol_reader
from symdp_ros.messages.fields import fields_of, name_of_type
from symdp_ros.messages.symbols import parse_symbol_map, symbol_table

_SHOWN = 8  # unknown names


def compare(states: Iterable[str], options: argparse.Namespace) -> int:
    """
    Listen, and print how many messages name no state; return 1 where any does.

    :raises ConfigurationError: no ROS, no such topic, no message.
    """
    with needing_ros():
        from rclpy.serialization import deserialize_message
        from symdp_ros.ros.graph.listening import listen
    table = symbol_table(states, parse_symbol_map(options.symbol_map or ()))
    seen = Counter[str | None]()  # None: no region is known, such as in an empty list
    skipped = damaged = 0
    no_region = {*options.no_region}

    def take(message_type: type) -> Callable[[bytes], None]:
        read, _ = symbol_reader(fields_of(message_type), name_of_type(message_type), options.field,
                                options.where or ())

        def count(data: bytes) -> None:
            nonlocal skipped, damaged
            try:
                symbol = read(deserialize_message(data, message_type))
            except Exception:  # what is raised depends on the middleware
                damaged += 1
                return
            if symbol is NOT_INPUT:
                skipped += 1
            else:
                seen[symbol] += 1

        return count

    type_name = listen(domain_of(options), options.topic, options.seconds, take)
    known = Counter({symbol: count for symbol, count in seen.items()
                     if symbol is not None and symbol not in no_region})
    rows = _report(known, seen.total() - known.total(), skipped, damaged, table,
                   f'{options.topic} ({type_name})', options.seconds)
    for name, value in rows:
        print(f'{name:<19} {value}')
    return 1 if damaged or any(symbol not in table for symbol in known) else 0


def _report(known: Counter[str], without: int, skipped: int, damaged: int, table: dict[str, str],
            topic: str, seconds: float) -> Iterator[tuple[str, str]]:
    total = known.total() + without + damaged
    if not total:
        raise ConfigurationError(
            f'no message came on {topic} in {seconds:g} s' + (
                f' that meets the conditions; {skipped} do not' if skipped else '')
            + ': move the robot, or give more --seconds')
    yield 'topic', topic
    yield 'messages', f'{total:,} in {seconds:g} s' + (
        f', and {skipped:,} that are not input (--where, --field)' if skipped else '')
    if without:
        yield 'no region', f'{without:,} (--no-region)'
    if damaged:
        yield 'cannot be read', f'{damaged:,}'
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
