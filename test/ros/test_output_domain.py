# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`output_domain`: what is to be seen in the domain of the private topics, and in the robot's."""
import json

from diagnostic_msgs.msg import DiagnosticStatus
from harness import free_domain, RECONFIGURE, ROOT, send, SURE, world_in
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time_source import TimeSource
from std_msgs.msg import String
from symdp_ros.ros.process.output_domain import leave_domains, OuterNode

#: What DDS itself shows of every ROS program that looks.
DISCOVERY = 'ros_discovery_info'


@pytest.fixture
def outer(tmp_path):
    """Give another ROS domain."""
    (tmp_path / 'outer').mkdir()
    with world_in(tmp_path / 'outer') as made:
        yield made


def directory_in(directory):
    (directory / 'logs').mkdir()
    return directory / 'logs'


def nodes_in(world):
    return {f'{namespace.rstrip("/")}/{name}' for name, namespace in
            world.node.get_node_names_and_namespaces() if name != 'observer'}


def of_node(world, name, namespace):
    """Return publishers, subscribers, services and clients of a node, by name."""
    node = world.node
    return [sorted(topic for topic, _ in get(name, namespace)) for get in (
        node.get_publisher_names_and_types_by_node, node.get_subscriber_names_and_types_by_node,
        node.get_service_names_and_types_by_node, node.get_client_names_and_types_by_node)]


def topics_of_others(world):
    """Return every DDS topic that somebody else than the observer has an end of."""
    node, found = world.node, set()
    for topic, _ in node.get_topic_names_and_types(no_demangle=True):
        plain = topic.removeprefix('rt')
        infos = (node.get_publishers_info_by_topic(plain)
                 + node.get_subscriptions_info_by_topic(plain)) if topic.startswith('rt/') else []
        if any(info.node_name != 'observer' for info in infos):
            found.add(plain)
        elif not topic.startswith('rt/') and '/observer/' not in topic and topic != DISCOVERY:
            found.add(topic)
    return found


def shows_alone(world, nodes, topics=None):
    """Wait until all that is expected is seen in a domain; check that nothing else comes."""
    def seen():
        return nodes_in(world), topics and topics_of_others(world)

    world.wait_until(lambda: seen() == (nodes, topics), 'them')  # names come after topics
    world.settle(1.0)  # everything else would have been discovered, too
    assert seen() == (nodes, topics)


def hears(world, outer, name='', word='bca'):
    private = outer.listen(f'{name}/private_region')
    send(world.publisher(f'{name}/region'), *word)

    def both():
        world.spin(0.005)
        outer.spin(0.005)
        return ''.join(private) == word

    world.wait_until(both, 'the private symbols in the outer domain')


def test_nothing_but_the_private_topic_is_in_the_outer_domain(world, outer, chain_file):
    run = world.privatizer('-r', '__ns:=/tb1', chain_file=chain_file, epsilon=SURE,
                           output_domain=outer.domain)
    hears(world, outer, '/tb1')
    assert f'/tb1/private_region (std_msgs/msg/String) in ROS domain {outer.domain}' in run.log
    shows_alone(outer, {'/tb1/privatizer'}, {'/tb1/private_region'})
    assert of_node(outer, 'privatizer', '/tb1') == [['/tb1/private_region'], [], [], []]
    # In the robot's domain there is what was there before, but for the private topic.
    shows_alone(world, {'/tb1/privatizer'})
    expected = [
        {'/diagnostics', '/parameter_events', '/rosout', '/tb1/privatizer/transition_event'},
        {'/tb1/region'}, {'/tb1/privatizer/change_state', '/tb1/privatizer/get_parameters'}]

    def of_robot():
        return list(map(set, of_node(world, 'privatizer', '/tb1')))[:3]

    world.wait_until(lambda: all(map(set.__le__, expected, of_robot())), 'its topics')
    assert of_robot()[0] == expected[0]
    assert '/tb1/private_region' not in topics_of_others(world)
    assert run.stop() == 0 and 'Traceback' not in run.log


def test_every_output_goes_through(world, outer, tmp_path):
    """And with QoS from parameters."""
    run = world.start(
        'privatizer', chain_file=ROOT / 'config' / 'depot.geojson', initial_state="'0'",
        epsilon=1.0, policy='adaptive', outputs='[string, pose, markers, belief]',
        output_domain=outer.domain,
        **{'qos_overrides./private_region.publisher.depth': 7})
    run.wait_for('active')
    wanted = {'/private_region', '/private_pose', '/private_markers', '/private_belief'}
    outer.wait_until(lambda: topics_of_others(outer) == wanted, 'the topics')
    [info] = outer.node.get_publishers_info_by_topic('/private_region')
    assert info.qos_profile.durability.name == 'TRANSIENT_LOCAL'
    believed = outer.listen_whole('private_belief', DiagnosticStatus)
    publisher = world.publisher()

    def send():
        publisher.publish(String(data='1'))
        world.spin()
        outer.spin()
        return believed

    world.wait_until(send, 'a belief in the outer domain')
    assert run.stop() == 0


def test_it_can_be_configured_again(world, outer, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE, output_domain=outer.domain)
    hears(world, outer)
    assert world.change('privatizer', *RECONFIGURE[:2])
    outer.wait_until(lambda: not topics_of_others(outer), lambda: (
        f'the end of {topics_of_others(outer)}\n{run.log}'))
    outer.wait_until(lambda: not outer.nodes_for_a_newcomer(), 'the end of the outer node')
    assert world.change('privatizer', *RECONFIGURE[2:])
    outer.wait_until(lambda: outer.nodes_for_a_newcomer() == ['/privatizer'], 'the outer node')
    outer.wait_until(lambda: topics_of_others(outer) == {'/private_region'}, 'its topic')
    assert run.stop() == 0
    # The word was between other topics.
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    assert 'it held a word of other settings: a new word begins' in run.log


def test_the_own_domain_is_refused(world, chain_file):
    run = world.start('privatizer', chain_file=chain_file, epsilon=1.0,
                      output_domain=world.domain)
    assert run.wait() == 1
    assert f'output_domain is {world.domain}, the ROS domain of this node' in run.log


def test_two_privatizers_onto_one_topic_of_the_outer_domain(world, outer, chain_file, tmp_path):
    world.privatizer(chain_file=chain_file, epsilon=1.0, output_domain=outer.domain)
    with world_in(directory_in(tmp_path)) as third:
        run = third.start('privatizer', chain_file=chain_file, epsilon=1.0,
                          output_domain=outer.domain)
        assert run.wait() == 1 and 'already publishes /private_region' in run.log


def test_a_fleet_shows_private_topics_alone(world, outer, chain_file, tmp_path):
    with world_in(directory_in(tmp_path)) as robots:
        file = tmp_path / 'fleet.yaml'
        file.write_text(json.dumps({
            'fleet_domain': outer.domain,
            'defaults': {'chain_file': str(chain_file), 'epsilon': SURE, 'adjacency': 1},
            'robots': {'tb2': {'domain': robots.domain}, 'tb1': {}}}))
        run = world.start('fleet', fleet=file)
        run.wait_for('2 of 2 robots started')
        hears(world, outer, '/tb1', 'bca')
        hears(robots, outer, '/tb2', 'bdd')
        shows_alone(outer, {'/tb1/privatizer', '/tb2/privatizer'},
                    {'/tb1/private_region', '/tb2/private_region'})
        for namespace in ('/tb1', '/tb2'):
            assert of_node(outer, 'privatizer', namespace) == [
                [f'{namespace}/private_region'], [], [], []]
        shows_alone(world, {'/fleet', '/tb1/privatizer'})
        shows_alone(robots, {'/tb2/privatizer'})
        assert run.stop() == 0 and 'Traceback' not in run.log
        run = outer.start('fleet', fleet=file)
        assert run.wait() == 1 and f'tb1 is in the domain {outer.domain}, where' in run.log
        file.write_text(file.read_text().replace(', "tb1": {}', ''))
        run = outer.start('fleet', fleet=file)
        assert run.wait() == 1 and 'where the private topics of tb2 go' in run.log


def test_simulated_time_stays_on_with_rclpy_of_lyrical(world, monkeypatch):
    """Emulated: from 10.0.10 on, a node is attached to the clock that its `get_clock` returns."""
    attach = TimeSource.attach_clock
    monkeypatch.setattr(TimeSource, 'attach_clock',
                        lambda source, clock: attach(source, source._get_node().get_clock()))
    inner = Node('inner', context=world.context,
                 parameter_overrides=[Parameter('use_sim_time', value=True)])
    outer = OuterNode(inner, free_domain())
    try:
        assert inner.get_clock().ros_time_is_active
        assert outer.get_clock() is inner.get_clock()
    finally:
        outer.leave()
        leave_domains()
        inner.destroy_node()
