# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests by launch_testing share: an installed launch file, and who looks at its nodes."""
import atexit
from contextlib import contextmanager
from pathlib import Path
import shutil
import tempfile
import time
import unittest

import pytest

for _package in 'launch_testing', 'launch_testing_ros':
    pytest.importorskip(_package, reason=f'{_package} is not installed')

from ament_index_python.packages import (get_package_share_directory,  # noqa: E402, I100
                                         PackageNotFoundError)
from harness import free_domain, PATIENCE, rclpy  # noqa: E402
from launch import LaunchDescription  # noqa: E402
from launch.actions import (GroupAction, IncludeLaunchDescription,  # noqa: E402
                            SetEnvironmentVariable, SetLaunchConfiguration)
from launch_testing.actions import ReadyToTest  # noqa: E402
from launch_testing.asserts import assertExitCodes  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402

try:
    SHARE = Path(get_package_share_directory('symdp_ros'))
except (PackageNotFoundError, LookupError):
    pytest.skip('the package is not installed in a sourced workspace', allow_module_level=True)


def description(file, **arguments):
    """Return what launch_testing starts, an installed file; with it the ROS domain."""
    domain = free_domain()
    environment = {'ROS_DOMAIN_ID': str(domain), 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                   'ROS_HOME': str(new_folder())}
    return LaunchDescription([
        GroupAction([  # environment and all hold for this file alone
            *(SetEnvironmentVariable(*item) for item in environment.items()),
            # Processors may be busy: what ends by SIGINT, ends by it.
            *(SetLaunchConfiguration(f'{signal}_timeout', str(PATIENCE))
              for signal in ('sigterm', 'sigkill')),
            IncludeLaunchDescription(str(SHARE / 'launch' / file),
                                     launch_arguments=arguments.items())]),
        ReadyToTest()]), {'domain': domain}


def new_folder() -> Path:
    """Return a folder that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix='symdp-launched-'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Observer:
    """A node in the ROS domain of the nodes under test."""

    def __init__(self, node, executor):
        self.node, self._executor = node, executor

    def wait_until(self, condition, what):
        until = time.monotonic() + PATIENCE
        while not (value := condition()):
            assert time.monotonic() < until, what() if callable(what) else what
            self._executor.spin_once(timeout_sec=0.02)
        return value

    def wait_for_nodes(self, *names):
        """Wait until these nodes are there, and no others."""
        def found():
            return sorted(f'{namespace.rstrip("/")}/{name}' for name, namespace
                          in self.node.get_node_names_and_namespaces()
                          if name != 'observer' and not name.startswith('launch_ros_'))

        self.wait_until(lambda: found() == sorted(names), lambda: f'not {names}, but {found()}')

    def listen(self, topic, message_type):
        """Return the list that messages of a topic are appended to."""
        messages = []
        self.node.create_subscription(message_type, topic, messages.append, 1000)
        return messages


@contextmanager
def observer(domain):
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node('observer', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        yield Observer(node, executor)
    finally:
        executor.remove_node(node)
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


class EndsWithStatus0(unittest.TestCase):
    """Launch has sent SIGINT to all nodes. Import it, and say when: `post_shutdown_test`."""

    def test_every_node_ends_with_status_0(self, proc_info):
        self.assertNotEqual([*proc_info.process_names()], [])
        assertExitCodes(proc_info)
