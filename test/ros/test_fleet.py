# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `fleet`: many robots in one process."""
from contextlib import ExitStack
import gc
from itertools import cycle
import json
import os
import signal
import subprocess
import sys
from threading import Event

from harness import (LATCHED, PATIENCE, RELIABLE, ROOT, send, send_until, SURE, world_in)
import pytest
from rcl_interfaces.msg import Log
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from std_msgs.msg import String
from std_srvs.srv import Trigger
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.nodes.fleet import FleetNode, main
from symdp_ros.nodes.privatizer import live_choice_of
from symdp_ros.ros.process import spinning
from symdp_ros.ros.process.output_domain import leave_domains


def fleet_file(directory, chain_file, robots, epsilon=SURE, hides=('adjacency', 1), **top):
    """Write a fleet file (JSON is YAML); return its path."""
    file = directory / 'fleet.yaml'
    file.write_text(json.dumps({
        **top, 'robots': robots,
        'defaults': {'chain_file': str(chain_file), 'epsilon': epsilon, hides[0]: hides[1]}}))
    return file


def start(world, file, *, wait='robots started'):
    run = world.start('fleet', fleet=file)
    run.wait_for(wait)
    return run


def send_to(world, robot, word):
    publisher = world.publisher(f'/{robot}/region')
    send(publisher, *word)
    return publisher


def hears(world, robot, word):
    """Wait until the private topic of a robot shows a word, sent with a large ε."""
    private = world.listen(f'/{robot}/private_region')
    send_to(world, robot, word)
    world.wait_until(lambda: ''.join(private) == word, f'{word} from {robot}')


def reload(world):
    return world.call(Trigger, '/fleet/reload', Trigger.Request())


def state_of(world, robot):
    return world.state_of(f'{robot}/privatizer')


def levels(statuses):
    """Return robot → (level, message) as the fleet reported them last."""
    return {status.name.removeprefix('fleet: '): (ord(status.level), status.message)
            for status in statuses if status.name.startswith('fleet: ')}


def test_the_zones_of_all_robots_stand_in_defaults(world, corridor, tmp_path):
    (tmp_path / 'whole.yaml').write_text('zones: {all: [a, b, c, d]}\n')
    file = tmp_path / 'fleet.yaml'
    file.write_text('defaults: {chain_file: corridor.chain.yaml, epsilon: 1, adjacency: 1, '
                    'zones_file: zones.yaml}\n'
                    'robots: {tb1: , tb2: , tb3: {zones_file: whole.yaml}}\n')
    run = start(world, file)
    assert run.log.count('zones: 2, of 2 regions each') == 2
    assert run.log.count('zones: 1, of 4 regions') == 1
    for robot, told in ('tb1', ['west', 'east']), ('tb2', ['west', 'east']), ('tb3', ['all'] * 2):
        zones = world.listen(f'/{robot}/private_zone')
        publisher = send_to(world, robot, 'b')
        world.wait_until(lambda zones=zones: len(zones) == 1, f'the zone of {robot}')
        publisher.publish(String(data='c'))
        world.wait_until(lambda zones=zones: len(zones) == 2, f'the next zone of {robot}')
        assert zones == told


def test_each_robot_in_its_own_domain(world, chain_file, tmp_path):
    with ExitStack() as stack:
        others = [stack.enter_context(world_in(tmp_path)) for _ in range(2)]
        file = fleet_file(tmp_path, chain_file, {
            'tb1': {'domain': others[0].domain}, 'tb2': {'domain': others[1].domain},
            'tb3': {'region': '/elsewhere/region'}, 'tb4': {'domain': others[0].domain}})
        run = start(world, file, wait='4 of 4 robots started')
        hears(others[0], 'tb1', 'bca')
        hears(others[1], 'tb2', 'bd')
        hears(others[0], 'tb4', 'b')
        private = world.listen('/tb3/private_region')
        send_to(world, 'elsewhere', 'bb')
        world.wait_until(lambda: private == ['b', 'b'], 'the robot of the own domain')
        assert state_of(others[0], 'tb1') == 'active'
        for other, robots in zip(others, ({'tb1', 'tb4'}, {'tb2'}), strict=True):
            other.wait_until(lambda node=other.node, robots=robots: {
                namespace[1:] for name, namespace in node.get_node_names_and_namespaces()
                if name == 'privatizer'} == robots, 'the names of its robots alone')
        assert run.stop() == 0 and 'Traceback' not in run.log


def test_one_failure_stops_no_other(world, chain_file, tmp_path):
    file = fleet_file(
        tmp_path, chain_file, {
            'good': {}, 'lost': {'chain_file': 'none.yaml'},
            'poor': {'subject_budget': 0.5, 'subject': 'poor'}, 'odd': {'policy': 'paper'}},
        ledger_file='ledger', epsilon=1.0)
    statuses = world.diagnostics()
    run = start(world, file, wait='2 of 4 robots started')
    world.wait_until(lambda: len(levels(statuses)) == 4, 'a report')
    found = levels(statuses)
    assert found['good'] == found['odd'] == (0, 'active')
    assert found['lost'][0] == 2 and 'none.yaml: the file cannot be read' in found['lost'][1]
    assert found['poor'][0] == 2 and 'budget' in found['poor'][1]
    assert '2 of 4 robots started; failed: lost, poor' in run.log
    for robot in 'lost', 'poor':  # its own line alone says why
        assert run.log.count(found[robot][1].split(': ', 1)[1]) == 1
        assert f'[{robot}.privatizer]: ' in run.log
    private = world.listen('/good/private_region')
    send_to(world, 'good', 'abc')
    world.wait_until(lambda: len(private) == 3, 'the good one')
    assert state_of(world, 'lost') == 'unconfigured'
    assert run.stop() == 0


def test_the_budget_of_a_team(world, chain_file, tmp_path):
    robots = {name: {'subject': 'patrol'} for name in ('tb1', 'tb2', 'tb3')}
    file = fleet_file(tmp_path, chain_file, robots, epsilon=1.0, ledger_file='ledger',
                      subject_budget=2.0)
    run = start(world, file, wait='2 of 3 robots started')
    assert '; failed: tb3' in run.log
    assert run.stop() == 0
    ledger = Ledger(tmp_path / 'ledger')
    assert [(charge.subject, charge.epsilon) for charge in ledger.charges()] == [
        ('patrol', '1'), ('patrol', '1')]
    ledger.close()


def test_status_of_a_fleet_that_cannot_start(tmp_path, chain_file, world):
    everything = fleet_file(tmp_path, 'none.yaml', {'tb1': {}, 'tb2': {}})
    run = world.start('fleet', fleet=everything)
    assert run.wait() == 1 and '0 of 2 robots started' in run.log
    wrong = tmp_path / 'wrong.yaml'
    wrong.write_text('robots:\n  tb1: {epsilom: 1}\n')
    run = world.start('fleet', fleet=wrong)
    assert run.wait() == 1 and 'wrong.yaml, line 2: tb1 has the unknown key' in run.log
    run = world.start('fleet')
    assert run.wait() == 1 and 'no parameter reached this node' in run.log


def test_a_fleet_without_a_file(capsys):
    assert main(['fleet']) == 1 and 'fleet FILE' in capsys.readouterr().err


def test_the_file_may_be_the_first_argument(tmp_path, chain_file):
    done = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.nodes.fleet', 'no such.yaml'], cwd=ROOT,
        capture_output=True, text=True)
    assert done.returncode == 1 and 'no such.yaml: the file cannot be read' in done.stderr


def test_a_robot_is_removed_while_messages_reach_it(world, chain_file, tmp_path):
    robots = {'stays': {}, 'goes': {}}
    run = start(world, fleet_file(tmp_path, chain_file, robots, state_dir='state'), wait='2 of 2')
    private, sent = world.listen('/stays/private_region'), 0
    publishers = [world.publisher(f'/{robot}/region') for robot in robots]

    def stream(count):
        nonlocal sent
        for _ in range(count):
            for publisher in publishers:
                publisher.publish(String(data='a'))
            sent += 1
            world.spin(0.001)

    for number in range(6):
        fleet_file(tmp_path, chain_file, {'stays': {}} if number % 2 == 0 else robots,
                   state_dir='state')
        future = world.begin_call('/fleet/reload')
        world.wait_until(lambda future=future: future.done() or stream(5), 'the reload')
        assert future.result().success
        stream(20)
    world.wait_until(lambda: len(private) == sent, 'all symbols')
    assert run.stop() == 0 and 'Traceback' not in run.log
    assert run.log.count('[goes.privatizer]: a new word begins') == 1


def test_odd_names(world, chain_file, tmp_path):
    names = ['a__b', 'Z', 'x' * 100, 'fleet', 'privatizer', 'region']
    start(world, fleet_file(tmp_path, chain_file, {name: {} for name in names}), wait='6 of 6')
    for name in names:
        hears(world, name, 'bca')


def test_simulated_time_of_the_fleet_is_that_of_every_robot(world, chain_file, tmp_path):
    file = fleet_file(tmp_path, chain_file, {'tb1': {}, 'tb2': {'use_sim_time': False}})
    world.start('fleet', fleet=file, use_sim_time='true').wait_for('2 of 2')
    world.wait_until(lambda: world.node.count_subscribers('/clock') == 3, 'all listen to /clock')


def test_reload_leaves_the_others_untouched(world, chain_file, tmp_path):
    robots = {'stays': {}, 'goes': {}, 'changes': {'epsilon': 900.0}}
    run = start(world, fleet_file(tmp_path, chain_file, robots), wait='3 of 3')
    private, sent = world.listen('/stays/private_region'), 0
    publisher = world.publisher('/stays/region', qos=RELIABLE)

    def stream(count):
        nonlocal sent
        for _ in range(count):
            publisher.publish(String(data='aab'[sent % 3] if sent % 3 != 2 else 'a'))
            sent += 1
            world.spin(0.001)

    world.wait_until(lambda: private or stream(1), 'the first symbol')
    for change in ({'stays': {}, 'changes': {'epsilon': 800.0}, 'comes': {}},
                   {'stays': {}, 'lost': {'chain_file': 'none'}}, robots):
        fleet_file(tmp_path, chain_file, change)
        future = world.begin_call('/fleet/reload')
        world.wait_until(lambda future=future: future.done() or stream(5), 'the reload')
        assert future.result().success == ('lost' not in change), future.result().message
        assert '1 left as they were' in future.result().message
        stream(20)
    world.wait_until(lambda: len(private) == sent, 'all symbols')
    world.wait_until(lambda: {
        namespace for name, namespace in world.node.get_node_names_and_namespaces()
        if name == 'privatizer'} == {'/changes', '/goes', '/stays'}, 'no node of a removed robot')
    assert run.log.count('[stays.privatizer]: a new word begins') == 1
    assert sum('[changes.privatizer]' in line and 'a new word begins' in line
               for line in run.log.splitlines()) == 3
    hears(world, 'changes', 'b')
    assert run.stop() == 0 and 'Traceback' not in run.log


def test_reload_of_a_wrong_file_changes_nothing(world, chain_file, tmp_path):
    run = start(world, fleet_file(tmp_path, chain_file, {'tb1': {}}))
    file = fleet_file(tmp_path, chain_file, {'tb1': {'epsilon': 3.0}, 'secret_name': {'x': 1}})
    answer = reload(world)
    assert not answer.success and 'secret_name' not in answer.message
    assert 'is not valid' in answer.message and "secret_name has the unknown key 'x'" in run.log
    for value in ('!!bool maybe', '!!timestamp foo', '!!int ""', '&a [*a]', '0b_', '[' * 999):
        file.write_text('defaults: {chain_file: a, epsilon: 1, adjacency: 1}\n'
                        f'robots: {{tb1: {{where: {value}}}}}')
        assert not reload(world).success
    file.unlink()
    assert not reload(world).success
    hears(world, 'tb1', 'bc')
    assert run.log.count('a new word begins') == 1


def test_reload_starts_again_what_failed(world, chain_file, tmp_path):
    late = tmp_path / 'late.chain.yaml'
    run = start(world, fleet_file(tmp_path, chain_file, {'tb1': {}, 'tb2': {
        'chain_file': str(late)}}), wait='1 of 2')
    answer = reload(world)
    assert not answer.success and answer.message.endswith('failed: tb2')
    late.write_text(chain_file.read_text())
    answer = reload(world)
    assert answer.success and '1 started again, 1 left' in answer.message
    hears(world, 'tb2', 'bca')
    assert run.stop() == 0


@pytest.mark.parametrize('place', [{}, {'state_dir': 'state'}], ids=['default', 'state_dir'])
def test_after_a_kill_every_word_goes_on_and_is_charged_once(world, chain_file, tmp_path, place):
    names = [f'r{i}' for i in range(5)]
    file = fleet_file(tmp_path, chain_file, {name: {} for name in names}, epsilon=SURE,
                      ledger_file='ledger', **place)
    run = start(world, file, wait='5 of 5')
    for name in names:
        hears(world, name, 'bca')
    run.kill()
    run = start(world, file, wait='5 of 5')
    assert run.log.count('the word of the last run is carried on') == 5
    for name in names:
        private = world.listen(f'/{name}/private_region')
        world.wait_until(lambda private=private: private == ['a'], 'the last symbol once more')
    assert run.stop() == 0
    ledger = Ledger(tmp_path / 'ledger')
    assert sorted(charge.subject for charge in ledger.charges()) == names
    ledger.close()


@pytest.fixture
def here(request, world, chain_file, tmp_path, monkeypatch):
    """
    Give a function that starts a fleet in this process, where its insides can be reached.

    Its executor may be another one, as a parameter.
    """
    context = Context()
    context.init([], domain_id=world.domain)
    executor, made = getattr(request, 'param', SingleThreadedExecutor)(context=context), []

    def begin(robots, **top):
        fleet = FleetNode(context=context, use_global_arguments=False, parameter_overrides=[
            Parameter('fleet', value=str(fleet_file(tmp_path, chain_file, robots, **top)))])
        made.append(fleet)
        executor.add_node(fleet)
        assert fleet.autostart()
        spin = world.spin

        def both(seconds=0.02):
            executor.spin_once(timeout_sec=0.0)
            spin(0.001)

        monkeypatch.setattr(world, 'spin', both)
        return fleet

    yield begin
    while made:
        fleet = made.pop()
        fleet.stop()
        executor.remove_node(fleet)
        fleet.destroy_node()
    executor.shutdown()
    leave_domains()
    context.shutdown()
    fleet = executor = None  # an executor holds the nodes of its last callbacks
    gc.collect()  # rclpy's nodes stay in their domain, which a later test may be given, until here


@pytest.mark.parametrize('here', [SingleThreadedExecutor, EventsExecutor], indirect=True)
def test_an_exception_in_a_callback_stops_one_robot(here, world, capfd):
    fleet = here({'tb1': {}, 'tb2': {}})
    statuses = world.diagnostics()
    node = fleet._nodes['tb1']

    def draw(region, now):
        raise ValueError('SENSITIVE ' + region)

    node._word.draw = draw
    publisher = send_to(world, 'tb1', 'bbb')
    world.wait_until(lambda: levels(statuses).get('tb1') == (
        2, 'unconfigured: internal error: the traceback is on stderr'), 'a report of the failure')
    assert levels(statuses)['tb2'] == (0, 'active')
    assert node.failure and not any('SENSITIVE' in status.message for status in statuses)
    errors = capfd.readouterr().err
    assert errors.count('Traceback') == 1, 'nothing is processed after the first'
    assert errors.count('internal error: the traceback is on stderr') == 1
    hears(world, 'tb2', 'bca')
    world.node.destroy_publisher(publisher)
    assert reload(world).success
    hears(world, 'tb1', 'bca')


def test_whatever_reading_raises_the_robots_go_on(here, world, monkeypatch, capfd):
    fleet = here({'tb1': {}})

    def read(*_, **__):
        raise RecursionError('no such bound')

    monkeypatch.setattr('symdp_ros.nodes.fleet.read_fleet', read)
    assert 'nothing was changed' in reload(world).message
    assert 'RecursionError' in capfd.readouterr().err and list(fleet._nodes) == ['tb1']
    hears(world, 'tb1', 'bca')


def test_a_robot_that_failed_is_cleaned_up_in_every_state(here, world):
    fleet = here({'tb1': {}, 'tb2': {}})
    node = fleet._nodes['tb1']
    node.trigger_deactivate()  # as a caller of its lifecycle may have done since it failed
    node.failure = 'a full disk'
    fleet._give_up(node)
    assert state_of(world, 'tb1') == 'unconfigured' and node.failure == 'a full disk'
    fleet._give_up(node)
    assert reload(world).success and state_of(world, 'tb1') == 'active'


def test_a_robot_that_cannot_be_stopped_does_not_keep_the_others(here, world, chain_file, tmp_path,
                                                                 monkeypatch, capfd):
    fleet = here({'tb1': {}, 'tb2': {}, 'tb3': {}})

    def fail():
        raise OSError('no space')

    for method in ('stop', 'destroy_node'):
        monkeypatch.setattr(fleet._nodes['tb1'], method, fail)
    left = fleet._nodes['tb1']
    fleet_file(tmp_path, chain_file, {'tb2': {}, 'tb4': {}})
    answer = reload(world)
    assert answer.success and answer.message.startswith('1 new, 2 removed'), answer.message
    assert capfd.readouterr().err.count('OSError: no space') == 2
    hears(world, 'tb2', 'bca')
    hears(world, 'tb4', 'bca')
    monkeypatch.undo()
    left.stop()
    left.destroy_node()


def test_a_signal_while_robots_start_leaves_the_others_out(here, world, monkeypatch):
    starting, start_one = [], FleetNode._start

    def begin(fleet, robot):
        starting.append(robot.name)
        start_one(fleet, robot)
        if len(starting) == 2:
            monkeypatch.setattr(spinning, '_stopping', True)

    monkeypatch.setattr(FleetNode, '_start', begin)
    here({f'tb{i}': {} for i in range(5)})
    assert starting == ['tb0', 'tb1']


@pytest.mark.parametrize('number', [signal.SIGINT, *(
    pytest.param(number, marks=pytest.mark.thorough)
    for number in (signal.SIGTERM, signal.SIGHUP))])
def test_a_signal_while_a_large_fleet_starts_ends_it(world, chain_file, tmp_path, number):
    file = fleet_file(tmp_path, chain_file, {f'tb{i}': {} for i in range(40)})
    run = start(world, file, wait='[tb2.privatizer]: active')
    assert run.stop(number) == 0 and 'Traceback' not in run.log
    assert run.log.count(': inactive') == run.log.count('a new word begins')


def test_a_fleet_works_while_a_reload_makes_tables(here, world, chain_file, tmp_path, monkeypatch):
    guided, begun, made = {'policy': 'guided'}, Event(), Event()
    fleet = here({'fast': guided})

    def slowly(values, chain):
        if values['policy'] == 'adaptive':
            begun.set()
            made.wait(PATIENCE)
        return live_choice_of(values, chain)

    monkeypatch.setattr('symdp_ros.nodes.fleet.live_choice_of', slowly)
    fleet_file(tmp_path, chain_file, {'fast': guided, 'new': guided,
                                      'slow': {'policy': 'adaptive'}})
    answer = world.begin_call('/fleet/reload')
    world.wait_until(begun.is_set, 'the tables')
    hears(world, 'fast', 'bca')
    assert not answer.done() and 'slow' not in fleet._nodes
    made.set()
    world.wait_until(answer.done, 'an answer')
    assert answer.result().message.startswith('2 new, 0 removed'), answer.result().message
    for robot in 'new', 'slow':
        hears(world, robot, 'bca')


def test_what_has_no_effect_is_said_of_each_robot(world, chain_file, tmp_path):
    run = start(world, fleet_file(tmp_path, chain_file, {
        'tb1': {'period': 2.0, 'hysteresis': 0.5}, 'tb2': {'period': 2.0, 'sampling': 'period'}}))
    assert '[tb1.privatizer]: period has no effect: it needs sampling: period' in run.log
    assert '[tb1.privatizer]: hysteresis has no effect: it needs input: pose' in run.log
    assert '[tb1.privatizer]: epsilon is 1000: others can be' in run.log
    assert '[tb2.privatizer]: period has' not in run.log
    assert run.stop(signal.SIGHUP) == 0 and run.log.count(': inactive') == 2


def test_robots_with_equal_settings_share_tables(here, world):
    fleet = here({'tb1': {'policy': 'adaptive'}, 'tb2': {'policy': 'adaptive'},
                  'tb3': {'policy': 'adaptive', 'epsilon': 3.0}})
    first, second, third = (node._word.mechanism for node in fleet._nodes.values())
    assert first.tables is second.tables is not third.tables
    assert first.chain is second.chain and first is not second
    assert third.chain is first.chain
    hears(world, 'tb2', 'bca')  # and have words of their own
    hears(world, 'tb1', 'bda')


def test_robots_that_hide_visits_share_tables(here):
    fleet = here({'tb1': {}, 'tb2': {}, 'tb3': {'epsilon': 3.0}, 'tb4': {'protect': 10.0},
                  'tb5': {'stay': 60.0}}, hides=('protect', 30.0), epsilon=2.0)
    first, second, third, fourth, fifth = (
        node._word.mechanism for node in fleet._nodes.values())
    assert first.tables is second.tables is not third.tables and first is not second
    assert first.chain is second.chain is third.chain is fourth.chain is not fifth.chain
    assert [mechanism.stride for mechanism in (first, second, third, fourth, fifth)] == [
        31, 31, 31, 11, 31]
    assert all(node._word.mechanism.privacy.adjacency == 1 for node in fleet._nodes.values())


def test_a_robot_of_which_nothing_is_hidden_does_not_start(world, chain_file, tmp_path):
    run = start(world, fleet_file(tmp_path, chain_file, {'tb1': {}, 'tb2': {'protect': 0.0}},
                                  hides=('protect', 30.0)), wait='1 of 2 robots started')
    assert '[tb2.privatizer]: say what is hidden: protect: 30.0 hides any visit of' in run.log
    assert 'failed: tb2' in run.log


def test_a_map_is_known_by_its_content(here, world, chain_file, tmp_path):
    fleet, before = here({'tb1': {}}), chain_file.stat()
    with open(chain_file, 'r+') as file:  # another content, and all else is as it was
        text = file.read().replace('d: [d, a]', 'd: [d, b]')
        file.seek(0)
        file.write(text)
    os.utime(chain_file, ns=(before.st_atime_ns, before.st_mtime_ns))
    fleet_file(tmp_path, chain_file, {'tb1': {}, 'tb2': {}})
    assert reload(world).success
    chains = [node._word.mechanism.chain.successors('d') for node in fleet._nodes.values()]
    assert chains == [('d', 'a'), ('d', 'b')]


def test_robots_share_a_map_as_long_as_it_is_the_same(here, world, chain_file, tmp_path):
    fleet = here({'tb1': {}, 'tb2': {'epsilon': 900.0}, 'tb3': {'initial_state': 'b'}})
    chains = [node._word.mechanism.chain for node in fleet._nodes.values()]
    assert chains[0] is chains[1] and chains[2].initial_state == 'b'
    chain_file.write_text(chain_file.read_text().replace('d: [d, a]', 'd: [d]'))
    fleet_file(tmp_path, chain_file, {'tb1': {}, 'tb2': {'epsilon': 800.0}})
    assert reload(world).success
    old, new = (node._word.mechanism.chain for node in fleet._nodes.values())
    assert old.successors('d') == ('d', 'a') and new.successors('d') == ('d',)


@pytest.fixture
def stands(fifty):
    """Give what is set for a robot that stands still; a second draw would show."""
    return {'chain_file': str(fifty), 'sampling': 'change', 'epsilon': 0.1}


def moves_on(world, private):
    """Send other regions in turn, until one of them is drawn; return how many were before."""
    publisher, before = world.publisher('/tb1/region', qos=RELIABLE), len(private)
    send_until(world, publisher, cycle(['s8', 's9']).__next__, lambda: len(private) > before)
    return before


@pytest.mark.parametrize('sampling', ['change', pytest.param('message',
                                                             marks=pytest.mark.thorough)])
@pytest.mark.parametrize('changes', [
    [{'parameter_services': True}, {'outputs': ['string', 'string']}],
    [{'epsilon': 0.2}, {'epsilon': 0.3, 'sampling': 'message'}, {'sampling': 'change'}],
    [{'unknown_symbol': 'drop'}, {'no_region': ['none']}],
    [None, {}],                                        # removed, and there again
    [{'region': '/tb1/alias'}, {}],
    [{'sampling': 'period', 'period': 1000.0}, {}],
], ids=['outputs', 'privacy', 'reading', 'removed', 'topic', 'period'])
def test_no_reload_has_the_region_of_a_robot_drawn_again(world, stands, tmp_path, changes,
                                                         sampling):
    stands['sampling'] = sampling
    robots = {'tb1': stands, 'tb2': stands}
    run = start(world, fleet_file(tmp_path, '', robots), wait='2 of 2')
    private = world.listen('/tb1/private_region')
    world.latch('s7', '/tb1/region')
    world.wait_until(lambda: private, 'its symbol')
    for change in changes:
        now = {'tb2': stands} if change is None else {**robots, 'tb1': {**stands, **change}}
        fleet_file(tmp_path, '', now)
        assert reload(world).success, run.log
        world.settle(0.5)
    assert moves_on(world, private) == 1, 'it was drawn again'
    assert run.stop() == 0 and 'Traceback' not in run.log


def test_a_robot_under_another_name_draws_no_region_again(world, stands, tmp_path):
    start(world, fleet_file(tmp_path, '', {'tb1': stands}))
    private, other = world.listen('/tb1/private_region'), world.listen('/tb9/private_region')
    world.latch('s7', '/tb1/region')
    world.wait_until(lambda: private, 'its symbol')
    fleet_file(tmp_path, '', {'tb9': {**stands, 'region': '/tb1/region'}})
    assert reload(world).success
    assert moves_on(world, other) == 0 and len(private) == 1


@pytest.mark.parametrize('sampling', ['change', 'message'])
def test_a_robot_that_failed_goes_on_where_it_was(here, world, stands, tmp_path, sampling):
    """With a state file, and without."""
    stands['sampling'] = sampling
    fleet = here({'tb1': {**stands, 'state_file': str(tmp_path / 'word')}, 'tb2': stands})
    private = {name: world.listen(f'/{name}/private_region') for name in ('tb1', 'tb2')}
    for name in private:
        world.latch('s7', f'/{name}/region')
    world.wait_until(lambda: all(private.values()), 'their symbols')
    for _ in range(4):
        names = [fleet._nodes[name]._word.name for name in private]
        for name in private:  # its look into the queues raises
            fleet._nodes[name]._subscription._subscriptions.append(None)
        world.wait_until(lambda: len(fleet._failed()) == 2, 'the failures')
        world.wait_until(lambda: {state_of(world, name) for name in private} == {'unconfigured'},
                         'they are cleaned up')
        assert reload(world).success
        assert names == [fleet._nodes[name]._word.name for name in private]
        world.settle(0.3)
    assert len(private['tb2']) == 1
    assert moves_on(world, private['tb1']) == 1, 'it was drawn again'


@pytest.fixture
def outside(tmp_path):
    """Give another ROS domain; made before `here`, it ends after it."""
    with world_in(tmp_path) as made:
        yield made


@pytest.mark.parametrize('here', [SingleThreadedExecutor, EventsExecutor], indirect=True)
def test_nothing_is_left_of_a_node_that_ended(outside, here, world, chain_file, tmp_path):
    """Also when Python collects what is garbage: names and /rosout are those of the successors."""
    robots = {'tb1': {}, 'tb2': {'output_domain': outside.domain}, 'tb3': {}}
    fleet, logged = here(robots), []
    world.node.create_subscription(Log, '/rosout', lambda log: logged.append(
        (log.name, log.msg.partition(':')[0])), LATCHED)

    def nodes():
        return sorted(space for name, space in world.node.get_node_names_and_namespaces()
                      if name == 'privatizer')

    def owners(of, topic):
        return sorted(f'{info.node_namespace}/{info.node_name}'
                      for info in of.node.get_publishers_info_by_topic(topic))

    for epsilon in 2.0, 3.0:
        fleet_file(tmp_path, chain_file, {
            name: {**given, 'epsilon': epsilon} for name, given in robots.items()})
        assert reload(world).success
        for _ in range(2):
            gc.collect()
            world.settle(0.2)
        expected = ['/tb1', '/tb2', '/tb3']
        world.wait_until(lambda: nodes() == expected, 'one node for each robot')
        outside.wait_until(lambda: outside.nodes_for_a_newcomer() == ['/tb2/privatizer'],
                           lambda: f'one outer node: {outside.nodes_for_a_newcomer()}')
        world.wait_until(lambda: owners(world, '/tb1/private_region') == ['/tb1/privatizer'],
                         'its topic')
        outside.wait_until(
            lambda: owners(outside, '/tb2/private_region') == ['/tb2/privatizer'],
            lambda: f"its topic: {owners(outside, '/tb2/private_region')}")
        assert [name for name in owners(world, '/rosout') if name != '//observer'] == [
            '//fleet', *(f'{name}/privatizer' for name in expected)]
        logged.clear()
        for name in robots:
            fleet._nodes[name].get_logger().info('here: I am')
        world.wait_until(lambda: {(f'{name}.privatizer', 'here') for name in robots}
                         <= set(logged), 'their logs')
