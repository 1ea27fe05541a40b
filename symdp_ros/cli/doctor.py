# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp doctor`: what else in a ROS domain shows where a robot is."""
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
import os
from pathlib import Path
import re
from stat import S_IROTH
import sys
from typing import TYPE_CHECKING

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.in_domain import domain_of, needing_ros
from symdp_ros.core.offline import passes
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.maps.dead_ends import counted
from symdp_ros.messages.revealing import shown_by
from symdp_ros.options import DOCTOR_TOPICS, DOMAIN, WAIT_FOR_NODES

if TYPE_CHECKING:
    from symdp_ros.ros.graph.live_graph import LiveGraph

_OWN = {'privatizer', 'log_release'}  # names of nodes that publish only what is private
_NO_REGION = {'/clock', '/parameter_events'}    # what every node subscribes to
_BRIDGES = {'domain_bridge', 'foxglove_bridge', 'rosbridge_websocket', 'zenoh_bridge_ros2dds'}
_DAEMON = '_ros2cli_daemon_'                    # begin of the name of the daemon of `ros2`
_FEW = 4                                        # names that a row shows
#: What anyone can learn of parameters: type → what it shows, and what to do.
_PARAMETERS = {
    'rcl_interfaces/srv/GetParameters': (
        'parameters: anyone can ask for them; some nodes keep a pose there',
        'turn them off, or look at them with `ros2 param dump`'),
    'rcl_interfaces/msg/ParameterEvent': (
        'parameters: each one that changes is told to all; some nodes keep a pose there',
        'turn these events off, or set no pose as a parameter')}
_KEEP = "keep it in the robot's own ROS domain"
_ASK = 'find out what it holds'


@dataclass(frozen=True)
class Finding:
    """
    A row of the table.

    :ivar certain: it shows where a robot is; otherwise it may.
    :ivar what: names and types.
    :ivar advice: what to do about it.
    """

    certain: bool
    what: tuple[str, ...]
    type_name: str
    sources: frozenset[str]
    readers: frozenset[str]
    reason: str
    advice: str


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'doctor', help='list what else in a ROS domain shows where a robot is',
        description='Looks at a ROS domain for a few seconds and lists the topics, services and '
                    'nodes that show where a robot is, apart from the private topics. It reads '
                    'names and types only: it subscribes to nothing and calls nothing. Run it in '
                    'the domain, and on a machine, of those who may see only what is private. '
                    'Exit status 1 if anything shows where a robot is.')
    add_arguments(parser, [DOMAIN, WAIT_FOR_NODES, DOCTOR_TOPICS])
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the findings; return 1 where one of them is certain."""
    domain = domain_of(options)
    with needing_ros():
        from rclpy import get_rmw_implementation_identifier
        from symdp_ros.ros.graph.live_graph import look
    graph = look(domain, options.seconds)
    if not (graph.nodes or graph.topics or graph.problems):
        raise ConfigurationError(
            f'no node is visible in ROS domain {domain}, so nothing was checked: give the number '
            'of another --domain, or more --seconds')
    for wanted in options.topics or ():
        if not any(_inside(channel, [wanted]) for channel in graph.topics):
            raise ConfigurationError(f'there is no topic {wanted} in ROS domain {domain}')
    topics = sorted(findings(graph, options.topics or ()), key=lambda row: not row.certain)
    if topics:
        _print(topics)
    certain = sum(row.certain for row in topics)
    private = sorted({channel.name for channel in graph.topics if _is_private(channel)})
    near = (os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'LOCALHOST'
            and 'zenoh' not in get_rmw_implementation_identifier())  # it ignores this
    print(f'ROS domain {domain}{", this machine and static peers" if near else ""}: '
          f'{counted(len(graph.nodes), "node")}, {counted(len(graph.topics), "topic")}')
    print(f'private topics: {_some_names(private, 20)}')
    print('loops: ' + ('NumPy (no C compiler when it was installed)' if passes.compiled is None
                       else 'compiled'))
    if segments := segments_for_all():
        print(f'in /dev/shm, every user of this machine can read {counted(segments, "file")} of '
              'Fast DDS, where messages stay: SECURITY.md (Another user of the machine) says what '
              'helps')
    print(f'show where a robot is: {certain}; may show it: {len(topics) - certain}')
    return 1 if certain else 0


def findings(graph: 'LiveGraph', only: Sequence[str] = ()) -> Iterator[Finding]:
    """
    Yield what shows, or may show, where a robot is.

    :param only: topics to look at, each with all below it; if empty: everything.
    """
    raw = {channel.name: privatizers for channel in graph.topics
           if channel.name not in _NO_REGION and not _is_private(channel)
           and (privatizers := {node for node in channel.readers if _base(node) == 'privatizer'})}
    topics = [channel for channel in graph.topics if not only or _inside(channel, only)]
    certain = set()
    unsure: list[Finding] = []
    for channel in topics:
        row = _topic(channel, raw.get(channel.name, ()))
        if row and row.certain:
            certain.add(channel.name)
            yield row
        elif row:
            unsure.append(row)
    yield from _together(
        Finding(False, (what,), '', frozenset(), frozenset(), f'{why}: who is there cannot be '
                'listed', 'find out who it is: no ROS node announces such a thing')
        for what, why in graph.problems.items()
        if not only or any(channel.name == what for channel in topics))
    if only:
        yield from _together(unsure)
        return
    yield from _recorders(graph, certain, {row.what[0] for row in unsure})
    for channel in graph.services:
        shown = shown_by(channel.type_name)
        if shown and shown.certain and any(_base(node) not in _OWN for node in channel.sources):
            yield Finding(True, (channel.name,), channel.type_name, frozenset(channel.sources),
                          frozenset(channel.readers), 'a request or an answer holds '
                          + _in_words(shown), f'{_KEEP}: anyone there can ask, or listen')
    yield from _together(unsure)
    yield from _parameters(graph)
    for name in sorted(node for node in graph.nodes if _base(node) in _BRIDGES):
        yield Finding(False, (name,), 'a bridge', frozenset([name]), frozenset(),
                      'carries topics out of this ROS domain',
                      'let it carry the private topics only (symdp isolate)')


def _topic(channel, privatizers) -> Finding | None:
    """Return what a topic shows; None where it is private, harmless, or nobody publishes it."""
    sources = frozenset(node for node in channel.sources if _base(node) not in _OWN)
    name = channel.name

    def finding(certain, reason, advice=_KEEP):
        return Finding(certain, (name,), channel.type_name, sources, frozenset(channel.readers),
                       reason, advice)

    if privatizers:
        return finding(True, f'the region, or pose, that {_some_names(sorted(privatizers))} makes '
                       'private', 'let only the privatizer read it: output_domain, or '
                       '`symdp isolate`')
    if not sources or name in _NO_REGION:
        return None
    if channel.type_name == 'rcl_interfaces/msg/Log':
        return None if all(map(_is_daemon, sources)) else finding(
            False, "the nodes' log: its text is unknown",
            'read what they log; where it names places, keep it in the domain')
    shown = shown_by(channel.type_name)
    if not shown:
        return None
    if name.endswith('/_action/status'):
        return finding(False, 'when goals are accepted and reached', _KEEP)
    if name.endswith('/tf_static'):
        return finding(False, 'fixed frames: of sensors, seldom of the robot in the map',
                       'check that no frame in it is placed on the map')
    if name.endswith('/map') and channel.type_name == 'nav_msgs/msg/OccupancyGrid':
        return finding(False, 'a map: one that is being made grows where the robot is',
                       'leave it, if it comes from a file')
    return finding(shown.certain, _in_words(shown), _KEEP if shown.certain else _ASK)


def _in_words(shown) -> str:
    return shown.what + (f' (in {shown.field})' if shown.field else '')


def _together(rows) -> Iterator[Finding]:
    """Yield one row for all that differ in names alone: there can be many topics of one type."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for row in rows:
        alike.setdefault((row.type_name, row.reason, row.advice), []).append(row)
    for same in alike.values():
        yield replace(same[0], what=tuple(name for row in same for name in row.what),
                      sources=frozenset().union(*(row.sources for row in same)),
                      readers=frozenset().union(*(row.readers for row in same)))


def _recorders(graph, certain, unsure) -> Iterator[Finding]:
    """Yield the nodes that record: those of rosbag2, and any that subscribes to all topics."""
    with_services = {node for channel in graph.services for node in channel.sources
                     if re.match('rosbag2_interfaces/srv/(Snapshot|SplitBagfile|Record)',
                                 channel.type_name)}
    # Only topics that somebody else publishes: nobody subscribes to all of its own.
    for node in sorted(graph.nodes):
        others = [channel for channel in graph.topics if channel.sources - {node}
                  and channel.name not in _NO_REGION and channel.name != '/rosout']
        read = [channel.name for channel in others if node in channel.readers]
        records = _base(node).startswith('rosbag2_recorder') or node in with_services
        if not records and (len(others) < 3 or len(read) < len(others)):
            continue
        truth, perhaps = sorted(certain.intersection(read)), sorted(unsure.intersection(read))
        if truth or perhaps:
            yield Finding(
                bool(truth), (node,), 'a recorder' if records else 'subscribes to every topic',
                frozenset([node]), frozenset(), f'reads {_some_names(truth or perhaps)}',
                'leave these topics out of the recording, or give the recording to nobody')


def _parameters(graph) -> Iterator[Finding]:
    def tells(node):
        return _base(node) not in _OWN and not _is_daemon(node)

    yield from _together(
        Finding(False, (channel.name,), channel.type_name,
                frozenset(node for node in channel.sources if tells(node)),
                frozenset(channel.readers), *_PARAMETERS[channel.type_name])
        for channel in (*graph.services, *graph.topics) if channel.type_name in _PARAMETERS
        and any(map(tells, channel.sources)))


def segments_for_all(directory: Path = Path('/dev/shm')) -> int:
    """Return how many files of Fast DDS every user of this machine can read."""
    count = 0
    for file in directory.glob('fast*'):
        with suppress(OSError):  # it is gone by now
            count += bool(file.stat().st_mode & S_IROTH)
    return count


def _is_private(channel) -> bool:
    """Return whether a topic comes from nodes of this package alone, and is a private one."""
    return bool(channel.sources) and all(_base(node) in _OWN for node in channel.sources) \
        and channel.name not in _NO_REGION and not channel.type_name.startswith((
            'rcl_interfaces/', 'lifecycle_msgs/', 'diagnostic_msgs/msg/DiagnosticArray'))


def _inside(channel, names: Iterable[str]) -> bool:
    return any(f'{channel.name}/'.startswith(f'/{name.strip("/")}/'.replace('//', '/'))
               for name in names)


def _base(node: str) -> str:
    return node.rpartition('/')[2]


def _is_daemon(node: str) -> bool:
    return _base(node).startswith(_DAEMON)


def _some_names(names: Sequence[str], most: int = _FEW) -> str:
    shown = ', '.join('the ros2 daemon' if _is_daemon(name) else printable(name)
                      for name in names[:most])
    return (shown or 'none') if len(names) <= most else f'{shown} and {len(names) - most} more'


def _print(topics):
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False,
                      width=None if sys.stdout.isatty() else 132)
    table = Table(header_style='bold', show_lines=True)
    for column, ratio in (('', 4), ('topic, service or node', 14), ('from, to', 12),
                          ('what it shows', 12), ('what to do', 11)):
        table.add_column(column, overflow='fold', ratio=ratio)
    for row in topics:
        ends = [_some_names(sorted(row.sources)) if row.sources else 'nobody now']
        if row.readers:
            ends.append(f'to {_some_names(sorted(row.readers))}')
        table.add_row('yes' if row.certain else 'may',
                      '\n'.join([*(printable(name) for name in row.what[:_FEW]),
                                 *([f'and {len(row.what) - _FEW} more']
                                   if len(row.what) > _FEW else []), printable(row.type_name)]),
                      '\n'.join(ends), row.reason, row.advice,
                      style='bold red' if row.certain and console.is_terminal else None)
    console.print(table)
