# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Options as parameters of a node: declared with a description, type and range, and read-only.

A wrong value, or a name that is probably mistyped, does not raise in the constructor of a node,
which would end in a traceback. It becomes a sentence, with which the configure transition fails.
"""
from collections.abc import Sequence
from difflib import get_close_matches
from math import inf
from sys import float_info
from typing import Any

from rcl_interfaces.msg import (FloatingPointRange, IntegerRange, ParameterDescriptor,
                                SetParametersResult)
from rclpy.node import Node
from rclpy.parameter import Parameter
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.options import LARGEST_INTEGER, Option, PARAMETERS, warnings_of
from symdp_ros.ros.rclpy_private import offer_parameter_services, overrides_of

_TYPES = {float: Parameter.Type.DOUBLE, int: Parameter.Type.INTEGER, bool: Parameter.Type.BOOL,
          str: Parameter.Type.STRING, list: Parameter.Type.STRING_ARRAY}


def descriptor(option: Option) -> ParameterDescriptor:
    """Return what `ros2 param describe` shows."""
    result = ParameterDescriptor(description=option.description, read_only=True,
                                 type=_TYPES[option.kind].value)
    if option.choices:
        result.additional_constraints = 'one of ' + ', '.join(option.choices)
    if option.default is None:
        result.additional_constraints = 'required'
    if option.least > -inf and option.kind is float:
        result.floating_point_range = [FloatingPointRange(
            from_value=float(option.least), to_value=float(min(option.most, float_info.max)))]
    elif option.least > -inf:
        result.integer_range = [IntegerRange(
            from_value=int(option.least), to_value=int(min(option.most, LARGEST_INTEGER)))]
    return result


def declare(node: Node, options: Sequence[Option]) -> tuple[dict[str, Any], list[str]]:
    """
    Check all options, declare them as parameters of a node, and fix every parameter from then on.

    The node must have been made without parameter services: they are made here. If the parameter
    `parameter_services` is false, they are not, and nothing is declared: a fleet starts faster.

    No other node may change a parameter, not even `use_sim_time`: else it could control the node
    by its own /clock.

    :return: the values by name, None where a required one is missing or a value is wrong; and one
        sentence for each problem.
    """
    overrides = overrides_of(node)
    values: dict[str, Any] = {}
    problems = []
    for option in options:
        value = option.default
        if overrides.get(option.name) is not None:
            try:
                value = option.check(overrides[option.name])
            except ConfigurationError as error:
                problems.append(str(error))
        elif value is None:
            problems.append(f'{option.name} is not set: {option.description}')
        values[option.name] = value
    problems += _check_names(node, overrides, [option.name for option in options])
    if not problems:
        defaults = {option.name: option.default for option in options}
        for sentence in warnings_of(values, {name for name in overrides if name in values
                                             and values[name] != defaults[name]}):
            node.get_logger().warning(sentence)
    if not overrides:
        required = ' and '.join(option.name for option in options if option.default is None)
        problems = [
            f'no parameter reached this node, and it needs {required}: set them by -p NAME:=VALUE '
            'or --params-file FILE after --ros-args, with ros2 launch by NAME:=VALUE or '
            'params_file:=FILE; the name at the top of a file must be /** or match '
            f'{node.get_fully_qualified_name()}; --help explains all parameters']

    def refuse(parameters):
        fixed = {parameter.name: None for parameter in parameters
                 if node.has_parameter(parameter.name)}
        return SetParametersResult(successful=not fixed, reason=(
            f'{", ".join(fixed)}: parameters are fixed when the node starts' if fixed else ''))

    if values['parameter_services']:  # else no other node could read or set what is declared
        for option in options:
            _declare_one(node, option, values[option.name])
        node.add_on_set_parameters_callback(refuse)
        offer_parameter_services(node)
    return values, problems


def _check_names(node, overrides, names):
    """Return a sentence for each name that is probably mistyped; log the others."""
    of_any_node = {option.name for options in PARAMETERS.values() for option in options}
    unknown = [name for name in overrides if name not in names and not node.has_parameter(name)
               and not name.startswith('qos_overrides.')]
    problems, others = [], []
    for name in unknown:
        close = get_close_matches(name, names, 1, 0.8)
        if name in of_any_node:
            others.append(name)
        # A longer name, such as period_ms, may be another node's in a file that they share.
        elif close and not name.startswith(close[0]):
            problems.append(f'there is no parameter {printable(name)}: did you mean {close[0]}?')
        else:
            node.get_logger().warning(
                f'there is no parameter {printable(name)}: it has no effect'
                + (f'; did you mean {close[0]}?' if close else ''))
    if others:
        node.get_logger().info('parameters of other nodes of this package, without effect here: '
                               + ', '.join(others))
    return problems


def _declare_one(node, option, value):
    described, kind = descriptor(option), _TYPES[option.kind]
    if value is None:
        node.declare_parameter(option.name, kind, described, ignore_override=True)
    elif value != []:
        node.declare_parameter(option.name, value, described, ignore_override=True)
    else:  # rclpy cannot tell the type of an empty list
        node.declare_parameter(option.name, kind, ignore_override=True)
        node.set_parameters([Parameter(option.name, kind, value)])
        node.set_descriptor(option.name, described)
