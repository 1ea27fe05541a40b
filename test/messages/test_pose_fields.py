# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where a position is in a message, in which frame it is, and on which floor."""
from math import inf, nan
from types import SimpleNamespace as Message

import pytest
from symdp_ros import ConfigurationError
from symdp_ros.messages.field_paths import NOT_INPUT
from symdp_ros.messages.fields import FieldType
from symdp_ros.messages.poses import position_reader

DOUBLE, STRING = FieldType('double'), FieldType('string')
TYPES = {
    'a/Point': {'x': DOUBLE, 'y': DOUBLE, 'z': DOUBLE},
    'a/Pose': {'position': FieldType('a/Point'), 'orientation': FieldType('a/Turn')},
    'a/Turn': {'w': DOUBLE},
    'a/Header': {'stamp': FieldType('int32'), 'frame_id': STRING},
    'a/Stamped': {'header': FieldType('a/Header'), 'pose': FieldType('a/Pose')},
    'a/Transform': {'header': FieldType('a/Header'), 'child_frame_id': STRING,
                    'transform': FieldType('a/Move')},
    'a/Move': {'translation': FieldType('a/Point'), 'rotation': FieldType('a/Turn')},
    'a/Location': {'x': FieldType('float'), 'y': FieldType('float'), 'level_name': STRING},
    'a/Robot': {'name': STRING, 'location': FieldType('a/Location')},
    'a/Fleet': {'header': FieldType('a/Header'), 'name': STRING,
                'robots': FieldType('a/Robot', sequence=True),
                'path': FieldType('a/Point', sequence=True)},
    'a/Goal': {'header': FieldType('a/Header'), 'current': FieldType('a/Stamped')},
    'a/Transforms': {'transforms': FieldType('a/Transform', sequence=True)},
    'a/Data': {'data': FieldType('a/Point')},
    'a/Words': {'x': STRING, 'y': STRING},
}


def point(x=1.0, y=2.0):
    return Message(x=x, y=y, z=0.0)


def header(frame='map'):
    return Message(stamp=0, frame_id=frame)


def stamped(frame='map', **at):
    return Message(header=header(frame), pose=Message(position=point(**at)))


def transform(child, frame='map', **at):
    return Message(header=header(frame), child_frame_id=child,
                   transform=Message(translation=point(**at)))


def fleet(*names, frame='map'):
    return Message(header=header(frame), name='f', path=[point()], robots=[
        Message(name=name, location=Message(x=i, y=2.0, level_name=f'L{i}'))
        for i, name in enumerate(names)])


def read(kind, message, field='', foreign=(), **settings):
    frames = []
    reader = position_reader(TYPES.__getitem__, kind, field, on_foreign_frame=frames.append,
                             **settings)
    found = reader(message)
    assert frames == list(foreign)
    return found


HERE = (1.0, 2.0, None)


@pytest.mark.parametrize('kind, message, field', [
    ('a/Point', point(), ''), ('a/Point', point(), 'data'), ('a/Pose', stamped().pose, ''),
    ('a/Stamped', stamped(), 'data'), ('a/Stamped', stamped(), 'pose'),
    ('a/Stamped', stamped(), 'pose.position'), ('a/Transform', transform('base'), ''),
    ('a/Data', Message(data=point()), 'data'),
    ('a/Goal', Message(header=header('odom'), current=stamped()), 'current'),
    ('a/Transforms', Message(transforms=[transform('odom', x=5.0), transform('base')]),
     'transforms[child_frame_id=base]'),
    ('a/Fleet', fleet('b', 'tb1'), 'robots[name=tb1].location'),
    ('a/Fleet', fleet('b', 'tb1'), 'robots[name=tb1]'), ('a/Fleet', fleet(), 'path[0]')])
def test_where_the_position_is(kind, message, field):
    assert read(kind, message, field) == HERE


def test_the_floor():
    level = 'robots[name=tb1].location.level_name'
    settings = {'field': 'robots[name=tb1].location', 'level_field': level}
    assert read('a/Fleet', fleet('b', 'tb1'), **settings) == (1.0, 2.0, 'L1')
    assert read('a/Fleet', fleet('b'), **settings) is NOT_INPUT
    assert read('a/Fleet', fleet('b', 'tb1'), 'robots[name=tb1]', level_field='name',
                where=['name=f']) == (1.0, 2.0, 'f')
    assert read('a/Fleet', fleet('b', 'tb1'), 'robots[name=tb1]', where=['name=g']) is NOT_INPUT


@pytest.mark.parametrize('x', [nan, inf, -inf])
def test_what_is_no_position(x):
    assert read('a/Point', point(x=x)) is None
    assert read('a/Stamped', stamped(y=x)) is None
    assert read('a/Fleet', fleet(), 'path[1]') is None


@pytest.mark.parametrize('frame, map_frame, known', [
    ('map', 'map', True), ('/map', 'map', True), ('map', '/map', True), ('', 'map', False),
    ('odom', 'map', False), ('odom', 'odom', True), ('//map', 'map', False),
    ('Map', 'map', False)])
def test_frames(frame, map_frame, known):
    for kind, message, field in (
            ('a/Stamped', stamped(frame), 'pose.position'),
            ('a/Goal', Message(header=header('x'), current=stamped(frame)), 'current'),
            ('a/Fleet', fleet('tb1', frame=frame), 'path[0]'),
            ('a/Transforms', Message(transforms=[transform('b', frame)]),
             'transforms[child_frame_id=b]')):
        assert read(kind, message, field, [] if known else [frame], map_frame=map_frame) == (
            HERE if known else None)


@pytest.mark.parametrize('kind, settings, text', [
    ('a/Turn', {}, r'a a/Turn leads to no position: a/Turn has neither x and y .* it has w\.'),
    ('a/Fleet', {}, 'leads to no position'), ('a/Fleet', {'field': 'robots'}, 'list of a/Robot'),
    ('a/Fleet', {'field': 'robots[0]'}, 'no fixed order'),
    ('a/Stamped', {'field': 'header'}, "the field 'header' leads to no position"),
    ('a/Point', {'field': 'x'}, 'of type double: it must lead to what has x and y'),
    ('a/Words', {}, "field 'x': it is of type string: it must be a number"),
    ('a/Point', {'level_field': 'x'}, 'regions are discrete'),
    ('a/Point', {'level_field': 'level'}, "no field 'level'"),
    ('a/Point', {'where': ['x']}, 'where has the condition')])
def test_no_position(kind, settings, text):
    with pytest.raises(ConfigurationError, match=text):
        read(kind, None, **settings)
