# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every private topic is known wherever topics are named; what goes out is one list."""
from pathlib import Path

import pytest
from symdp_ros.fleet.fleet_file import read_fleet
from symdp_ros.fleet.isolation import domain_bridges, sros2_policy, zenoh_bridges
from symdp_ros.nodes.help import help_of
from symdp_ros.options import OUTPUT_KINDS, OUTPUTS, PARAMETERS, private_topics, TOPICS

ROOT = Path(__file__).resolve().parents[2]
#: A privatizer that publishes all that it can.
ALL = {**{option.name: option.default for option in PARAMETERS['privatizer']},
       'outputs': list(OUTPUTS.choices), 'zones_file': 'zones.yaml'}
PRIVATE = private_topics(ALL)


def test_all_kinds_have_a_topic():
    assert len(PRIVATE) == len(OUTPUT_KINDS)
    assert [topic.name for topic in TOPICS['privatizer']
            if topic.meaning.startswith('goes out')] == list(PRIVATE)


@pytest.mark.parametrize('node', PARAMETERS)
def test_no_title_of_help_stands_over_nothing(node):
    assert ':\nother parameters:' not in help_of(node)


def test_what_is_not_asked_for_does_not_go_out():
    assert private_topics({**ALL, 'outputs': ['pose'], 'zones_file': ''}) == {
        'private_pose': 'geometry_msgs/msg/PoseWithCovarianceStamped'}


@pytest.mark.parametrize('topic', PRIVATE)
def test_help_and_pages_explain_it(topic):
    assert f'\n  {topic}\n' in help_of('privatizer')
    for page in 'parameters', 'robots', 'isolation':
        assert f'`{topic}`' in (ROOT / 'docs' / f'{page}.md').read_text(), page


@pytest.mark.parametrize('topic', PRIVATE)
@pytest.mark.parametrize('name', ['/fleet/x', None])
def test_fleets_remap_it_and_every_tool_lets_it_out(tmp_path, topic, name):
    file = tmp_path / 'fleet.yaml'
    file.write_text(
        'fleet_domain: 50\nrobots:\n  tb1:\n    domain: 41\n    chain_file: a\n    epsilon: 1\n'
        f'    outputs: [{", ".join(OUTPUTS.choices)}]\n    zones_file: zones.yaml\n'
        + (f'    {topic}: {name}\n' if name else ''))
    fleet = read_fleet(file)
    wanted = [(name or f'/tb1/{topic}', PRIVATE[topic])]
    assert [found for found in fleet.robots['tb1'].private_topics if found[0] == wanted[0][0]] == \
        wanted
    [policy], [out, back], [bridge] = (tool(fleet).values() for tool in (
        sros2_policy, zenoh_bridges, domain_bridges))
    assert policy.count(f'<topic>{wanted[0][0]}</topic>') == 2  # published, and read
    assert all(f'"{wanted[0][0]}"' in text for text in (out, back))
    assert f'  {wanted[0][0]}: {{"type": "{PRIVATE[topic]}", ' in bridge
