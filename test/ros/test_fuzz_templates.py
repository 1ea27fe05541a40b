# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Templates of messages at random: they fill a message that can be sent, or say why not."""
from damage import damaged
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, PoseWithCovariance
from long_runs import fuzz
from rclpy.serialization import serialize_message
from std_msgs.msg import Bool, Byte, Float32, Int16MultiArray, String, UInt8
from symdp_ros.errors import ConfigurationError
from symdp_ros.ros.outputs.templates import template_filler
from test_output_templates import VALUES

_KINDS = (DiagnosticArray, DiagnosticStatus, PoseStamped, PoseWithCovariance, Bool, Byte, Float32,
          Int16MultiArray, String, UInt8)
_TEMPLATES = (
    '{data: "{region}"}', '{data: [1, "{region}"]}', '{data: "{x}"}', '{name: "{region}"}',
    '{header: {stamp: stamp, frame_id: "{next}"}, pose: {position: {x: "{x}", y: 1.5}}}',
    '{pose: {position: {x: "{next_x}"}}, covariance: [' + ', '.join('0' * 36) + ']}',
    'status: [{level: 1, name: "{region}", values: [{key: a, value: "{next}"}]}]')
_SCALARS = ('.inf', '-.inf', '.nan', '2026-11-22', '!!int ""', '!!bool maybe', '!!timestamp foo',
            '1e400', '1' + '0' * 400, '0b_', '~', 'true', '-1', '256', '"{region}"', '"{seconds}"',
            '"{x}{y}"', '"{region"', '{region}', '*a', '&a [*a]', '&a x', '[]', '{}', '"\\0"')


def test_templates():
    def case(random):
        text = random.choice(_TEMPLATES)
        for _ in range(random.choice((0, 1, 2))):
            before, colon, after = text.rpartition(': ') if random.random() < 0.5 else (
                text.partition(': '))
            end = min((place for place in map(after.find, ',}]') if place >= 0),
                      default=len(after))
            text = before + colon + random.choice(_SCALARS) + after[end:]
        if random.random() < 0.5:
            text = damaged(random, text.encode()).decode(
                'utf-8', random.choice(('replace', 'surrogateescape')))
        try:
            message = template_filler(text, random.choice(_KINDS), 'map')(VALUES)
        except ConfigurationError as error:
            said = str(error)
            assert said.startswith('output') and len(said) < 3000 and said.isprintable(), said
        else:
            serialize_message(message)

    fuzz(case)
