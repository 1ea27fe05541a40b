# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every preset in config/presets: its parameters, and messages of the type that it names."""
from pathlib import Path
import re

import numpy as np
import pytest
from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from symdp_ros.logs.recordings.serialized import decoder
from symdp_ros.logs.recordings.wanted import Wanted
from symdp_ros.maps import read_chain
from symdp_ros.messages.field_paths import NOT_INPUT
from symdp_ros.options import PARAMETERS
import yaml

PRESETS = Path(__file__).resolve().parents[2] / 'config' / 'presets'
DEFINITIONS = Path(__file__).with_name('message_definitions')
NAMES = ('autoware', 'lcas', 'nav2_route', 'open_rmf', 'patrolling_sim', 'px4', 'system_modes',
         'vda5050')


def parameters(name):
    return yaml.safe_load((PRESETS / f'{name}.yaml').read_text())['/**']['ros__parameters']


def test_all_presets_are_tested():
    files = {file.name for file in PRESETS.iterdir()}
    assert files == {f'{name}.yaml' for name in NAMES} | {'px4.chain.yaml', 'autoware.chain.yaml'}


@pytest.mark.parametrize('name', NAMES)
def test_parameters(name):
    options = {option.name: option for option in PARAMETERS['privatizer']}
    given = parameters(name)
    for parameter, value in given.items():
        assert options[parameter].check(value) == value
    # These are the operator's choice.
    assert not {'chain_file', 'initial_state', 'epsilon', 'adjacency', 'protect', 'sampling',
                'period', 'self_loops'} & set(given)


@pytest.mark.parametrize('name', NAMES)
def test_the_comment_says_how_to_start_it(name):
    comment = '\n'.join(line for line in (PRESETS / f'{name}.yaml').read_text().splitlines()
                        if line.startswith('#'))
    for part in ('Topic ', 'Type ', 'Source ', 'commit ', f'config/presets/{name}.yaml',
                 '-p epsilon:=2.0', '-p protect:=30.0', '-p chain_file:=',
                 parameters(name)['message_type']):
        assert part in comment


@pytest.mark.parametrize('name', ['px4', 'autoware'])
def test_the_modes_are_those_of_the_chain_file(name):
    modes = [item.partition('=')[2] for item in parameters(name)['symbol_map']]
    chain = read_chain(PRESETS / f'{name}.chain.yaml')
    assert sorted(modes) == sorted(chain.states)
    assert not chain.states_without_staying()


def test_the_page_lists_the_presets():
    page = (PRESETS.parents[1] / 'docs' / 'robots.md').read_text()
    section = re.search(r'## Presets\n(.*?)\n## ', page, re.DOTALL)[1]
    rows = dict(re.findall(r'^\| [^|]+ \| `(\w+)` \| ([^|]+) \|', section, re.MULTILINE))
    assert sorted(rows) == sorted(NAMES)
    for name in NAMES:
        assert f'`{parameters(name)["message_type"]}`' in rows[name]


ROBOTS = [{'name': 'other', 'location': {'x': 1.0, 'y': 2.0, 'level_name': 'L1'}},
          {'name': '1', 'location': {'x': 3.0, 'y': 4.0, 'level_name': 'L2'}}]
#: Preset, type in a recording, fields of a message → what is read from it.
MESSAGES = [
    ('autoware', 'autoware_adapi_v1_msgs/msg/OperationModeState', {'mode': 2}, '2'),
    ('lcas', 'std_msgs/msg/String', {'data': 'WayPoint1'}, 'WayPoint1'),
    ('nav2_route', 'nav2_msgs/action/ComputeAndTrackRoute_FeedbackMessage',
     {'feedback': {'last_node_id': 0, 'next_node_id': 7}}, '0'),
    ('nav2_route', 'nav2_msgs/action/ComputeAndTrackRoute_FeedbackMessage',
     {'feedback': {'last_node_id': 0, 'next_node_id': 7, 'rerouted': True}}, NOT_INPUT),
    ('open_rmf', 'rmf_fleet_msgs/msg/FleetState', {'name': 'FLEET', 'robots': ROBOTS},
     (3.0, 4.0, 'L2')),
    ('open_rmf', 'rmf_fleet_msgs/msg/FleetState', {'name': 'FLEET', 'robots': ROBOTS[:1]},
     NOT_INPUT),
    ('open_rmf', 'rmf_fleet_msgs/msg/FleetState', {'name': 'other', 'robots': ROBOTS}, NOT_INPUT),
    ('patrolling_sim', 'std_msgs/msg/Int16MultiArray', {'data': [1, 11, 5]}, '5'),
    ('patrolling_sim', 'std_msgs/msg/Int16MultiArray', {'data': [0, 11, 5]}, NOT_INPUT),
    ('patrolling_sim', 'std_msgs/msg/Int16MultiArray', {'data': [1, 12]}, NOT_INPUT),
    ('px4', 'px4_msgs/msg/VehicleStatus', {'nav_state': 14, 'nav_state_display': 4}, '14'),
    ('system_modes', 'system_modes_msgs/msg/ModeEvent',
     {'start_mode': {'label': 'WEAK'}, 'goal_mode': {'label': 'STRONG'}}, 'STRONG'),
    ('vda5050', 'vda5050_msgs/msg/OrderState', {'last_node_id': 'node7'}, 'node7'),
    ('vda5050', 'vda5050_interfaces/msg/State', {'last_node_id': 'node7'}, 'node7'),
]


def definition(message_type):
    """Return the definition of a type, with those that it holds: fields and types alone."""
    package, _, name = message_type.split('/')
    file = DEFINITIONS / f'{package}.{name}.msg'
    return {message_type: ('ros2msg', file.read_text())} if file.exists() else {}


def serialized(message_type, given):
    """Return a message with these fields, and zeros, empty strings and lists in all others."""
    store = get_typestore(Stores.LATEST)
    for _, text in definition(message_type).values():
        types = get_types_from_msg(text, message_type)
        store.register({name: fields for name, fields in types.items()
                        if name not in store.fielddefs})

    def made(name, given):
        return store.types[name](**{
            field: value(kind, detail, given.get(field))
            for field, (kind, detail) in store.fielddefs[name][1]})

    def value(kind, detail, given):
        if kind == Nodetype.NAME:
            return made(detail, given or {})
        if kind == Nodetype.BASE:
            return given if given is not None else {'string': '', 'bool': False}.get(detail[0], 0)
        (of, of_detail), length = detail
        elements = [value(of, of_detail, element) for element in
                    given or [None] * (length if kind == Nodetype.ARRAY else 0)]
        return elements if of == Nodetype.NAME or of_detail[0] == 'string' else np.array(
            elements, of_detail[0])

    return bytes(store.serialize_cdr(made(message_type, given), message_type))


@pytest.mark.parametrize('name, message_type, fields, read', MESSAGES)
def test_messages_of_recordings(name, message_type, fields, read):
    given = parameters(name)
    field, level, *where = (
        item.replace('[ROBOT]', '[name=1]').replace('ROBOT', '1').replace('FLEET', 'name=FLEET')
        for item in (given['field'], given.get('level_field', ''), *given.get('where', ())))
    wanted = Wanted(field, tuple(where), pose=given.get('input') == 'pose', level_field=level)
    decode = decoder(message_type, definition(message_type), wanted)
    assert decode(serialized(message_type, fields)) == read
