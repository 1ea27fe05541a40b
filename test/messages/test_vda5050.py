# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States of VDA 5050: where a robot is, and what a private one holds."""
import json

from hypothesis import given, strategies as st
import pytest
from refusals import refused
from shared_data import shared
from symdp_ros import ConfigurationError
from symdp_ros.maps.positions import Locator, places_of_nodes
from symdp_ros.messages.vda5050 import NoStateError, state_reader, StateTopic
from vda5050_states import message, state

TABLE = {'n1': 'dock', 'n2': 'hall'}
TOPIC = StateTopic('plant/uagv', 'v2', 'KIT', '0001')
VERSIONS = '2.0.0', '2.1.0', '3.0.0'


def locator(levels=None):
    return Locator(places_of_nodes({'dock': (0.0, 0.0), 'hall': (10.0, 0.0)}, levels))


@pytest.mark.parametrize('version', VERSIONS)
def test_the_last_node_is_the_region(version):
    read = state_reader(TABLE, None, '')
    assert [read(message(node, version=version)) for node in ('n1', 'n2', '', 'n3')] == [
        'dock', 'hall', None, None]


@pytest.mark.parametrize('version', VERSIONS)
def test_the_position_leads_to_the_region(version):
    read = state_reader({}, locator(), '')
    found = [read(message('n7', version=version, **how)) for how in (
        {'position': (1, -2)}, {'position': (9.5, 0.25)}, {},
        {'position': (1, 1), 'is_known': False}, {'position': (float('nan'), 0)},
        {'position': (10**400, 0)}, {'position': ('1', 0)},
        {'position': (True, 0)})]
    assert found == ['dock', 'hall', *[None] * 6]


def test_the_floor_counts_where_it_is_asked_for():
    levels = {'dock': 'ground', 'hall': 'first'}
    there = message('n7', position=(1, 0, 'first')), message('n7', position=(1, 0, 'roof'))
    assert [*map(state_reader({}, locator(levels), ''), there)] == ['dock', 'dock']
    assert [*map(state_reader({}, locator(levels), 'mapId'), there)] == ['hall', None]
    with refused(ConfigurationError, 'in mapId', setting='level_field'):
        state_reader({}, locator(), 'agvPosition.mapId')


@pytest.mark.parametrize('payload', [
    b'', b'{', b'[]', b'{}', b'7', b'{"lastNodeId": 7}', b'{"lastNodeId": null}', b'\xff\xfe', b'['
    * 100_000, b'{"lastNodeId": "n1", "x": ' + b'9' * 5000 + b'}',
    b'{"lastNodeId": "n1"}' + b' ' * (1 << 20)])
def test_what_is_no_state_is_said_without_its_content(payload):
    with pytest.raises(NoStateError) as caught:
        state_reader(TABLE, None, '')(payload)
    assert not caught.value.args and caught.value.__context__ is None


@given(st.one_of(st.binary(), st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.sampled_from([
        'lastNodeId', 'agvPosition', 'mobileRobotPosition', 'x', 'y', 'mapId', 'localized',
        'positionInitialized']), inner))).map(lambda value: json.dumps(value).encode())))
def test_whatever_comes_has_a_region_or_is_no_state(payload):
    for read in (state_reader(TABLE, None, ''), state_reader({}, locator(), 'mapId')):
        try:
            assert read(payload) in ('dock', 'hall', None)
        except NoStateError:
            pass


def test_a_topic_says_whose_states_it_has():
    assert StateTopic.of('plant/uagv/v2/KIT/0001/state') == TOPIC
    assert StateTopic.of('uagv/v3/KIT/1/state').private == 'uagv/v3/KIT/1/private_state'


@pytest.mark.parametrize('name', [
    '', 'state', 'v2/KIT/0001/state', '/v2/KIT/0001/state', 'uagv/2/KIT/0001/state',
    'uagv/v2/+/0001/state', 'uagv/v2/KIT/#', 'uagv/v2/KIT//state', 'uagv/v2/KIT/0001/order',
    'uagv/v2/KIT/0001/state/', 'u' * 1000 + '/v2/KIT/0001/state', 'u\0/v2/KIT/0001/state'])
def test_another_topic_is_refused(name):
    with refused(ConfigurationError, 'such as uagv/v2/KIT/0001/state', setting='state_topic'):
        StateTopic.of(name)


def test_a_private_state_holds_what_is_public_and_the_private_region():
    found = json.loads(TOPIC.private_state(41, 1_795_810_500_123_456_789, 'dock'))
    assert found == {'headerId': 41, 'timestamp': '2026-11-27T20:15:00.123Z', 'version': '2.0.0',
                     'manufacturer': 'KIT', 'serialNumber': '0001', 'lastNodeId': 'dock'}
    assert found.keys() < state('n1').keys()


@pytest.mark.parametrize('version', VERSIONS)
def test_the_states_of_these_tests_follow_the_published_schema(version):
    schemas = pytest.importorskip('jsonschema', reason='jsonschema is not installed')
    text = shared('vda5050', f'{version}.state.schema').read_text(encoding='utf-8')
    checker = schemas.Draft202012Validator(json.loads(text))
    checker.validate(state('n1', version=version))
    checker.validate(state('', version=version, position=(1.5, 2.0)))
    # What a private state has, the schema asks for, too; the rest tells of the robot.
    topic = StateTopic('uagv', f'v{version[0]}', 'KIT', '1')
    private = json.loads(topic.private_state(0, 0, 'n1'))
    assert {error.validator for error in checker.iter_errors(private)} == {'required'}
