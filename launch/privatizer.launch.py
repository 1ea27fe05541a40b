# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Start `privatizer` for one robot.

For several robots, put each include of this file into a `GroupAction` of its own: launch keeps the
arguments of one include for the next otherwise.
"""
from difflib import get_close_matches
import json
import os

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, OpaqueFunction
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

ARGUMENTS = {
    'namespace': ('', 'namespace of the node and its topics, such as robot_1'),
    'params_file': ('', 'YAML file with parameters; the arguments below go before it'),
    'log_level': ('info', 'debug, info, warn, error or fatal'),
    'region': ('region', 'topic with the sensitive region'),
    'private_region': ('private_region', 'topic with the private region'),
}
PARAMETERS = {
    'use_sim_time': (bool, 'take the time from /clock'),
    'autostart': (bool, 'configure and activate at once; false: wait for a lifecycle manager'),
    'chain_file': (str, 'chain (.yaml) or a map, such as a Nav2 route graph (.geojson), or '
                        'package://PACKAGE/PATH'),
    'initial_state': (str, 'the public state from which every word starts'),
    'self_loops': (bool, 'every state can also follow itself'),
    'epsilon': (float, 'ε, at least 0: smaller is more private'),
    'adjacency': (int, 'k, at least 1: how many symbols may differ'),
    'policy': (str, 'guided, planned or paper'),
    'sampling': (str, 'message, change or period'),
    'period': (float, 'seconds between symbols, for sampling:=period'),
    'state_file': (str, 'file that carries the word over a restart'),
}
_KINDS = {float: 'a number', int: 'an integer', bool: 'true or false'}
_SHARED = 'use_sim_time', 'autostart', 'log_level'  # that all robots may well have in common
_BEFORE = 'symdp_ros.privatizer.launch.py'  # holds the arguments of the include before, as JSON


def generate_launch_description():
    """Declare the arguments; those left empty leave the parameter to params_file."""
    return LaunchDescription([
        OpaqueFunction(function=_check_names),
        # In a scope of its own, so that no default value is left to the files included next.
        GroupAction([
            *(DeclareLaunchArgument(name, default_value=default, description=text)
              for name, (default, text) in ARGUMENTS.items()),
            *(DeclareLaunchArgument(name, default_value='', description=f'parameter {name}: {text}')
              for name, (_, text) in PARAMETERS.items()),
            OpaqueFunction(function=_node),
        ]),
    ])


def _check_names(context):
    """
    Warn of mistyped arguments; refuse those that are still set from the include before.

    Robot 2 would else get robot 1's ε without a word. Whether an argument was passed again with the
    same value, launch does not tell; in a `GroupAction` each, no argument outlives its include.
    """
    configurations = context.launch_configurations
    names = [*ARGUMENTS, *PARAMETERS]
    for name in configurations:
        close = get_close_matches(name, names, 1, 0.85)
        if close and name not in names:
            get_logger('symdp_ros').warning(
                f'privatizer.launch.py has no argument {name}: did you mean {close[0]}?')
    given = {name: configurations[name] for name in names
             if configurations.get(name) and name not in _SHARED}
    before = json.loads(configurations.get(_BEFORE, '{}'))
    same = ' '.join(f'{name}:={value}' for name, value in given.items()
                    if before.get(name) == value)
    if same:
        raise RuntimeError(
            f'privatizer.launch.py is included again while {same} is set from the include before: '
            'put each include into a GroupAction of its own (<group> in XML)')
    configurations[_BEFORE] = json.dumps(given)


def _node(context):
    def given(name):
        return LaunchConfiguration(name).perform(context)

    parameters = []
    if given('params_file'):
        if not os.path.isfile(given('params_file')):
            raise RuntimeError(f'params_file:={given("params_file")}: there is no such file')
        parameters.append(ParameterFile(given('params_file')))
    values = {name: _converted(name, given(name)) for name in PARAMETERS if given(name)}
    parameters.append({name: ParameterValue(value, value_type=type(value))
                       for name, value in values.items()})
    return [Node(
        package='symdp_ros', executable='privatizer', name='privatizer',
        namespace=given('namespace'), output='screen', parameters=parameters,
        arguments=['--ros-args', '--log-level', given('log_level')],
        remappings=[(name, given(name)) for name in ('region', 'private_region')
                    if given(name) != name],
        on_exit=_fail)]


def _converted(name, text):
    kind = PARAMETERS[name][0]
    try:
        return {'true': True, 'false': False}[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        raise RuntimeError(f'{name}:={text}: {name} must be {_KINDS[kind]}') from None


def _fail(event, context):
    """
    Let the launch end with status 1, when it ends, where the node did not end well.

    What else was launched goes on meanwhile, as it does without any other node.
    """
    if event.returncode != 0:
        # Launch's own handler of errors in its loop: it logs the message and sets the status.
        context.asyncio_loop.call_exception_handler({
            'message': f'{event.process_name} ended with status {event.returncode}'})
