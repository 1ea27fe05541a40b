# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp isolate`: what it writes, against the formats of the tools and against a real node."""
import json
import os
from xml.etree import ElementTree

from in_process import ROOT, run_symdp
import pytest
import yaml

CHAIN = ROOT / 'config' / 'depot.geojson'
CLINIC = ROOT / 'config' / 'clinic.regions.yaml'
FLEET = f"""
fleet_domain: 50
defaults: {{chain_file: {CHAIN}, initial_state: '0', epsilon: 1.0}}
robots:
  tb1: {{domain: 41, region: /route/_action/feedback, private_region: /fleet/tb1/region}}
  tb2: {{domain: 42, input: pose, pose: /amcl_pose, outputs: [string, pose, markers]}}
  tb3: {{domain: 43, policy: adaptive, outputs: [string, belief], parameter_services: true}}
  tb4: {{domain: 44, outputs: [string, custom], output_type: std_msgs/msg/Int16MultiArray,
        output_template: '{{data: [1]}}'}}
  tb5: {{domain: 45, chain_file: {CLINIC}, initial_state: '', self_loops: true,
        zones_file: {CLINIC}}}
"""
STRING = 'std_msgs/msg/String'
#: What the privatizers of FLEET publish.
PRIVATE = {
    'tb1': {'/fleet/tb1/region': STRING},
    'tb2': {'/tb2/private_region': STRING,
            '/tb2/private_pose': 'geometry_msgs/msg/PoseWithCovarianceStamped',
            '/tb2/private_markers': 'visualization_msgs/msg/MarkerArray'},
    'tb3': {'/tb3/private_region': STRING,
            '/tb3/private_belief': 'diagnostic_msgs/msg/DiagnosticStatus'},
    'tb4': {'/tb4/private_region': STRING, '/tb4/private_custom':
            'std_msgs/msg/Int16MultiArray'},
    'tb5': {'/tb5/private_region': STRING, '/tb5/private_zone': STRING},
}
RAW = {'tb1': '/route/_action/feedback', 'tb2': '/amcl_pose', 'tb3': '/tb3/region',
       'tb4': '/tb4/region', 'tb5': '/tb5/region'}
ALL = {topic: kind for topics in PRIVATE.values() for topic, kind in topics.items()}


def isolate(tmp_path, tool, fleet=FLEET, *arguments):
    """Run the command; return it and name → text of the files."""
    file, out = tmp_path / 'fleet.yaml', tmp_path / 'out'
    file.write_text(fleet)
    run = run_symdp('isolate', file, '--for', tool, '-o', out, *arguments)
    return run, {path.name: path.read_text() for path in sorted(out.glob('*'))}


def allowed_by(policy: str) -> dict:
    """Return enclave → rule → names, and check the document against the rules of policy.xsd."""
    root = ElementTree.fromstring(policy)
    assert (root.tag, root.attrib) == ('policy', {'version': '0.2.0'})
    [enclaves] = root
    found = {}
    assert enclaves.tag == 'enclaves' and not enclaves.attrib and len(enclaves)
    for enclave in enclaves:
        assert enclave.tag == 'enclave' and set(enclave.attrib) == {'path'}
        [profiles] = enclave
        [profile] = profiles
        assert profiles.tag == 'profiles' and not profiles.attrib
        assert profile.tag == 'profile' and set(profile.attrib) == {'ns', 'node'}
        assert enclave.get('path') not in found
        rules = found[enclave.get('path')] = {}
        for group in profile:
            kind, rights = {'topics': ('topic', {'publish', 'subscribe'}),
                            'services': ('service', {'reply', 'request'})}[group.tag]
            [(right, value)] = group.items()
            assert right in rights and value == 'ALLOW' and len(group)
            for item in group:
                assert item.tag == kind and not item.attrib and not len(item)
                prefix = profile.get('ns').rstrip('/')
                name = item.text.replace('~', f'{prefix}/{profile.get("node")}')
                assert name.startswith('/') and '*' not in name
                rules.setdefault(right, set()).add(name)
    return found


def test_only_the_privatizer_may_subscribe_to_the_raw_topic(tmp_path):
    run, files = isolate(tmp_path, 'sros2')
    assert run.returncode == 0 and list(files) == ['policy.xml']
    rules = allowed_by(files['policy.xml'])
    assert set(rules) == {'/reader', *(f'/{robot}/{node}' for robot in PRIVATE
                                       for node in ('privatizer', 'region_source'))}
    for robot, raw in RAW.items():
        may = rules[f'/{robot}/privatizer']
        assert may['subscribe'] == {raw, '/clock'}
        assert may['publish'] - {'/diagnostics', '/rosout', '/parameter_events'} == {
            *PRIVATE[robot], f'/{robot}/privatizer/transition_event'}
        assert rules[f'/{robot}/region_source']['publish'] == {
            raw, '/rosout', '/parameter_events'}
        assert [path for path, may in rules.items() if raw in may['subscribe']] == [
            f'/{robot}/privatizer']
    assert rules['/reader']['subscribe'] == {*ALL, '/clock'}
    assert all('request' not in may for may in rules.values())
    assert '/tb3/privatizer/get_parameters' in rules['/tb3/privatizer']['reply']
    assert '/tb4/privatizer/get_parameters' not in rules['/tb4/privatizer']['reply']
    assert ('ROS_DOMAIN_ID=41 ros2 security create_permission KEYSTORE /tb1/privatizer '
            f'{tmp_path}/out/policy.xml\n') in run.stdout
    assert 'Note: tb1, tb2, tb3, tb4, tb5: with output_domain' in run.stdout


def test_tf_as_input(tmp_path):
    fleet = FLEET.replace('pose: /amcl_pose', 'base_frame: base_link, sampling: period, '
                          'self_loops: true')
    rules = allowed_by(isolate(tmp_path, 'sros2', fleet)[1]['policy.xml'])
    assert rules['/tb2/privatizer']['subscribe'] == {'/tf', '/tf_static', '/clock'}


#: The keys of `allow` in the bridge's DEFAULT_CONFIG.json5; it refuses others.
ZENOH_LISTS = ('publishers', 'subscribers', 'service_servers', 'service_clients',
               'action_servers', 'action_clients')


def zenoh_allows(text: str) -> tuple[dict, dict]:
    """Return the settings besides `allow`, and the lists; the file is JSON under comments."""
    lines = text.splitlines()
    config = json.loads('\n'.join(line for line in lines if not line.startswith('//')))
    assert set(config) == {'plugins'} and set(config['plugins']) == {'ros2dds'}
    settings = config['plugins']['ros2dds']
    allow = settings.pop('allow')
    assert tuple(allow) == ZENOH_LISTS  # one that is missing allows nothing, too
    # A name is used as the regular expression ^NAME$.
    assert all(set(name) <= set('/_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
               for names in allow.values() for name in names)
    return settings, {kind: names for kind, names in allow.items() if names}


def test_the_zenoh_bridges_let_private_topics_through_alone(tmp_path):
    run, files = isolate(tmp_path, 'zenoh')
    assert run.returncode == 0
    assert list(files) == ['zenoh-bridge-ros2dds.domain-50.json5',
                           'zenoh-bridge-ros2dds.readers.json5']
    out, back = files.values()
    assert zenoh_allows(out) == ({'domain': 50}, {'publishers': list(ALL)})
    assert zenoh_allows(back) == ({}, {'subscribers': list(ALL)})


def test_a_zenoh_bridge_for_each_domain(tmp_path):
    run, files = isolate(tmp_path, 'zenoh', FLEET.replace('fleet_domain: 50', '').replace(
        'domain: 44, ', ''))
    assert run.returncode == 0
    assert [zenoh_allows(files[f'zenoh-bridge-ros2dds.{name}.json5']) for name in (
        'domain-41', 'domain-42', 'domain-43', 'robots', 'domain-45')] == [
        ({'domain': 41}, {'publishers': list(PRIVATE['tb1'])}),
        ({'domain': 42}, {'publishers': list(PRIVATE['tb2'])}),
        ({'domain': 43}, {'publishers': list(PRIVATE['tb3'])}),
        ({}, {'publishers': list(PRIVATE['tb4'])}),
        ({'domain': 45}, {'publishers': list(PRIVATE['tb5'])})]


def bridged(text: str) -> dict:
    """Return topic → (type, from, to), by the rules of domain_bridge's parser."""
    config = yaml.safe_load(text)
    assert set(config) == {'name', 'topics'} and isinstance(config['name'], str)
    for settings in config['topics'].values():
        # All are read; `qos` is a map, where `depth` is an integer.
        assert set(settings) == {'type', 'from_domain', 'to_domain', 'qos'}
        assert settings['qos'] == {'depth': 1000}
        assert settings['from_domain'] != settings['to_domain']  # else it is left out
    return {topic: (value['type'], value['from_domain'], value['to_domain'])
            for topic, value in config['topics'].items()}


def expected(domains, to):
    return {topic: (kind, domain, to) for robot, domain in zip(PRIVATE, domains, strict=True)
            for topic, kind in PRIVATE[robot].items()}


@pytest.mark.parametrize('fleet, arguments, domains, to', [
    (FLEET, [], (41, 42, 43, 44, 45), 50), (FLEET, ['--to-domain', 60], (50,) * 5, 60),
    (FLEET.replace('fleet_domain: 50', ''), ['--to-domain', 60], (41, 42, 43, 44, 45), 60)],
    ids=['to the fleet', 'to another domain', 'without an output domain'])
def test_domain_bridge_carries_private_topics_alone(tmp_path, fleet, arguments, domains, to):
    run, files = isolate(tmp_path, 'domain-bridge', fleet, *arguments)
    assert run.returncode == 0 and list(files) == [f'domain_bridge.to-{to}.yaml']
    assert bridged(files[f'domain_bridge.to-{to}.yaml']) == expected(domains, to)


@pytest.mark.parametrize('change, arguments', [
    (('fleet_domain: 50', ''), []), (('domain: 44, ', ''), []),
    (('fleet_domain: 50', ''), ['--to-domain', 41])])
def test_a_bridge_needs_two_domains(tmp_path, change, arguments):
    run, files = isolate(tmp_path, 'domain-bridge', FLEET.replace(*change), *arguments)
    assert run.returncode == 1 and not files and 'a bridge needs two ROS domains' in run.stderr


def test_a_bridge_never_joins_two_robots_in_one_topic(tmp_path):
    fleet = f"""
defaults: {{chain_file: {CHAIN}, initial_state: '0', epsilon: 1.0, private_region: /region}}
robots: {{tb1: {{domain: 41}}, tb2: {{domain: 42}}}}
"""
    run, files = isolate(tmp_path, 'domain-bridge', fleet, '--to-domain', 50)
    assert run.returncode == 1 and not files
    assert 'two robots would publish /region in ROS domain 50' in run.stderr


@pytest.mark.parametrize('tool', ['sros2', 'zenoh', 'domain-bridge'])
def test_nothing_is_replaced_and_the_check_is_named(tmp_path, tool):
    run, files = isolate(tmp_path, tool)
    assert run.returncode == 0 and not run.stderr
    assert 'How this was checked: ' in run.stdout
    assert f'allowed: {", ".join(ALL)}\n' in run.stdout
    last = sorted(files)[-1]
    for name in files:
        if name != last:
            os.remove(tmp_path / 'out' / name)
    (tmp_path / 'out' / last).write_text('mine')
    run, files = isolate(tmp_path, tool)
    assert run.returncode == 1 and 'is there already' in run.stderr
    assert files == {last: 'mine'}


def test_wrong_usage(tmp_path):
    run, _ = isolate(tmp_path, 'walls')
    assert run.returncode == 2 and 'invalid choice' in run.stderr
    assert run_symdp('isolate', tmp_path / 'none.yaml', '--for', 'zenoh', '-o', tmp_path).stderr \
        .startswith('symdp isolate: ')
    run, files = isolate(tmp_path, 'sros2', 'robots: {tb1: {epsilom: 1}}')
    assert run.returncode == 1 and 'line 1' in run.stderr and not files


def test_the_example_of_this_package(tmp_path):
    run, files = isolate(tmp_path, 'sros2', (ROOT / 'config' / 'fleet.yaml').read_text())
    assert run.returncode == 0 and '/tb1/privatizer' in allowed_by(files['policy.xml'])


@pytest.mark.parametrize('parameters', [
    {'policy': 'adaptive', 'outputs': "['string','belief']", 'parameter_services': 'false'},
    pytest.param({'outputs': "['string','pose','markers']"}, marks=pytest.mark.thorough),
    {'chain_file': str(CLINIC), 'self_loops': 'true', 'zones_file': str(CLINIC),
     'initial_state': "''"},
    {'outputs': "['custom']", 'output_type': 'std_msgs/msg/Int16MultiArray',
     'output_template': '\'{data: [1, "{region}"]}\''}], ids=str)
def test_a_real_privatizer_has_no_topic_or_service_that_is_not_allowed(
        tmp_path, world, parameters):
    """And each private topic that is allowed, it has."""
    from harness import wait_until
    from symdp_ros.ros.graph.live_graph import look

    settings = {'chain_file': str(CHAIN), 'initial_state': "'0'", 'epsilon': 1.0,
                'parameter_services': 'true', **parameters}
    fleet = 'robots:\n  tb1:\n' + ''.join(
        f'    {name}: {value}\n' for name, value in settings.items())
    may = allowed_by(isolate(tmp_path, 'sros2', fleet)[1]['policy.xml'])['/tb1/privatizer']
    private = set(may['publish']) - {'/diagnostics', '/rosout', '/parameter_events',
                                     '/tb1/privatizer/transition_event'}
    own = '/tb1/privatizer'
    world.privatizer('-r', '__ns:=/tb1', **settings)
    world.publisher('/tb1/region')  # the node subscribes once there is one

    def published():
        graph = look(world.domain, 2.0)
        names = {channel.name for channel in graph.topics if own in channel.sources}
        subscribed = {channel.name for channel in graph.topics if own in channel.readers}
        services = {channel.name for channel in graph.services if own in channel.sources}
        return (names, subscribed, services) if {*private, '/diagnostics'} <= names and (
            '/tb1/region' in subscribed
            and {f'{own}/change_state', f'{own}/get_state'} <= services) else None

    names, subscribed, services = wait_until(published, 'topics and services are seen')
    assert names <= may['publish'] and private <= names
    assert subscribed <= may['subscribe']
    assert services <= may['reply']
