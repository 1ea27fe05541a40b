# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Every preset, with messages of the type that it names, through DDS into a privatizer.

A test is skipped where the message package is not installed: few of them are on package indexes.
"""
from importlib import import_module
from pathlib import Path

from harness import BEST_EFFORT, LATCHED, RELIABLE, SURE, wait_until
import pytest

PRESETS = Path(__file__).resolve().parents[2] / 'config' / 'presets'


def package(name):
    """Return a package of messages; skip the test where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        pytest.skip(f'{name.partition(".")[0]} is not installed')


def start(world, preset, topic, *, to='region', chain_file=None, **more):
    """Start a privatizer with a preset, for as many symbols a second as a test likes."""
    if chain_file is None:
        chain_file = world.directory / 'modes.chain.yaml'
        chain_file.write_text('initial_state: dock\nsymbols: [dock, hall, yard, ramp, "7", "8", '
                              '"9", "0"]\n')
    world.privatizer('--params-file', str(PRESETS / f'{preset}.yaml'), '-r', f'{to}:={topic}',
                     chain_file=chain_file, epsilon=SURE, protect=0.01, period=0.02, **more)
    return world.listen()


def follow(world, send, private, states):
    """
    Send each state until the private regions are this state alone.

    From the first of them on, no other region may come out: noise would show that something was
    read as unknown, other regions that another robot's message was read.
    """
    known = 0
    for state in states:
        def spin(state=state):
            send(state)
            world.spin(0.01)

        wait_until(lambda state=state: private[known:][-5:] == [state] * 5, f'{state} to arrive',
                   spin)
        known = known or len(private)
    assert set(private[known:]) <= set(states)


def publish_with(world, topic, message_type, qos, messages_of):
    """Return a function that publishes all messages that there are of a state."""
    publisher = world.publisher(topic, message_type, qos)

    def send(state):
        for message in messages_of(state):
            publisher.publish(message)

    return send


def test_autoware(world):
    state = package('autoware_adapi_v1_msgs.msg').OperationModeState
    values = {'AUTONOMOUS': 2, 'REMOTE': 4, 'STOP': 1}
    private = start(world, 'autoware', '/api/operation_mode/state',
                    chain_file=PRESETS / 'autoware.chain.yaml')
    send = publish_with(world, '/api/operation_mode/state', state, LATCHED,
                        lambda mode: [state(mode=values[mode], is_in_transition=True)])
    follow(world, send, private, values)


def test_lcas(world):
    from std_msgs.msg import String

    private = start(world, 'lcas', '/robot_1/closest_node')
    send = publish_with(world, '/robot_1/closest_node', String, LATCHED,
                        lambda node: [String(data=node)])
    follow(world, send, private, ['hall', 'yard', 'dock'])


def test_nav2_route(world):
    route = package('nav2_msgs.action').ComputeAndTrackRoute
    from rclpy.action import ActionClient, ActionServer

    goals = []
    server = ActionServer(world.node, route, 'compute_and_track_route', lambda goal: None,
                          handle_accepted_callback=goals.append)
    client = ActionClient(world.node, route, 'compute_and_track_route')
    world.wait_until(client.server_is_ready, 'the action server')
    client.send_goal_async(route.Goal())
    world.wait_until(lambda: goals, 'a goal')
    topic = '/compute_and_track_route/_action/feedback'
    private = start(world, 'nav2_route', topic)
    world.wait_until(lambda: world.node.count_subscribers(topic) > 1, 'a subscription')

    def send(node):
        # As the route server begins a route, before the robot passed a node: 0 means none.
        goals[0].publish_feedback(route.Feedback(rerouted=True, last_node_id=0, next_node_id=7))
        goals[0].publish_feedback(route.Feedback(last_node_id=int(node), next_node_id=8,
                                                 current_edge_id=9))

    follow(world, send, private, ['7', '9', '8'])
    follow(world, send, private, ['0', '7'])  # node 0 is a node, too
    server.destroy()
    client.destroy()


#: Two floors, one above the other, and a lift at dock and yard.
BUILDING = """\
name: house
coordinate_system: cartesian_meters
levels:
  L1:
    vertices: [[0, 0, 0, dock, {lift_cabin: [1, lift]}], [10, 0, 0, hall], [20, 0, 0, shop]]
    lanes: [[0, 1, {bidirectional: [4, true]}], [1, 2, {bidirectional: [4, true]}]]
  L2:
    vertices: [[0, 0, 0, yard, {lift_cabin: [1, lift]}], [10, 0, 0, ramp], [20, 0, 0, roof]]
    lanes: [[0, 1, {bidirectional: [4, true]}], [1, 2, {bidirectional: [4, true]}]]
lifts: {lift: {level_doors: {L1: [door], L2: [door]}, x: 0, y: 0}}
"""


def test_open_rmf(world):
    messages = package('rmf_fleet_msgs.msg')
    building = world.directory / 'house.building.yaml'
    building.write_text(BUILDING)
    private = start(
        world, 'open_rmf', '/fleet_states', to='pose', chain_file=building, initial_state='dock',
        where="['name=tinyRobot']", field='robots[name=tb1].location',
        level_field='robots[name=tb1].location.level_name')
    places = {'dock': (1.0, 'L1'), 'hall': (11.0, 'L1'), 'yard': (1.0, 'L2'), 'ramp': (9.0, 'L2')}

    def robot(name, x, level):
        return messages.RobotState(name=name, location=messages.Location(x=x, level_name=level))

    def states_of(place):
        others = [robot('tb2', 20.0, 'L2'), robot('tb3', 20.0, 'L1')]
        wanted = robot('tb1', *places[place])
        return [messages.FleetState(name=fleet, robots=robots) for fleet, robots in (
            ('tinyRobot', [wanted, *others]), ('tinyRobot', [*others, wanted]),
            ('tinyRobot', others), ('deliveryRobot', [robot('tb1', 20.0, 'L1')]))]

    send = publish_with(world, '/fleet_states', messages.FleetState, RELIABLE, states_of)
    follow(world, send, private, ['hall', 'dock', 'yard', 'ramp'])


def test_patrolling_sim(world):
    from std_msgs.msg import Int16MultiArray

    private = start(world, 'patrolling_sim', '/results', where="['data[0]=1', 'data[1]=11']")
    send = publish_with(
        world, '/results', Int16MultiArray, RELIABLE,
        lambda vertex: [Int16MultiArray(data=data) for data in (
            [0, 11, 9], [1, 11, int(vertex)], [1, 12], [1, 40, 9, 9, 9], [-1, 10, 9], [2, 11, 9])])
    follow(world, send, private, ['7', '0', '8'])


def test_patrolling_sim_needs_the_number_of_the_robot(starter, chain_file):
    assert "where has the condition 'data[0]=ROBOT'" in starter.refused(
        'privatizer', '--params-file', str(PRESETS / 'patrolling_sim.yaml'),
        chain_file=chain_file, epsilon=1.0, protect=0.5)


def test_px4(world):
    status = package('px4_msgs.msg').VehicleStatus
    values = {'AUTO_MISSION': 3, 'AUTO_RTL': 5, 'OFFBOARD': 14, 'MANUAL': 0}
    private = start(world, 'px4', '/fmu/out/vehicle_status_v1',
                    chain_file=PRESETS / 'px4.chain.yaml')
    send = publish_with(world, '/fmu/out/vehicle_status_v1', status, BEST_EFFORT,
                        lambda mode: [status(nav_state=values[mode], armed_time=9)])
    follow(world, send, private, values)


def test_system_modes(world):
    messages = package('system_modes_msgs.msg')
    private = start(world, 'system_modes', '/actuation/mode_event')
    send = publish_with(
        world, '/actuation/mode_event', messages.ModeEvent, RELIABLE,
        lambda mode: [messages.ModeEvent(start_mode=messages.Mode(label='ramp'),
                                         goal_mode=messages.Mode(label=mode))])
    follow(world, send, private, ['hall', 'yard', 'dock'])


@pytest.mark.parametrize('message_type', ['vda5050_msgs/msg/OrderState',
                                          'vda5050_interfaces/msg/State'])
def test_vda5050(world, message_type):
    name, _, kind = message_type.split('/')
    state = getattr(package(f'{name}.msg'), kind)
    topic = '/uagv/v1/robots/robot_1/state'
    private = start(world, 'vda5050', topic, message_type=message_type)
    send = publish_with(world, topic, state, RELIABLE,
                        lambda node: [state(order_id='ramp', last_node_id=node)])
    follow(world, send, private, ['hall', 'yard', 'dock'])
