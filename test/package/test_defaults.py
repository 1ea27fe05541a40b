# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is left out means the same on the command line and in the nodes."""
import inspect

import pytest
from symdp_ros import OfflineMechanism, OnlineMechanism
from symdp_ros.cli import main
from symdp_ros.cli.logs import release
from symdp_ros.core.registry import DEFAULT_POLICY, POLICIES
from symdp_ros.options import PARAMETERS


def defaults_of_command(module, arguments):
    """Return the options of a subcommand that is given nothing but what it needs."""
    import argparse

    parser = argparse.ArgumentParser()
    module.add_parser(parser.add_subparsers())
    return vars(parser.parse_args(arguments))


def test_the_policy_is_guided_in_the_library():
    assert DEFAULT_POLICY == 'guided' in POLICIES
    for function in (OnlineMechanism, OfflineMechanism):
        assert inspect.signature(function).parameters['policy'].default == 'guided'


@pytest.mark.parametrize('module, arguments', [
    (release, ['release', 'log.csv', '-o', 'out', '--chain', 'map.yaml', '--epsilon', '1'])])
def test_the_policy_is_left_open_on_the_command_line(module, arguments):
    assert module in main.COMMANDS
    assert defaults_of_command(module, arguments)['policy'] == 'auto'


def test_the_policy_is_left_open_in_every_node():
    for node in ('log_release', 'privatizer'):
        policy, = (option for option in PARAMETERS[node] if option.name == 'policy')
        assert policy.default == 'auto' and policy.choices == (*POLICIES, 'auto')
