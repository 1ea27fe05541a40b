# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Any arguments: a node that finds no problem has the values that were said last."""
from long_runs import fuzz
import rclpy
from rclpy.node import Node
from symdp_ros.ros.parameter_order import order_problems
from symdp_ros.ros.rclpy_private import overrides_of

_KEYS = ('/**', '/*', 'n', '/n', '/tb1/n', 'tb1/n', '/**/n', 'm', '/tb1/*', '/*/n', '/tb1/**')
_NAMES = ('epsilon', 'a.b', 'a.c', 'use_sim', 'delay', 'x')
_VALUES = ('2', '2.0', '0.5', 'true', 'n', 'x', "'8'", '8', '010', '[1, 2]', '[a, b]', '[1.5]',
           '[]', 'nan', '.inf', '1e3', '08', '!!str 5', '"q"', '0x1F', '1_000', '-3', '+.INF', '~',
           '2026-01-01', '[on, off]', '1e999', '0b1', '!!float 5')


def matches(key, node):
    """Return whether a key means a node: * is one part of its name, ** any number of them."""
    def rest(wanted, parts):
        if not wanted:
            return not parts
        if wanted[0] == '**':
            return any(rest(wanted[1:], parts[i:]) for i in range(len(parts) + 1))
        return bool(parts) and wanted[0] in ('*', parts[0]) and rest(wanted[1:], parts[1:])

    return rest(key.strip('/').split('/'), node.strip('/').split('/'))


def read(arguments, namespace):
    """Return the values that rclpy gives a node, and what is wrong with them."""
    context = rclpy.Context()
    rclpy.init(args=arguments, context=context)
    try:
        node = Node('n', context=context, namespace=namespace, start_parameter_services=False)
        try:
            return overrides_of(node), order_problems(node, arguments)
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()


def file_of(random, full_name, said):
    """Return the text of a parameter file; put what it says of the node into `said`."""
    text = ''
    for _ in range(random.randrange(1, 4)):
        key = random.choice(_KEYS)
        text += f'{key}:\n  ros__parameters:\n'
        for _ in range(random.randrange(1, 4)):
            name, value = random.choice(_NAMES), random.choice(_VALUES)
            outer, _, inner = name.partition('.')
            text += (f'    {outer}:\n      {inner}: {value}\n' if inner and random.random() < 0.6
                     else f'    {name}: {value}\n')
            if matches(key, full_name):
                said[name] = value
    return text


def test_what_was_said_last(tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'ros-log'))
    found = {True: 0, False: 0}

    def case(random):
        namespace, said = random.choice(['', '/tb1']), {}
        arguments = ['n', '--ros-args']
        for number in range(random.randrange(1, 4)):
            if random.random() < 0.5:
                prefix, name = random.choice(['', '', 'n:', 'm:']), random.choice(_NAMES)
                said_now = random.choice(_VALUES)
                arguments += ['-p', f'{prefix}{name}:={said_now}']
                if not prefix or matches(prefix[:-1], f'{namespace}/n'):
                    said[name] = said_now
            else:
                file = tmp_path / f'{number}.yaml'
                file.write_text(file_of(random, f'{namespace}/n', said))
                arguments += ['--params-file', str(file)]
        given, problems = read(arguments, namespace)
        # What ROS makes of the last values alone.
        wanted, _ = read(['n', '--ros-args', *(word for name, value in said.items()
                                               for word in ('-p', f'{name}:={value}'))], namespace)
        wrong = {name for name in {*wanted, *given}
                 if not same(wanted.get(name), given.get(name))}
        # ROS passes no empty list to a parameter of ours.
        wrong |= {name for name in ('epsilon', 'delay') if said.get(name) == '[]'}
        named = {name for name in _NAMES if any(problem.startswith((f'{name} was last said',
                                                                    f'{name} is an empty list'))
                                                for problem in problems)}
        assert named == wrong, (arguments, given, wanted, problems)
        found[bool(wrong)] += 1

    fuzz(case)
    print(found)


def same(one, other):
    """Return whether two values are one to an option, which takes 8 and '8', 2 and 2.0 alike."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    kinds = {type(one), type(other)}
    if kinds == {int, str}:
        return str(one) == str(other)
    if kinds == {int, float}:
        return one == other
    return len(kinds) == 1 and repr(one) == repr(other)
