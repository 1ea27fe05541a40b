# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Start `privatizer` for one robot.

For several robots, put each include of this file into a `GroupAction` of its own: otherwise launch
keeps the arguments of one include for the next.
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
from symdp_ros.options import LAUNCH, LAUNCHED_PARAMETERS

NAMES = [option.name for option in (*LAUNCH, *LAUNCHED_PARAMETERS)]
_SHARED = 'use_sim_time', 'autostart', 'log_level'  # that all robots may have in common
_BEFORE = 'symdp_ros.privatizer.launch.py'  # holds the arguments of the previous include, as JSON


def generate_launch_description():
    """Declare the arguments; an empty one leaves its parameter to params_file."""
    return LaunchDescription([
        OpaqueFunction(function=_check_names),
        # In a scope of its own, so that no default value is left to the files included next.
        GroupAction([
            *(DeclareLaunchArgument(option.name, default_value=option.default,
                                    description=option.description) for option in LAUNCH),
            *(DeclareLaunchArgument(option.name, default_value='', description=_described(option))
              for option in LAUNCHED_PARAMETERS),
            OpaqueFunction(function=_node),
        ]),
    ])


def _described(option):
    text = f'parameter {option.name}: {option.description}'
    if option.default is None:
        return f'{text}; required, here or in params_file'
    return text if option.default == '' else (
        f'{text}; if neither this nor params_file sets it: {str(option.default).lower()}')


def _check_names(context):
    """
    Warn of mistyped arguments; refuse those that are still set from the include before.

    Otherwise robot 2 would silently get robot 1's ε. Launch does not show whether an argument was
    passed again with the same value; in a `GroupAction` of its own, no argument outlives its
    include.
    """
    configurations = context.launch_configurations
    for name in configurations:
        close = get_close_matches(name, NAMES, 1, 0.85)
        if close and name not in NAMES:
            get_logger('symdp_ros').warning(
                f'privatizer.launch.py has no argument {name}: did you mean {close[0]}?')
    given = {name: configurations[name] for name in NAMES
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
    parameters.append({
        option.name: ParameterValue(option.parse(given(option.name)), value_type=option.kind)
        for option in LAUNCHED_PARAMETERS if given(option.name)})
    return [Node(
        package='symdp_ros', executable='privatizer', name='privatizer',
        namespace=given('namespace'), output='screen', parameters=parameters,
        arguments=['--ros-args', '--log-level', given('log_level')],
        remappings=[(name, given(name)) for name in ('region', 'private_region')
                    if given(name) != name],
        on_exit=_fail)]


def _fail(event, context):
    """Let the whole launch end with status 1 if the node failed; other nodes go on until then."""
    if event.returncode != 0:
        # Launch's own handler of errors in its loop: it logs the message and sets the status.
        context.asyncio_loop.call_exception_handler({
            'message': f'{event.process_name} ended with status {event.returncode}'})
