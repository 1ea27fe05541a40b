# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the launch files of this package have in common; needs launch_ros."""
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any, List  # launch_ros takes no list[str]

from launch.actions import (DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler,
                            Shutdown)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.launch_description_entity import LaunchDescriptionEntity
from launch.logging import get_logger
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from symdp_ros.errors import ConfigurationError, SymdpError
from symdp_ros.files.quoted import quoted
from symdp_ros.files.resources import resolve_path
from symdp_ros.fleet.fleet_file import read_fleet
from symdp_ros.options import (CHAIN_FILE, EPSILON, FLEET, INITIAL_STATE, LAUNCH, NAMESPACE,
                               Option, PARAMETERS, PERIOD_OF_REGIONS, PROTECT, TOPICS,
                               USE_SIM_TIME)
from symdp_ros.ros.process.launch_includes import Passed, passed_to, watch_includes


class _QuotedValue(ParameterValue):
    """A value that launch writes in quotes if it is a text: rcl takes 08 for a number."""

    def evaluate(self, context: LaunchContext) -> Any:
        return quoted(super().evaluate(context))


_OF_FLEET = (
    FLEET,
    Option('processes', str, 'one', 'one: one process for all robots, the node fleet, which also '
           'reads the file again when asked; each: a process for each robot',
           choices=('one', 'each')),
    replace(USE_SIM_TIME, default='', meaning='of every robot, whatever the file says: '
            f'{USE_SIM_TIME.meaning}'),
    *(option for option in LAUNCH if option.name in ('log_level', 'respawn', 'respawn_delay')))
#: What the demo sets of a privatizer.
_DEMO = {option.name: option for option in (
    replace(NAMESPACE, default='demo'),
    replace(CHAIN_FILE, default='package://symdp_ros/config/warehouse.chain.yaml'),
    replace(EPSILON, default=2.0), replace(PROTECT, default=10.0), PERIOD_OF_REGIONS)}
_OF_ANY_FILE = {option.name for options in (_OF_FLEET, LAUNCH, *PARAMETERS.values(),
                                            *TOPICS.values()) for option in options}
#: What launch itself reads.
_OF_LAUNCH = ('launch-prefix', 'launch-prefix-filter', 'emulate_tty', 'sigterm_timeout',
              'sigkill_timeout')

_Make = Callable[[dict[str, str]], Sequence[LaunchDescriptionEntity]]


def launch_description(node: str) -> LaunchDescription:
    """
    Return what starts one node; each of its parameters and topics is an argument.

    An empty argument leaves its parameter to params_file.

    :param node: its name in `options.PARAMETERS`.
    """
    return _description(f'{node}.launch.py', _arguments_of(node), partial(_node, node))


def fleet_description() -> LaunchDescription:
    """Return what starts the robots of a fleet file, in one process or in one each."""
    return _description(
        'fleet.launch.py',
        [(option, _default(option), option.description) for option in _OF_FLEET], _fleet)


def demo_description() -> LaunchDescription:
    """Return what starts a simulated robot and its privatizer, until one of them ends."""
    return _description('demo.launch.py', [
        (option, default, text) if option.name not in _DEMO else
        (_DEMO[option.name], _default(_DEMO[option.name]), _DEMO[option.name].description)
        for option, default, text in _arguments_of('privatizer')], _demo)


def _description(file: str, arguments: Sequence[tuple[Option, str | None, str]],
                 make: _Make) -> LaunchDescription:
    """
    Return what declares arguments, and starts what they ask for.

    Only what is passed to the file itself counts, not what the files that include it have set: no
    robot gets the ε of another. After an include launch keeps its arguments for the files that are
    included next. Here they are removed.

    :param arguments: option, default (None: it is required) and description.
    """
    watch_includes()
    description = LaunchDescription([
        DeclareLaunchArgument(option.name, default_value=default, description=text)
        for option, default, text in arguments])
    defaults = {option.name: default or '' for option, default, _ in arguments}
    description.add_action(
        OpaqueFunction(function=_start, args=[file, description, defaults, make]))
    return description


def _arguments_of(node: str) -> list[tuple[Option, str | None, str]]:
    return [*((option, _default(option), option.description)
              for option in (*LAUNCH, *TOPICS[node])),
            *((option, '', _described(option)) for option in _parameters(node))]


def _parameters(node: str) -> tuple[Option, ...]:
    return (USE_SIM_TIME, *PARAMETERS[node])


def _default(option: Option) -> str | None:
    return None if option.default is None else _text(option.default)


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


def _start(context: LaunchContext, file: str, description: LaunchDescription,
           defaults: dict[str, str], make: _Make) -> list[LaunchDescriptionEntity]:
    passed = passed_to(description, context)
    try:
        if passed is None:
            raise ConfigurationError(
                'launch does not say which arguments are passed to this file, so none is taken: '
                'start it by `ros2 launch`, or by an include (IncludeLaunchDescription)')
        _check_names(file, passed, defaults)
        given = {name: passed.arguments.get(name) or default for name, default in defaults.items()}
        actions = [*make(given)]
    except SymdpError as error:
        # Not raised: launch would then end without stopping the nodes that it has just started.
        _log_failure(context, f'{file}: {error}')
        actions = [Shutdown(reason='a wrong argument')]
    if passed is not None:
        actions.append(OpaqueFunction(function=_restore, args=[passed]))
    return actions


def _restore(context: LaunchContext, passed: Passed) -> None:
    """Set the launch configurations back to what they were before the include."""
    own = {name: value for name, value in passed.arguments.items() if name in _OF_LAUNCH}
    context.launch_configurations.clear()
    context.launch_configurations.update(passed.before | own)


def _check_names(file: str, passed: Passed, known: Collection[str]) -> None:
    """Refuse names that are probably mistyped; log the others, and what is not taken."""
    log = get_logger('symdp_ros')
    for name in passed.arguments.keys() - {*known, *_OF_LAUNCH}:
        close = get_close_matches(name, [*known], 1, 0.8)
        # As the node does: a longer name, such as period_ms, may be meant for something else.
        if close and not name.startswith(close[0]) and name not in _OF_ANY_FILE:
            raise ConfigurationError(f'there is no argument {name}: did you mean {close[0]}?')
        log.warning(f'{file} has no argument {name}: it has no effect')
    inherited = sorted((passed.before.keys() & set(known)) - passed.arguments.keys())
    if inherited:
        log.warning(f'{file} takes only what is passed to it. Set elsewhere, and not taken: '
                    + ', '.join(inherited))


def _node(node: str, given: dict[str, str]) -> list[Node]:
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
    launch = _parsed(LAUNCH, given)
    return [Node(
        package='symdp_ros', executable=node, name=node, namespace=launch['namespace'],
        output='screen', parameters=parameters,
        arguments=['--ros-args', '--log-level', launch['log_level']],
        remappings=[(topic.name, given[topic.name]) for topic in TOPICS[node]
                    if given[topic.name] != topic.name],
        respawn=launch['respawn'], respawn_delay=launch['respawn_delay'],
        on_exit=None if launch['respawn'] else _on_exit)]


def _fleet(texts: dict[str, str]) -> list[Node]:
    given = _parsed(_OF_FLEET, texts)
    file, time = resolve_path(given['fleet']), given[USE_SIM_TIME.name]
    parameters = {} if time is None else {USE_SIM_TIME.name: time}
    fleet = read_fleet(file, overrides=parameters)
    common: dict[str, Any] = {
        'package': 'symdp_ros', 'output': 'screen',
        'arguments': ['--ros-args', '--log-level', given['log_level']],
        'respawn': given['respawn'], 'respawn_delay': given['respawn_delay'],
        'on_exit': None if given['respawn'] else _on_exit}
    if given['processes'] == 'one':
        return [Node(executable='fleet', name='fleet',
                     parameters=[{'fleet': str(file), **parameters}], **common)]
    fleet.make_state_dir()
    return [Node(
        executable='privatizer', name='privatizer', namespace=robot.namespace,
        parameters=[{name: _parameter(robot.name, name, value)
                     for name, value in robot.parameters.items()}],
        remappings=list(robot.remappings.items()),
        additional_env={} if robot.domain is None else {'ROS_DOMAIN_ID': str(robot.domain)},
        **common) for robot in fleet.robots.values()]


def _demo(given: dict[str, str]) -> list[LaunchDescriptionEntity]:
    patrol = {option.name: _QuotedValue(option.parse(given[option.name]), value_type=option.kind)
              for option in (CHAIN_FILE, INITIAL_STATE, PERIOD_OF_REGIONS)}
    return [
        RegisterEventHandler(OnProcessExit(on_exit=[Shutdown(reason='a node of the demo ended')])),
        Node(package='symdp_ros', executable='patrol', namespace=given['namespace'],
             output='screen', parameters=[{**patrol, 'wait_for_subscribers': 1}]),
        # The period is that of the robot; each demo is a word.
        *_node('privatizer', {**given, 'period': '', 'state_file': 'none'})]


def _parsed(options: Sequence[Option], given: dict[str, str]) -> dict[str, Any]:
    """Return the values of options; None where nothing is given."""
    texts = {**given, 'log_level': given['log_level'].lower()}
    return {option.name: option.parse(texts[option.name])
            if texts[option.name] or option.kind is str else None for option in options}


def _parameter(robot: str, name: str, value: Any) -> ParameterValue:
    if value == []:
        raise ConfigurationError(f'{robot}: {name}: []: ROS passes no empty list to a process of '
                                 'its own; processes:=one takes it')
    return _QuotedValue(value, value_type=List[str] if isinstance(value, list) else type(value))


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
