# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that are filled from a template: what fits, and what is refused, by its field."""
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, PoseWithCovariance
import pytest
from rcl_interfaces.msg import ParameterDescriptor
from std_msgs.msg import Bool, Byte, Int16MultiArray, String, UInt8
from symdp_ros.errors import ConfigurationError
from symdp_ros.ros.outputs.templates import Symbol, template_filler

VALUES = {'region': Symbol('dock', '7'), 'next': Symbol('hall', None), 'x': 1.5, 'y': -2.0,
          'next_x': 3.0, 'next_y': 4.0, 'stamp': Time(sec=5, nanosec=6), 'seconds': 5.5}


def filled(text, kind, **values):
    return template_filler(text, kind, 'map')({**VALUES, **values})


def test_a_text_and_a_number():
    assert filled('{data: "at {region}, then {next}"}', String).data == 'at dock, then hall'
    assert filled('{data: "{region}"}', UInt8).data == 7
    assert filled('{data: [1, 32, "{region}", "{next}"]}', Int16MultiArray,
                  next=Symbol('hall', '9')).data.tolist() == [1, 32, 7, 9]
    flag = filled('{data: "{region}"}', Bool, region=Symbol('dock', 'true'))
    assert flag.data is True
    assert filled('{data: "{region}"}', Byte, region=Symbol('dock', '200')).data == b'\xc8'


def test_messages_within_messages_and_the_header():
    pose = filled('{pose: {position: {x: "{x}", y: "{next_y}"}, orientation: {w: 1}}}',
                  PoseStamped)
    assert (pose.pose.position.x, pose.pose.position.y, pose.pose.orientation.w) == (1.5, 4.0, 1.0)
    assert pose.header.frame_id == 'map' and pose.header.stamp == VALUES['stamp']
    pose = filled('{header: {stamp: stamp, frame_id: "{region}"}}', PoseStamped)
    assert pose.header.frame_id == 'dock' and pose.header.stamp == VALUES['stamp']
    array = filled('status: [{name: "{region}", values: [{key: next, value: "{next}"}]}]',
                   DiagnosticArray)
    status = array.status[0]
    assert isinstance(status, DiagnosticStatus)
    assert (status.name, status.values[0].key, status.values[0].value) == ('dock', 'next', 'hall')


@pytest.mark.parametrize('text, kind, problem', [
    ('', String, """a text such as '{data: "{region}"}', with all its quotes"""),
    ('{data: [', String, 'it is not valid YAML'),
    ('data', String, "'data' is no std_msgs/msg/String: write its fields, such as {data: …}"),
    ('{dta: 1}', String, "std_msgs/msg/String has no field 'dta'; it has data"),
    ('{data: "{truth}"}', String, 'data: there is no {truth}: it can be {region}, {next}'),
    ('{data: {a: 1}}', String, "data: {'a': 1} is no string"),
    ('{data: 3}', Int16MultiArray, 'data: 3 is no list'),
    ('{data: ["{x}"]}', Int16MultiArray, "data[0]: '1.5' is no int16"),
    ('{data: [a]}', Int16MultiArray, "data[0]: 'a' is no int16"),
    ('{data: 300}', UInt8, "data: '300' is no uint8"),
    ('{covariance: [1.0, 2.0]}', PoseWithCovariance,
     'covariance: it has 2 values: a double[36] has 36'),
    ('{integer_range: [{}, {}]}', ParameterDescriptor,
     'integer_range: it has 2 values: a sequence<rcl_interfaces/IntegerRange, 1> has at most 1'),
    ('{data: 1.5}', UInt8, "data: '1.5' is no uint8"),
    ('{data: "{next}"}', UInt8, "data: 'hall' is no uint8: give the value of each region in"),
    ('{data: {}}', UInt8, 'data: {} is no uint8'),
    ('{data: [1, {region}]}', Int16MultiArray, 'no int16: write "{region}" in quotes'),
    ('{data: maybe}', Bool, "data: 'maybe' is no boolean"),
    ('{pose: {position: {x: .nan}}}', PoseStamped, 'pose.position.x'),
    ('{pose: {position: {q: 1}}}', PoseStamped, 'pose.position: geometry_msgs/msg/Point has no'),
    ('{data: dock}', String, 'nothing in it depends on the region'),
    ('{name: "{seconds}"}', DiagnosticStatus, 'write {region}, {next}, or {x} and {y}'),
    ('{data: .inf}', UInt8, "data: 'inf' is no uint8"),
    ('{data: !!timestamp foo}', String, 'line 1: the tag !!timestamp stands there'),
    ('{data: !!bool maybe}', Bool, 'line 1: data must be true or false'),
    ('{data: &a [*a]}', Int16MultiArray, 'line 1: the alias *a stands there'),
    ('{data: {? [1] : 2}}', String, 'must be a name'),
    ('!!python/object/apply:os.system [ls]', String,
     'the tag !!python/object/apply:os.system stands there'),
])
def test_what_does_not_fit_is_refused(text, kind, problem):
    with pytest.raises(ConfigurationError) as caught:
        filled(text, kind)
    assert problem in str(caught.value) and str(caught.value).count('output_template') == 1


def test_a_region_without_a_position():
    with pytest.raises(ConfigurationError, match='the map has no position of dock'):
        filled('{pose: {position: {x: "{x}"}}}', PoseStamped, x=None)


def test_a_date_is_a_text():
    filled('{name: "{region}", message: 2026-11-22}', DiagnosticStatus)


def test_nested_aliases_take_no_time():
    rows = ['a: &a0 [x, x, x, x, x, x, x, x, x]', *(
        f'b{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 9)}]' for i in range(1, 9))]
    with pytest.raises(ConfigurationError, match='write the value itself'):
        filled('\n'.join(rows), String)
