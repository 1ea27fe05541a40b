# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fleet file: what it means, and what is wrong with it in which line."""
from pathlib import Path

import pytest
from refusals import refused
from symdp_ros import ConfigurationError
from symdp_ros.fleet.fleet_file import read_fleet

ROOT = Path(__file__).resolve().parents[2]
DEFAULTS = 'defaults: {chain_file: a.chain.yaml, epsilon: 2}\n'


def fleet_of(directory, text):
    file = directory / 'fleet.yaml'
    file.write_text(text)
    return read_fleet(file)


def robots_of(directory, text):
    return fleet_of(directory, text).robots


def test_a_robot_needs_no_more_than_a_name(tmp_path):
    robot = robots_of(tmp_path, DEFAULTS + 'robots: {tb1: }')['tb1']
    assert (robot.name, robot.namespace, robot.domain) == ('tb1', '/tb1', None)
    assert robot.parameters == {'chain_file': str(tmp_path / 'a.chain.yaml'), 'epsilon': 2.0,
                                'parameter_services': False}
    assert not robot.remappings and robot.topic('private_region') == '/tb1/private_region'


def test_a_robot_may_keep_no_word(tmp_path):
    text = DEFAULTS.replace('}', ', state_file: none}') + 'state_dir: x\nrobots: {a: , b: }'
    assert [robot.parameters['state_file'] for robot in robots_of(tmp_path, text).values()] == [
        'none', 'none']


def test_everything_can_be_overridden_for_one_robot(tmp_path):
    text = """
fleet_domain: 50
ledger_file: fleet.ledger
subject_budget: 9
state_dir: state
defaults: {chain_file: package://symdp_ros/config/depot.geojson, epsilon: 2, period: 1e-1}
robots:
  tb1: {}
  tb2: {epsilon: 0.5, domain: 42, subject: team, subject_budget: 3.0, state_file: /var/tb2,
        output_domain: 51, ledger_file: ~/other, region: /where, chain_file: /a.graph,
        where: ['a=1', b=2], initial_state: 007, period: 2, policy: paper,
        parameter_services: true}
"""
    first, second = robots_of(tmp_path, text).values()
    assert first.parameters == {
        'chain_file': 'package://symdp_ros/config/depot.geojson', 'epsilon': 2.0, 'period': 0.1,
        'output_domain': 50, 'ledger_file': str(tmp_path / 'fleet.ledger'), 'subject': 'tb1',
        'parameter_services': False, 'subject_budget': 9.0,
        'state_file': str(tmp_path / 'state' / 'tb1.word')}
    assert second.parameters == {
        'chain_file': '/a.graph', 'epsilon': 0.5, 'period': 2.0, 'output_domain': 51,
        'ledger_file': '~/other', 'subject': 'team', 'subject_budget': 3.0,
        'state_file': '/var/tb2', 'where': ['a=1', 'b=2'], 'initial_state': '007',
        'policy': 'paper', 'parameter_services': True}
    assert (second.domain, second.topic('region')) == (42, '/where')


def test_zones_of_all_robots_and_of_one(tmp_path):
    text = """
defaults: {chain_file: a, epsilon: 2, zones_file: wards.yaml}
robots: {tb1: , tb2: {zones_file: levels}, tb3: {zones_file: package://symdp_ros/config/z.yaml}}
"""
    assert [robot.parameters['zones_file'] for robot in robots_of(tmp_path, text).values()] == [
        str(tmp_path / 'wards.yaml'), 'levels', 'package://symdp_ros/config/z.yaml']
    text = 'defaults: {chain_file: levels, epsilon: 2, zones_file: levels}\nrobots: {tb1: }'
    assert robots_of(tmp_path, text)['tb1'].parameters['chain_file'] == str(tmp_path / 'levels')


def test_robots_at_a_broker(tmp_path):
    text = DEFAULTS.replace('defaults: {', 'defaults: {broker: mqtt://here, broker_login: login, ')
    robots = ('robots: {{tb1: {{state_topic: u/v2/K/1/state}}, '
              'tb2: {{state_topic: u/v2/K/{}/state}}}}')
    first, second = robots_of(tmp_path, text + robots.format(2)).values()
    assert first.raw_topics == second.raw_topics == ()
    assert first.parameters['broker_login'] == str(tmp_path / 'login')
    with refused(ConfigurationError, 'tb2 and tb1 both publish a private state beside u/v2/K/1/'):
        robots_of(tmp_path, text + robots.format(1))


def test_presets_come_first_then_defaults_then_the_robot(tmp_path):
    text = """
defaults: {chain_file: a, epsilon: 2, preset: px4, period: 5}
robots: {tb1: , tb2: {preset: nav2_route}, tb3: {period: 7, field: mine}}
"""
    first, second, third = (robot.parameters for robot in robots_of(tmp_path, text).values())
    assert (first['field'], first['message_type'], first['period']) == (
        'nav_state', 'px4_msgs/msg/VehicleStatus', 5.0)
    assert second['field'] == 'feedback.last_node_id' and 'symbol_map' not in second
    assert (third['field'], third['period']) == ('mine', 7.0)
    assert 'preset' not in first


def test_robots_compare_by_what_they_are_set_to(tmp_path):
    one = robots_of(tmp_path, DEFAULTS + 'robots: {tb1: , tb2: }')
    other = robots_of(tmp_path, DEFAULTS + 'robots: {tb2: {period: 3}, tb1: }')
    assert one['tb1'] == other['tb1'] and one['tb2'] != other['tb2']


def test_every_preset_can_be_used(tmp_path):
    presets = [file.stem for file in (ROOT / 'config' / 'presets').glob('*.yaml')
               if not file.stem.endswith('.chain')]
    assert len(presets) > 5
    for preset in presets:
        text = f'defaults: {{chain_file: a, epsilon: 1}}\nrobots: {{tb1: {{preset: {preset}}}}}'
        assert len(robots_of(tmp_path, text)['tb1'].parameters) > 2


def test_the_sample_is_a_fleet():
    robots = read_fleet(ROOT / 'config' / 'fleet.yaml').robots
    assert [robot.domain for robot in robots.values()] == [41, 42, 43]
    assert {robot.parameters['output_domain'] for robot in robots.values()} == {50}


def test_the_tags_of_parameter_files_say_what_a_value_is(tmp_path):
    """As ROS 2 Lyrical recommends."""
    robot = robots_of(tmp_path, DEFAULTS + """robots:
  !!str tb1: {initial_state: !!str 08, epsilon: !!float 0.5, adjacency: !!int "3",
              self_loops: !!bool yes, where: [!!str 1]}""")['tb1']
    assert robot.parameters == {
        'chain_file': str(tmp_path / 'a.chain.yaml'), 'initial_state': '08', 'epsilon': 0.5,
        'adjacency': 3, 'self_loops': True, 'where': ['1'], 'parameter_services': False}


def test_overrides_go_before_what_the_file_says(tmp_path):
    fleet_of(tmp_path, DEFAULTS + 'robots: {tb1: {use_sim_time: false}, tb2: }')
    robots = read_fleet(tmp_path / 'fleet.yaml', overrides={'use_sim_time': True}).robots
    assert all(robot.parameters['use_sim_time'] is True for robot in robots.values())


def test_qos_overrides_are_parameters_too(tmp_path):
    key = 'qos_overrides./tb1/region.subscription.reliability'
    robots = robots_of(tmp_path, DEFAULTS + f'robots: {{tb1: {{{key}: best_effort}}}}')
    assert robots['tb1'].parameters[key] == 'best_effort'


@pytest.mark.parametrize('text, line, problem', [
    ('robots: [a]', 1, 'robots must be a map of the form NAME'),
    ('defaults: {}', 1, 'the file has no robots'),
    ('robots: {}', 1, 'robots is empty'),
    ('robots:\n  a:\n', 2, 'a has no chain_file, and neither have the defaults'),
    ('robots:\n  a: {chain_file: x}\n', 2, 'a has no epsilon'),
    (DEFAULTS + 'robots:\n  a:\n    epsilom: 1', 4, 'did you mean epsilon'),
    (DEFAULTS + 'robots: {a: }\nledger: x', 3, "'ledger': did you mean ledger_file"),
    (DEFAULTS + 'robots: {a: }\nepsilon: 1', 3, "unknown key 'epsilon'"),
    (DEFAULTS + 'robots: {a: {epsilon: -1}}', 2, 'epsilon is -1.0: it must be at least 0'),
    (DEFAULTS + 'robots: {a: {epsilon: abc}}', 2, 'epsilon must be a finite number'),
    (DEFAULTS + 'robots: {a: {epsilon: "1"}}', 2, "epsilon is the string '1'"),
    (DEFAULTS + 'robots: {a: {epsilon: .nan}}', 2, 'a finite number'),
    (DEFAULTS + 'robots: {a: {epsilon: }}', 2, 'epsilon must have a value'),
    (DEFAULTS + 'robots: {a: {policy: good}}', 2, 'one of paper, guided'),
    (DEFAULTS + 'robots: {a: {adjacency: 1.5}}', 2, 'adjacency is 1.5: it must be an integer'),
    (DEFAULTS + 'robots: {a: {no_region: [1]}}', 2, 'a list of strings'),
    (DEFAULTS + 'robots: {a: {no_region: [[x]]}}', 2, 'a list of strings'),
    (DEFAULTS + 'robots: {a: {where: {b: c}}}', 2, 'where must have a value'),
    (DEFAULTS + 'robots: {a: {field: !!python/name:os.system x}}', 2,
     'the tag !!python/name:os.system stands'),
    (DEFAULTS + 'robots: {a: {subject: !!timestamp foo}}', 2, 'write the value itself'),
    (DEFAULTS + 'robots: {a: {where: &a [*a]}}', 2, 'the alias *a stands there'),
    (DEFAULTS + 'robots: {a: !!map {}}', 2, 'the tag !!map stands there: write the value itself; '
     'the tags !!str, !!int, !!float, !!bool are known'),
    (DEFAULTS + 'robots: {a: {epsilon: !!null 1}}', 2, 'the tag !!null stands there'),
    (DEFAULTS + 'robots: {a: {chain_file: !include x}}', 2, 'the tag !include stands there'),
    (DEFAULTS + 'robots: {a: {self_loops: !!bool maybe}}', 2, 'self_loops must be true or false'),
    (DEFAULTS + 'robots: {a: {epsilon: !!float x}}', 2, 'epsilon is a number that cannot be read'),
    (DEFAULTS + "robots: {a: {epsilon: !!int ''}}", 2, 'epsilon is a number that cannot be read'),
    (DEFAULTS + 'robots: {a: {epsilon: !!bool true}}', 2, 'it must be a number'),
    (DEFAULTS + 'robots: {a: {where: !!str [x]}}', 2, 'where must be a list'),
    (DEFAULTS + 'robots: {a: !!str {epsilon: 1}}', 2, 'a must be a map'),
    (DEFAULTS + f'robots: {{a: {{adjacency: 1{"0" * 100}}}}}', 2, 'a number that cannot be read'),
    (DEFAULTS + 'robots: {a: {adjacency: 0b_}}', 2, 'adjacency is a number that cannot be read'),
    (DEFAULTS + 'robots: {a: {preset: nav_route}}', 2,
     "no preset 'nav_route': did you mean nav2_route"),
    (DEFAULTS + 'robots: {a: {preset: ../x}}', 2, 'there is no preset'),
    (DEFAULTS + 'robots: {a: {domain: 233}}', 2, 'domain is 233: it must be at most 232'),
    (DEFAULTS + 'robots: {a: {region: a//b}}', 2, "region is 'a//b', which is no name"),
    (DEFAULTS + 'robots: {a: {region: ~/b}}', 2, 'which is no name of a topic'),
    (DEFAULTS + 'robots: {a-b: }', 2, "'a-b' cannot be the name of a robot"),
    (DEFAULTS + 'robots: {1: }', 2, "'1' cannot be the name of a robot"),
    (DEFAULTS + 'robots:\n  a:\n  a:\n', 4, "'a' is listed twice"),
    (DEFAULTS + 'robots: {a: {subject: me}}', 2, 'a has a subject, which needs a ledger_file'),
    (DEFAULTS + 'robots: {a: {renew: 24}}', 2, 'a has a renew, which needs a ledger_file'),
    (DEFAULTS + 'subject_budget: 1\nrobots: {a: }', 3, 'a has a subject_budget, which needs'),
    (DEFAULTS + 'fleet_domain: 5\nrobots:\n  a: {domain: 5}', 4, 'a is in the domain 5, where'),
    (DEFAULTS + 'robots:\n  a: {output_domain: 5, domain: 6}\n  b: {domain: 5}', 4,
     'b is in the domain 5, where'),
    (DEFAULTS + 'robots:\n  a: {private_region: /p}\n  b: {private_region: /p}', 4,
     'b and a both publish /p'),
    (DEFAULTS + 'robots:\n  a: {state_file: s}\n  b: {state_file: s}', 4,
     'b and a both store their word in '),
    (DEFAULTS + 'state_dir: x\nrobots:\n  a:\n  b: {state_file: y/../x/a.word}', 5,
     'b and a both store their word in '),
    (DEFAULTS + 'robots:\n  a: {private_region: /b/region}\n  b: ', 3,
     'a would publish /b/region, where the region of b comes in'),
    (DEFAULTS + 'fleet_domain: 3\nrobots:\n  a: {domain: 5, output_domain: -1, '
     'private_region: /b/p}\n  b: {domain: 5, input: pose, pose: p}', 4,
     'a would publish /b/p, where the region of b'),
    (DEFAULTS + 'robots:\n  b:\n  a: {region: private_region}', 4,
     'a would publish /a/private_region, where the region of a comes in'),
    (DEFAULTS + 'robots:\n  a: {outputs: [string, pose], private_pose: private_region}', 3,
     'a would publish /a/private_region twice: give each of its outputs'),
    (DEFAULTS + 'robots:\n  a: {policy: adaptive, outputs: [string, belief], private_belief: '
     'private_region}', 3, 'a would publish /a/private_region twice'),
    (DEFAULTS + 'robots:\n  a: {delay: -1}', 3, 'delay is -1.0: it must be at least 0'),
    (DEFAULTS + 'robots: {a: {state_file: "x\\0"}}', 2, 'is no name of a file'),
    (DEFAULTS + 'state_dir: "\\0"\nrobots: {a: }', 2, 'is no name of a file'),
    (DEFAULTS + f'robots: {{a: {{qos_overrides.b.c: {2**63}}}}}', 2, 'must be a text, a number'),
    (DEFAULTS + 'robots: {a: {qos_overrides.b.c: [d]}}', 2, 'must be a text, a number'),
    ('a: [', 2, 'not valid YAML'),
])
def test_what_is_wrong_has_a_line(tmp_path, text, line, problem):
    with refused(ConfigurationError, problem, path=tmp_path / 'fleet.yaml', line=line):
        fleet_of(tmp_path, text)


def test_the_same_private_topic_in_other_domains_is_no_problem(tmp_path):
    both = 'private_region: /p, domain'
    robots_of(tmp_path, DEFAULTS + f'robots: {{a: {{{both}: 1}}, b: {{{both}: 2}}}}')
    with refused(ConfigurationError, 'both publish /p'):
        robots_of(tmp_path, DEFAULTS + 'fleet_domain: 3\n'
                  f'robots: {{a: {{{both}: 1}}, b: {{{both}: 2}}}}')


def test_a_robot_without_a_domain_is_in_that_of_the_process(tmp_path):
    text = DEFAULTS + 'robots: {a: {domain: 4, private_region: /p}, b: {region: /p}}'
    assert robots_of(tmp_path, text)['b'].domain is None
    file = tmp_path / 'fleet.yaml'
    assert read_fleet(file, 5).robots['b'].domain == 5
    with refused(ConfigurationError, 'would publish /p, where the region of b', path=file):
        read_fleet(file, 4)


def test_a_file_that_is_absent(tmp_path):
    with refused(ConfigurationError, 'cannot be read', path=tmp_path / 'none.yaml', line=None):
        read_fleet(tmp_path / 'none.yaml')


def test_a_link_to_itself_is_no_fleet_file(tmp_path):
    (tmp_path / 'fleet.yaml').symlink_to('fleet.yaml')
    with refused(ConfigurationError, 'symbolic links', path=tmp_path / 'fleet.yaml'):
        read_fleet(tmp_path / 'fleet.yaml')
