# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Fleet files at random: right ones, ones with wrong values, damaged ones.

Reading one gives a fleet, or refuses it in one line that begins with the file: nothing else ever
comes out, so `~/reload` of a wrong file changes nothing.
"""
import json

from damage import damaged
from long_runs import fuzz
from symdp_ros.errors import ConfigurationError
from symdp_ros.fleet.fleet_file import read_fleet
from symdp_ros.options import PARAMETERS, TOPICS

_VALUES = ('', '~', 'dock', 'guided', 'adaptive', 'period', 'pose', 'change', 'true', 'off', '0',
           '1', '007', '1.5', '-1', '.inf', '.nan', '1e-3', '0x1F', '1:30', '2026-11-22',
           '2026-13-45', '9' * 99, '1' + '0' * 400, '0b_', '[]', '[a]', '["a=b", dock=1]', '[[1]]',
           '{a: b}', '""', '"\\0"', '"x\\ny"', '"\\x1b[2J"', '~nobody.at.all/x', '~root/x', '/',
           'x/../y', '"{data: \'{region}\'}"', 'std_msgs/msg/String', 'nav2_route', 'px4', '../x',
           '/tf', 'a//b', 'private_region', '!!bool maybe', '!!timestamp foo', '!!int ""',
           '&a [*a]', '*x', '&x y', '!x y', '!!str 5', '<<', '=', 'string', '[string, pose]',
           '[pose, custom]', '41', '50', '232', '233')
_KEYS = (*(option.name for option in PARAMETERS['privatizer']),
         *(option.name for option in TOPICS['privatizer']), 'domain', 'preset', 'use_sim_time',
         'qos_overrides./a/region.subscription.depth', 'epsilom', '<<', '', 'x' * 1001)
_TOP = ('fleet_domain', 'ledger_file', 'subject_budget', 'state_dir', 'accounting', 'defaults')
_NAMES = ('tb1', 'tb2', 'r3', 'a', 'Z', '1', 'a-b', '', 'x' * 101, '~', '厨房')


_OPTIONS = {option.name: option for option in (*PARAMETERS['privatizer'], *TOPICS['privatizer'])}
_OF_KIND = {float: ('1', '0.5', '1e-3'), int: ('1', '42'), bool: ('true', 'off'),
            str: ('dock', '007', 'a/b', '2026-11-22'), list: ('[]', '[a, b]', '["1=dock"]')}


def value(random, key):
    option = _OPTIONS.get(key)
    if option is None or random.random() < 0.2:
        return random.choice(_VALUES)
    return random.choice(option.choices or _OF_KIND[option.kind])


def settings(random, least):
    keys = random.sample(_KEYS, random.choice((least, least, 1, 2, 5)))
    return '{' + ', '.join(f'? {json.dumps(key)} : {value(random, key)}' for key in keys) + '}'


def fleet_file(random):
    rows = [f'{key}: {random.choice(_VALUES)}' for key in random.sample(_TOP[:5], random.choice(
        (0, 0, 0, 1, 2)))]
    rows.append('defaults: {chain_file: a.chain.yaml, epsilon: 2}' if random.random() < 0.9
                else f'defaults: {settings(random, 1)}')
    names = random.sample(_NAMES[:5], random.randint(1, 3)) if random.random() < 0.9 else (
        random.choices(_NAMES, k=2))
    rows.append('robots:\n' + '\n'.join(f'  ? {json.dumps(name)}\n  : {settings(random, 0)}'
                                        for name in names))
    random.shuffle(rows)
    return '\n'.join(rows) + '\n'


def test_fleet_files(tmp_path):
    counts = {True: 0, False: 0}

    def case(random):
        file = tmp_path / 'fleet.yaml'
        data = fleet_file(random).encode()
        file.write_bytes(damaged(random, data) if random.random() < 0.5 else data)
        try:
            fleet = read_fleet(file, random.choice((None, 0, 41)))
        except ConfigurationError as error:
            counts[False] += 1
            message = str(error)
            assert message.isprintable() and len(message) < 3000, ascii(message)
            assert message.startswith(str(file)), message
            return
        counts[True] += 1
        for robot in fleet.robots.values():
            assert robot.raw_topics or robot.parameters.get('broker')  # regions come by MQTT
            assert all(robot.private_topics)
            assert all(type(value) in (str, int, float, bool, list)
                       for value in robot.parameters.values()), robot.parameters
            assert all(abs(value) <= 2**63 for value in robot.parameters.values()
                       if type(value) is int)

    fuzz(case)
    print(counts)
    if sum(counts.values()) > 200:
        assert min(counts.values()) > 10, 'what is generated is not all right, nor all wrong'
