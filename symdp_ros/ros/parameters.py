# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Parameters as the operator sets them: declared with a description, type and range, and read-only.

A value that is wrong, or a name that is probably mistyped, does not stop the constructor of a
node, which would end in a traceback; it is kept as a sentence, for the configure transition to
fail with.
"""
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf, isfinite
from sys import float_info

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.parameter import Parameter
from rclpy.parameter_service import ParameterService
from symdp_ros.core.printable import printable

_Type = Parameter.Type
_KINDS = {
    _Type.DOUBLE: 'a number',
    _Type.INTEGER: 'an integer',
    _Type.BOOL: 'true or false',
    _Type.STRING: 'a string',
    _Type.STRING_ARRAY: 'a list of strings',
}
_LARGEST_INTEGER = 2**62


@dataclass(frozen=True)
class Setting:
    """
    One parameter.

    :param default: None: the operator must set it.
    :param least: numbers only, the smallest value allowed; `most`: the largest.
    :param choices: strings only, the values allowed.
    """

    name: str
    type: Parameter.Type
    default: object
    description: str
    least: float = -inf
    most: float = inf
    choices: Sequence[str] = ()

    def descriptor(self) -> ParameterDescriptor:
        """Return what `ros2 param describe` shows."""
        descriptor = ParameterDescriptor(description=self.description, read_only=True)
        if self.choices:
            descriptor.additional_constraints = 'one of ' + ', '.join(self.choices)
        if self.default is None:
            descriptor.additional_constraints = 'required'
        if self.least > -inf and self.type == _Type.DOUBLE:
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=float(self.least), to_value=float(min(self.most, float_info.max)))]
        elif self.least > -inf:
            descriptor.integer_range = [IntegerRange(
                from_value=int(self.least), to_value=int(min(self.most, _LARGEST_INTEGER)))]
        return descriptor

    def check(self, value):
        """
        Return the value in the setting's own type: numbers accept integers, strings numbers.

        :raises ValueError: what is wrong with it, for the operator.
        """
        accepted = {_Type.DOUBLE: (float, int), _Type.INTEGER: int, _Type.BOOL: bool,
                    _Type.STRING: (str, int), _Type.STRING_ARRAY: Sequence}[self.type]
        wrong = (not isinstance(value, accepted)
                 or isinstance(value, bool) and self.type != _Type.BOOL
                 or self.type == _Type.STRING_ARRAY and not _all_strings(value))
        if wrong:
            raise ValueError(f'{self.name} is {_shown(value)}: it must be {_KINDS[self.type]}')
        if self.type == _Type.DOUBLE:
            value = float(value)
            if not isfinite(value):
                raise ValueError(f'{self.name} is {value}: it must be a finite number')
        if self.type == _Type.STRING:
            value = str(value)
        if self.type == _Type.STRING_ARRAY:
            value = list(value)
        if self.least > -inf and not self.least <= value:
            raise ValueError(f'{self.name} is {value}: it must be at least {self.least:g}')
        most = min(self.most, _LARGEST_INTEGER) if self.type == _Type.INTEGER else self.most
        if self.type in (_Type.DOUBLE, _Type.INTEGER) and not value <= most:
            raise ValueError(f'{self.name} is {value}: it must be at most {most:g}')
        if self.choices and value not in self.choices:
            raise ValueError(f'{self.name} is {printable(repr(value))}: it must be one of '
                             + ', '.join(self.choices))
        return value


PARAMETER_SERVICES = Setting(
    'parameter_services', _Type.BOOL, True,
    'whether others on the graph can ask for parameters (ros2 param); false: the services are '
    'not there')


def declare(node, settings: Sequence[Setting], elsewhere: Callable[[], Set[str]] = frozenset,
            ) -> tuple[Mapping[str, object], list[str]]:
    """
    Declare all settings on a node, and fix every parameter from then on.

    The node must have been made without parameter services: they are made here, where
    `PARAMETER_SERVICES` asks for them.

    Nobody on the graph may change one: not `use_sim_time` either, as a caller's /clock would then
    drive the node.

    :param elsewhere: returns the names of parameters of other nodes, which may stand in the same
        parameter file; called only where there are names that this node does not know.
    :return: the values by name, None where a required one is missing or a value is wrong; and one
        sentence for each problem.
    """
    overrides = {name: parameter.value for name, parameter in node._parameter_overrides.items()}
    values, problems = {}, []
    settings = [*settings, PARAMETER_SERVICES]
    for setting in settings:
        value = setting.default
        if overrides.get(setting.name) is not None:
            try:
                value = setting.check(overrides[setting.name])
            except ValueError as error:
                problems.append(str(error))
        elif setting.default is None:
            problems.append(f'{setting.name} is not set: {setting.description}')
        values[setting.name] = value
        _declare_one(node, setting, value)
    problems += _check_names(node, overrides, [setting.name for setting in settings], elsewhere)

    def refuse(parameters):
        fixed = {parameter.name: None for parameter in parameters
                 if node.has_parameter(parameter.name)}
        return SetParametersResult(successful=not fixed, reason=(
            f'{", ".join(fixed)}: parameters are fixed when the node starts' if fixed else ''))

    node.add_on_set_parameters_callback(refuse)
    if values['parameter_services']:
        node.parameter_services = ParameterService(node)
    return values, problems


def _check_names(node, overrides, names, elsewhere):
    """Return a sentence for each name that is probably mistyped; log the others."""
    unknown = [name for name in overrides
               if not node.has_parameter(name) and not name.startswith('qos_overrides.')]
    known_elsewhere = elsewhere() if unknown else ()
    problems, others = [], []
    for name in unknown:
        close = get_close_matches(name, names, 1, 0.8)
        if name in known_elsewhere:
            others.append(name)
        # A longer name, such as period_ms, may be another node's in a file that they share.
        elif close and not name.startswith(close[0]):
            problems.append(f'there is no parameter {printable(name)}: did you mean {close[0]}?')
        else:
            node.get_logger().warning(f'there is no parameter {printable(name)}: it has no effect')
    if others:
        node.get_logger().info('for other nodes of this package, and without effect here: '
                               + ', '.join(others))
    if not overrides:
        problems.append('no parameter reached this node: does the name at the top of the '
                        f'parameter file match {node.get_fully_qualified_name()}? /** matches '
                        'every node')
    return problems


def _declare_one(node, setting, value):
    descriptor = setting.descriptor()
    if value is None:
        node.declare_parameter(setting.name, setting.type, descriptor, ignore_override=True)
    elif value != []:
        node.declare_parameter(setting.name, value, descriptor, ignore_override=True)
    else:  # rclpy cannot tell the type of an empty list
        node.declare_parameter(setting.name, setting.type, ignore_override=True)
        node.set_parameters([Parameter(setting.name, setting.type, value)])
        descriptor.type = setting.type.value
        node.set_descriptor(setting.name, descriptor)


def _all_strings(value):
    return not isinstance(value, (str, bytes)) and all(isinstance(item, str) for item in value)


def _shown(value):
    return printable(f'the string {value!r}' if isinstance(value, str) else repr(value))
