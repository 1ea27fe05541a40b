# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Paths to fields, and conditions on messages: what they find, and what is refused."""
from types import SimpleNamespace as Message

from hypothesis import given
from hypothesis import strategies as st
import pytest
from symdp_ros import ConfigurationError
from symdp_ros.messages.field_paths import meets, NOT_INPUT, number_at, symbol_reader
from symdp_ros.messages.fields import FieldType, message_class

TYPES = {
    'fleet/msg/Fleet': {
        'name': FieldType('string'), 'robots': FieldType('fleet/msg/Robot', sequence=True),
        'data': FieldType('int16', sequence=True), 'from': FieldType('string'),
        'corners': FieldType('fleet/msg/Robot', size=2),
        'plain': FieldType('fleet/msg/Place', sequence=True),
        'vehicles': FieldType('fleet/msg/Vehicle', sequence=True)},
    'fleet/msg/Robot': {
        'model': FieldType('string'), 'name': FieldType('string'),
        'mode': FieldType('fleet/msg/Mode'), 'location': FieldType('fleet/msg/Place')},
    'fleet/msg/Mode': {'mode': FieldType('uint32'), 'ok': FieldType('boolean'),
                       'raw': FieldType('octet')},
    'fleet/msg/Place': {'x': FieldType('float'), 'y': FieldType('double'),
                        'index': FieldType('uint64')},
    'fleet/msg/Vehicle': {'level_id': FieldType('double'), 'fleet_id': FieldType('int8')},
}


def test_no_package_is_imported_but_those_of_interfaces(tmp_path, monkeypatch):
    """The name of a type may come from others: from the ROS graph, or from a recording."""
    (tmp_path / 'surprise').mkdir()
    (tmp_path / 'surprise' / '__init__.py').write_text('raise SystemExit("imported")')
    monkeypatch.syspath_prepend(tmp_path)
    for name in 'surprise/msg/Pose', 'surprise/action/Walk', '__main__/msg/Pose':
        with pytest.raises(ConfigurationError, match='is not found'):
            message_class(name)


def robot(name, mode=0, **values):
    return Message(model='m', name=name, mode=Message(mode=mode, ok=mode == 2, raw=bytes([mode])),
                   location=Message(x=1.0, y=2.0, index=7), **values)


def fleet(*robots, data=()):
    return Message(name='fleet', robots=list(robots), data=list(data), from_='here',
                   corners=list(robots), plain=[], vehicles=[])


def reader(path, *where):
    return symbol_reader(TYPES.__getitem__, 'fleet/msg/Fleet', path, where)[0]


TWO = fleet(robot('tb.1', 2), robot('tb2', 3), data=[1, -11, 5])


@pytest.mark.parametrize('path, value', [
    ('name', 'fleet'), ('from', 'here'), ('data[1]', '-11'), ('data[3]', None),
    ('data[99999999999999999999]', None),
    ('robots[name=tb.1].mode.mode', '2'), ('robots[name=tb2].mode.mode', '3'),
    ('robots[name=tb2].mode.ok', 'false'), ('robots[mode.ok=true].name', 'tb.1'),
    ('robots[mode.mode=3].name', 'tb2'), ('robots[mode.raw=3].mode.raw', '3'),
    ('robots[model=m].name', 'tb.1'), ('robots[name=tb2].location.index', '7'),
    ('robots[name=].name', NOT_INPUT), ('robots[name=tb].name', NOT_INPUT),
    ('robots[name=tb2 ].name', NOT_INPUT), ('robots[mode.mode=4].name', NOT_INPUT),
    ('robots[name=a=b.c].name', NOT_INPUT), ('corners[1].name', 'tb2'),
    ('corners[name=tb2].mode.mode', '3'), ('corners[2].name', None), ('plain[0].index', None)])
def test_what_a_path_finds(path, value):
    assert reader(path)(TWO) == value


@pytest.mark.parametrize('where, met', [
    ([], True), (['data[0]=1'], True), (['data[0]=1', 'data[1]=-11'], True),
    (['data[0]=1', 'data[1]=11'], False), (['data[3]=0'], False), (['name=fleet'], True),
    (['name='], False), (['robots[name=tb2].mode.mode=3'], True),
    (['robots[name=tb2].mode.mode=2'], False), (['robots[name=a].mode.mode=2'], False),
    (['robots[mode.mode=3].name=tb2'], True), (['from=here'], True), (['name=a=b'], False)])
def test_conditions(where, met):
    assert reader('data[2]', *where)(TWO) == ('5' if met else NOT_INPUT)
    condition = meets(TYPES.__getitem__, 'fleet/msg/Fleet', where)
    assert condition(TWO) is met if where else condition is None


def test_a_condition_comes_before_a_list_that_is_too_short():
    assert reader('data[5]', 'data[0]=1')(TWO) is None
    assert reader('data[5]', 'data[0]=2')(TWO) is NOT_INPUT
    assert reader('data[5]', 'data[6]=2')(TWO) is NOT_INPUT


@pytest.mark.parametrize('path, text', [
    ('', "field '': it is a whole fleet/msg/Fleet: name one of its fields, name, robots"),
    ('.', "'' is neither"), ('name.', "'' is neither"), ('.name', "'' is neither"),
    ('name\n', 'is neither'), ('robots[name=a', 'is neither'), ('robots[[0]]', 'is neither'),
    ('robots[0][1].name', 'is neither'), ('robots[name=a]b.name', 'is neither'),
    ('__class__', 'is neither'), ('nаme', 'is neither'),
    ('names', "'names': fleet/msg/Fleet has no field 'names'; it has name, robots, data, from"),
    ('robots', 'it is a list: add a .key=value. or an'), ('data', 'it is a list: add an .index.'),
    ('robots.name', r"no 'name' inside a value of type list of fleet/msg/Robot: add a \[key=val"),
    ('name.x', "no 'x' inside a value of type string"),
    ('data[0].x', "no 'x' inside a value of type int16"),
    ('name[0]', "'name' is of type string, which is not a list: leave out .0."),
    ('data[-1]', 'neither'),
    ('data[]', 'neither'), ('data[x]', r'\[x\] is neither \[index\] nor \[key=value\]'),
    ('data[x=1]', 'are of type int16 and have no field'),
    ('robots[name=a].mode', 'is a whole fleet/msg/Mode: name one of its fields, mode, ok, raw'),
    ('robots[names=a].name', "fleet/msg/Robot has no field 'names'; it has model, name"),
    ('robots[mode=2].name', "'mode': it is a whole fleet"),
    ('robots[location.x=2].name', "'location.x': it is of type float"),
    ('robots[mode.mode=-1].name', "can never have the value '-1'"),
    ('robots[mode.ok=1].name', "can never have the value '1'"),
    ('robots[0].mode.mode', r'no fixed order.* select one by its name, as robots\[name=NAME\]'),
    ('vehicles[0].fleet_id', r'vehicles\[fleet_id=NAME\]'),
    ('robots[name=a].location.x', 'is of type float: regions')])
def test_paths_that_are_refused(path, text):
    with pytest.raises(ConfigurationError, match=text):
        reader(path)


@pytest.mark.parametrize('item, text', [
    ('data[0]=ROBOT', "where has the condition 'data.0.=ROBOT': field .* can never have"),
    ('dta[0]=1', "where has the condition 'dta.0.=1': field .* has no field 'dta'"),
    ('', 'path=value'), ('data[0]', 'path=value'), ('=1', 'path=value'), ('a b=1', 'path=value'),
    ('robots[name=a]', 'path=value'), ('data[0]=x', 'never'), ('data[0]=32768', 'never'),
    ('data[0]=01', 'never'), ('data=1', 'is a list'), ('nothing=1', 'no field'),
    ('robots[0].name=a', 'no fixed order')])
def test_conditions_that_are_refused(item, text):
    with pytest.raises(ConfigurationError, match=text) as caught:
        reader('name', 'name=fleet', item)
    assert caught.value.setting == 'where'


def test_numbers():
    def number(path):
        return number_at(TYPES.__getitem__, 'fleet/msg/Fleet', path)

    assert number('robots[name=tb2].location.y')(TWO) == 2.0
    assert type(number('data[1]')(TWO)) is float
    for path in ('name', 'data', 'robots[name=tb2].mode.ok', 'robots[name=tb2].location'):
        with pytest.raises(ConfigurationError, match='it must be a number'):
            number(path)


@given(st.text() | st.text('adnmesrobt[]=.0\n'), st.text())
def test_any_path_is_found_or_refused(path, value):
    for ask in (lambda: reader(path)(TWO), lambda: reader('name', f'{path}={value}')(TWO)):
        try:
            assert isinstance(ask(), (str, type(None), type(NOT_INPUT)))
        except ConfigurationError:
            pass
