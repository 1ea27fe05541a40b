# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot and its privatizer, on the sample warehouse; ends when one of them does."""
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    GroupAction,
    IncludeLaunchDescription,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration, ThisLaunchFileDir
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

ARGUMENTS = {
    'namespace': ('demo', 'namespace of both nodes and their topics'),
    'chain_file': ('package://symdp_ros/config/warehouse.chain.yaml',
                   'chain (.yaml) or a map, such as a Nav2 route graph (.geojson), or '
                   'package://PACKAGE/PATH'),
    'initial_state': ('', 'needed where the file names none'),
    'epsilon': ('2.0', 'ε, at least 0: smaller is more private'),
    'period': ('1.0', 'seconds between regions of the robot'),
}


def generate_launch_description():
    """Start `patrol` and `privatizer` in one namespace."""
    patrol = {name: ParameterValue(LaunchConfiguration(name), value_type=kind)
              for name, kind in (('chain_file', str), ('initial_state', str), ('period', float))}
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, (default, text) in ARGUMENTS.items()),
        RegisterEventHandler(OnProcessExit(on_exit=[Shutdown(reason='a node of the demo ended')])),
        Node(package='symdp_ros', executable='patrol', namespace=LaunchConfiguration('namespace'),
             output='screen', parameters=[{**patrol, 'wait_for_subscribers': 1}]),
        GroupAction([IncludeLaunchDescription(
            [ThisLaunchFileDir(), '/privatizer.launch.py'],
            launch_arguments={'period': ''}.items())]),  # each message is a symbol
    ])
