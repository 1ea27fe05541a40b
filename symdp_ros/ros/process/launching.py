# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the launch files of the nodes have in common; needs launch_ros."""
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
import sys
from types import FrameType
from typing import Any, List  # launch_ros takes no list[str]

from launch.action import Action
from launch.actions import (DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction,
                            Shutdown)
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.logging import get_logger
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from symdp_ros.errors import ConfigurationError, SymdpError
from symdp_ros.files.quoted import quoted
from symdp_ros.files.resources import resolve_path
from symdp_ros.fleet.file import read_fleet
from symdp_ros.options import FLEET, LAUNCH, Option, PARAMETERS, TOPICS, USE_SIM_TIME


class _QuotedValue(ParameterValue):
    """A value that launch writes in quotes if it is a text: rcl takes 08 for a number."""

    def evaluate(self, context: LaunchContext) -> Any:
        return quoted(super().evaluate(context))


_OF_FLEET = (
    FLEET,
    Option('processes', str, 'one', 'one: one process for all robots, the node fleet, which also '
           'reads the file again when asked; each: a process for each robot',
           choices=('one', 'each')),
    *(option for option in LAUNCH if option.name in ('log_level', 'respawn', 'respawn_delay')))


def launch_description(node: str, file: str) -> LaunchDescription:
    """
    Return what starts one node; each of its parameters and topics is an argument.

    An empty argument leaves its parameter to params_file. After an include, launch keeps its
    arguments for the files that are included next. Here they are removed, so that no robot gets
    the ε of another.

    :param node: its name in `options.PARAMETERS`.
    :param file: the launch file that calls this.
    """
    before = _configurations_before(file)
    return LaunchDescription([
        *(DeclareLaunchArgument(option.name, default_value=_text(option.default),
                                description=option.description)
          for option in (*LAUNCH, *TOPICS[node])),
        *(DeclareLaunchArgument(option.name, default_value='', description=_described(option))
          for option in _parameters(node)),
        OpaqueFunction(function=_start, args=[node, before]),
    ])


def fleet_description(file: str) -> LaunchDescription:
    """
    Return what starts the robots of a fleet file, in one process or in one each.

    :param file: the launch file that calls this.
    """
    before = _configurations_before(file)
    return LaunchDescription([
        *(DeclareLaunchArgument(
            option.name, default_value=None if option.default is None else _text(option.default),
            description=option.description) for option in _OF_FLEET),
        OpaqueFunction(function=_start_fleet, args=[before]),
    ])


def _parameters(node: str) -> tuple[Option, ...]:
    return (USE_SIM_TIME, *PARAMETERS[node])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _described(option: Option) -> str:
    text = f'parameter {option.name}: {option.description}'
    if option.choices:
        text += f' (one of {", ".join(option.choices)})'
    if option.default is None:
        return f'{text}; required, here or in params_file'
    return text if option.default == '' else (
        f'{text}; if neither this nor params_file sets it: {_text(option.default)}')


def _configurations_before(file: str) -> dict[str, str] | None:
    """
    Return the launch configurations as they are before the include that is loading the file.

    An include sets its arguments before anything in the file runs, and has no scope of its own.
    So its own frame is looked up, which is on the stack while the file is loaded. None: the file
    is not being included.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not IncludeLaunchDescription.execute.__code__:
        frame = frame.f_back
    if frame is None or frame.f_locals['self'].launch_description_source.location != file:
        return None
    return dict(frame.f_locals['context'].launch_configurations)


def _given(context: LaunchContext, node: str, known: Sequence[Option],
           before: dict[str, str] | None) -> dict[str, str]:
    """Return the launch configurations; after an include, restore those before it."""
    given = dict(context.launch_configurations)
    if before is not None:
        _warn_of_unknown(node, {name for name in given if given[name] != before.get(name)},
                         [option.name for option in known])
        context.launch_configurations.clear()
        context.launch_configurations.update(before)
    return given


def _start(context: LaunchContext, node: str, before: dict[str, str] | None) -> list[Action]:
    given = _given(context, node, (*LAUNCH, *TOPICS[node], *_parameters(node)), before)
    with _shutting_down(context, node) as actions:
        actions.append(_node(node, given))
    return actions


def _start_fleet(context: LaunchContext, before: dict[str, str] | None) -> list[Action]:
    given = _given(context, 'fleet', _OF_FLEET, before)
    with _shutting_down(context, 'fleet') as actions:
        actions += _fleet({option.name: option.parse(given[option.name])
                           for option in _OF_FLEET})
    return actions


@contextmanager
def _shutting_down(context: LaunchContext, node: str) -> Iterator[list[Action]]:
    """Give a list for the actions; after an error it holds the end of the launch instead."""
    actions: list[Action] = []
    try:
        yield actions
    except SymdpError as error:
        # Not raised: launch would then end without stopping the nodes that it has just started.
        _log_failure(context, f'{node}.launch.py: {error}')
        actions[:] = [Shutdown(reason='a wrong argument')]


def _node(node: str, given: dict[str, str]) -> Node:
    parameters: list[ParameterFile | dict[str, ParameterValue]] = []
    if given['params_file']:
        file = resolve_path(given['params_file'])
        if not file.is_file():
            raise ConfigurationError(f'params_file:={given["params_file"]}: there is no such file')
        parameters.append(ParameterFile(file))
    parameters.append({
        option.name: _QuotedValue(_value(option, given[option.name]),
                                  value_type=List[str] if option.kind is list else option.kind)
        for option in _parameters(node) if given[option.name]})
    launch = {option.name: option.parse(given[option.name]) for option in LAUNCH}
    return Node(
        package='symdp_ros', executable=node, name=node, namespace=launch['namespace'],
        output='screen', parameters=parameters,
        arguments=['--ros-args', '--log-level', launch['log_level']],
        remappings=[(topic.name, given[topic.name]) for topic in TOPICS[node]
                    if given[topic.name] != topic.name],
        respawn=launch['respawn'], respawn_delay=launch['respawn_delay'],
        on_exit=None if launch['respawn'] else _on_exit)


def _fleet(given: dict[str, Any]) -> list[Node]:
    file = resolve_path(given['fleet'])
    fleet = read_fleet(file)
    common: dict[str, Any] = {
        'package': 'symdp_ros', 'output': 'screen',
        'arguments': ['--ros-args', '--log-level', given['log_level']],
        'respawn': given['respawn'], 'respawn_delay': given['respawn_delay'],
        'on_exit': None if given['respawn'] else _on_exit}
    if given['processes'] == 'one':
        return [Node(executable='fleet', name='fleet', parameters=[{'fleet': str(file)}],
                     **common)]
    fleet.make_state_dir()
    return [Node(
        executable='privatizer', name='privatizer', namespace=robot.namespace,
        parameters=[{name: _parameter(robot.name, name, value)
                     for name, value in robot.parameters.items()}],
        remappings=list(robot.remappings.items()),
        additional_env={} if robot.domain is None else {'ROS_DOMAIN_ID': str(robot.domain)},
        **common) for robot in fleet.robots.values()]


def _parameter(robot: str, name: str, value: Any) -> ParameterValue:
    if value == []:
        raise ConfigurationError(f'{robot}: {name}: []: ROS passes no empty list to a process of '
                                 'its own; processes:=one takes it')
    return _QuotedValue(value, value_type=List[str] if isinstance(value, list) else type(value))


def _warn_of_unknown(node: str, names: set[str], known: list[str]) -> None:
    for name in sorted(names.difference(known)):
        close = get_close_matches(name, known, 1)
        get_logger('symdp_ros').warning(
            f'{node}.launch.py has no argument {name}: '
            + (f'did you mean {close[0]}?' if close else 'it has no effect'))


def _value(option: Option, text: str) -> Any:
    value = option.parse(text)
    if value == []:
        raise ConfigurationError(f'{option.name}:=[]: ROS passes no empty list to a node')
    return value


def _on_exit(event: ProcessExited, context: LaunchContext) -> None:
    """Note that the node failed; other nodes go on."""
    if event.returncode != 0:
        _log_failure(context, f'{event.process_name} ended with status {event.returncode}')


def _log_failure(context: LaunchContext, message: str) -> None:
    """Log a message, and let the whole launch end with status 1 when it ends."""
    # Launch's own handler of errors in its loop does both.
    context.asyncio_loop.call_exception_handler({'message': message})
