# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot and its privatizer, on the sample warehouse; ends when one of them does."""
from dataclasses import replace

from launch import LaunchDescription
from launch.actions import (DeclareLaunchArgument, IncludeLaunchDescription, RegisterEventHandler,
                            Shutdown)
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration, ThisLaunchFileDir
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from symdp_ros.options import CHAIN_FILE, EPSILON, INITIAL_STATE, NAMESPACE, PERIOD_OF_REGIONS

ARGUMENTS = (
    replace(NAMESPACE, default='demo'),
    replace(CHAIN_FILE, default='package://symdp_ros/config/warehouse.chain.yaml'),
    INITIAL_STATE, replace(EPSILON, default=2.0), PERIOD_OF_REGIONS)


def generate_launch_description():
    """Start `patrol` and `privatizer` in one namespace."""
    patrol = {option.name: ParameterValue(LaunchConfiguration(option.name), value_type=option.kind)
              for option in (CHAIN_FILE, INITIAL_STATE, PERIOD_OF_REGIONS)}
    return LaunchDescription([
        *(DeclareLaunchArgument(option.name, default_value=str(option.default),
                                description=option.description) for option in ARGUMENTS),
        RegisterEventHandler(OnProcessExit(on_exit=[Shutdown(reason='a node of the demo ended')])),
        Node(package='symdp_ros', executable='patrol', namespace=LaunchConfiguration('namespace'),
             output='screen', parameters=[{**patrol, 'wait_for_subscribers': 1}]),
        IncludeLaunchDescription(
            [ThisLaunchFileDir(), '/privatizer.launch.py'],
            # Each message is a symbol, and each demo a word.
            launch_arguments={'period': '', 'state_file': 'none'}.items()),
    ])
