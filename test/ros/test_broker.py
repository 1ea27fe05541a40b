# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States of VDA 5050 come in from a real MQTT broker, and private ones go out."""
from contextlib import contextmanager
import json
from pathlib import Path
import re
import shutil
import signal
import subprocess
from unittest.mock import Mock

from harness import free_domain, REACTIVATE, SURE, values_of
from mqtt import Mosquitto, Station
import pytest
from rcl_interfaces.msg import Log
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.ros.live.broker import Broker
from vda5050_states import message

STATE, PRIVATE = 'uagv/v2/KIT/0001/state', 'uagv/v2/KIT/0001/private_state'
KEYS = {'headerId', 'timestamp', 'version', 'manufacturer', 'serialNumber', 'lastNodeId'}


@pytest.fixture
def broker(tmp_path):
    made = Mosquitto(tmp_path)
    yield made
    made.kill()


@pytest.fixture
def station(broker):
    """Give a client that sends states and reads all that others publish."""
    made = Station(broker, '#')
    yield made
    made.close()


@pytest.fixture
def of_broker(broker, chain_file):
    """Give parameters of a privatizer."""
    return {'chain_file': chain_file, 'epsilon': SURE, 'broker': broker.address,
            'state_topic': STATE}


def private(station):
    """Return the private states that came, each once, in the order of their numbers."""
    found = {}
    for topic, payload, _ in station.messages:
        if topic == PRIVATE:
            read = json.loads(payload)
            assert found.setdefault(read['headerId'], read) == read
    return [found[number] for number in sorted(found)]


def regions(station):
    return ''.join(read['lastNodeId'] for read in private(station))


@contextmanager
def subscribing(world, broker, topic=STATE, times=1):
    """Wait until what is done here has so often had the node subscribe to the topic, or leave."""
    before = broker.count(topic)
    yield
    world.wait_until(lambda: broker.count(topic) >= before + times, f'a subscription of {topic}')


def start(world, broker, of_broker, **more):
    """Return a privatizer that reads the broker."""
    parameters = {**of_broker, **more}
    with subscribing(world, broker, parameters['state_topic']):
        return world.privatizer(**parameters)


def restart(world, broker, station, run):
    """Start a broker that was killed; wait until all are connected, the node last."""
    run.process.send_signal(signal.SIGSTOP)  # else it may send before the other reads
    with subscribing(world, broker):
        broker.start()
        station.wait_until_ready()
        run.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize('version', ['2.1.0', '3.0.0'])
def test_states_become_private_ones(world, broker, station, of_broker, version):
    topic, on_ros = STATE.replace('v2', f'v{version[0]}'), world.listen()
    run = start(world, broker, of_broker, state_topic=topic)
    station.send(topic, *[message(node, version=version) for node in 'bcab'])
    world.wait_until(lambda: len(on_ros) == 4, 'four private regions')
    world.wait_until(lambda: len(station.messages) == 8, 'four private states')
    there = [json.loads(payload) for name, payload, _ in station.messages
             if name == topic.replace('/state', '/private_state')]
    assert on_ros == [read['lastNodeId'] for read in there] == [*'bcab']
    assert [read['headerId'] for read in there] == [0, 1, 2, 3]
    assert all(read.keys() == KEYS and read['version'] == f'{version[0]}.0.0'
               and (read['manufacturer'], read['serialNumber']) == ('KIT', '0001')
               for read in there)
    assert run.stop() == 0
    # Its last private state stays at the broker, for who comes late; nothing else was kept.
    late = Station(broker, '#')
    world.wait_until(lambda: late.messages, 'what the broker kept')
    [(name, payload, is_kept)] = late.messages
    assert is_kept and json.loads(payload) == there[-1] and name.endswith('private_state')
    late.close()


def test_positions_become_private_states(world, tmp_path, broker, station, of_broker):
    layout = tmp_path / 'plant.lif'
    layout.write_text(json.dumps({'layouts': [{
        'nodes': [{'nodeId': name, 'mapId': 'hall', 'nodePosition': {'x': x, 'y': 0.0}}
                  for name, x in (('a', 0.0), ('b', 10.0), ('c', 20.0))],
        'edges': [{'edgeId': f'{one}{other}', 'startNodeId': one, 'endNodeId': other}
                  for one, other in ('ab', 'ba', 'bc', 'cb')]}]}))
    run = start(world, broker, of_broker, chain_file=layout, initial_state='a', self_loops=True,
                input='pose', level_field='mapId')
    station.send(STATE, *[message('n7', position=(x, 0.5)) for x in (1, 9, 11, 19, 12)])
    world.wait_until(lambda: len(private(station)) == 5, 'five private states')
    assert regions(station) == 'abbcb' and run.stop() == 0


def seen_of(world, broker, station, of_broker, word):
    """Run a node on messages; return all that others see of it but its private regions."""
    lines, statuses = world.listen_whole('/rosout', Log), world.diagnostics()
    station.messages.clear()
    run = start(world, broker, of_broker, epsilon=0.0, state_file='none')
    world.settle()  # the reader's side of the connections
    station.send(STATE, *word)
    world.wait_until(lambda: len(private(station)) == len(word), 'the private word')
    statuses.clear()
    world.wait_until(lambda: len(statuses) > 1, 'reports on the whole word')
    report = statuses[-1]
    assert run.stop() == 0
    states = [{key: value for key, value in read.items() if key not in ('timestamp', 'lastNodeId')}
              for read in private(station)]
    return {
        'report': (report.level, report.message, {
            key: value for key, value in values_of(report).items() if 'per second' not in key}),
        'rosout': [line.msg for line in lines if line.msg != 'inactive'],  # that may be lost
        'log': re.sub(r'\[[0-9.]+\]', '', run.log), 'states': states,
        'topics': sorted({topic for topic, _, _ in station.messages if topic != STATE})}


def test_runs_on_different_words_look_alike(world, broker, station, of_broker):
    """Whatever comes, all is the same but the private regions: no state leaves a trace."""
    still = [message('b')] * 8
    strange = [*[message(node, number=900 + i, second=i, position=(i, i), version='3.0.0')
                 for i, node in enumerate(['b', 'attic', '', 'a'])],
               b'{', b'\xff', b'{"lastNodeId": 7}', message('c')]
    one, other = (seen_of(world, broker, station, of_broker, word) for word in (still, strange))
    for aspect, seen in one.items():
        assert seen == other[aspect], aspect
    assert all(read.keys() == KEYS - {'timestamp', 'lastNodeId'} for read in other['states'])
    assert one['topics'] == [PRIVATE] and one['report'][2]['published'] == '8'
    assert not any(word in str(other) for word in ('attic', 'order-17', '20:15', '61.5', 'Error'))


def test_a_first_message_that_is_no_state_is_said(world, broker, station, of_broker):
    statuses, run = world.diagnostics(), start(world, broker, of_broker)
    station.send(STATE, b'{"nodeId": "attic"}')
    world.wait_until(lambda: any('was no state of VDA 5050' in status.message
                                 for status in statuses), 'a warning')
    assert not any('attic' in str(status) for status in statuses) and 'attic' not in run.log


def test_nothing_that_was_drawn_is_lost_while_the_broker_is_away(world, broker, station,
                                                                 of_broker):
    on_ros, statuses = world.listen(), world.diagnostics()
    run = start(world, broker, of_broker, sampling='period', period=0.05)
    station.send(STATE, message('b'))
    world.wait_until(lambda: 'b' in on_ros, 'a private region')
    for _ in range(2):
        before = len(on_ros)
        broker.kill()
        station.forget_connection()
        world.wait_until(lambda before=before: len(on_ros) >= before + 40 and any(
            int(values_of(status).get('private states that wait for the broker', 0)) > 20
            for status in statuses), 'private states that wait')
        restart(world, broker, station, run)
        after = len(on_ros)
        station.send(STATE, message('c'))
        world.wait_until(lambda after=after: private(station)[-1]['headerId'] > after, 'the rest')
        world.wait_until(lambda: on_ros[-1] == 'c', 'the state of after')
        station.send(STATE, message('b'))
    found = private(station)
    # Numbers without a gap, and what the topic of ROS had, in this order.
    assert [read['headerId'] for read in found] == [*range(len(found))]
    world.wait_until(lambda: len(on_ros) >= len(found), 'the topic of ROS')
    assert [read['lastNodeId'] for read in found] == on_ros[:len(found)]
    assert [read['timestamp'] for read in found] == sorted(read['timestamp'] for read in found)
    statuses.clear()
    world.wait_until(lambda: any(values_of(status).get('private states dropped') == '0'
                                 for status in statuses), 'a report')


def test_a_node_that_was_killed_goes_on_with_its_word(world, ring, broker, station, of_broker):
    places = []
    for round_ in range(3):
        station.messages.clear()
        run = start(world, broker, of_broker, chain_file=ring, epsilon=1.0)
        assert ('is carried on' in run.log) == (round_ > 0)
        # Who comes late sees the last private state again: none is drawn for it.
        world.wait_until(lambda r=round_: r == 0 or private(station), 'what was published last')
        station.send(STATE, *[message('anything')] * 10)
        world.wait_until(lambda r=round_: len(private(station)) == 10 + (r > 0), 'ten states')
        places += [int(read['lastNodeId'][1:]) for read in private(station)]
        run.kill()
    steps = [there - here for here, there in zip(places, places[1:], strict=False)]
    assert places[0] == 1 and steps == [1] * 9 + ([0] + [1] * 10) * 2


def test_a_node_that_is_killed_while_the_broker_is_away(world, tmp_path, broker, station,
                                                        of_broker):
    on_ros = world.listen()
    run = start(world, broker, of_broker, sampling='period', period=0.05)
    station.send(STATE, message('b'))
    world.wait_until(lambda: 'b' in on_ros, 'a private region')
    broker.kill()
    station.forget_connection()
    count = len(on_ros)
    world.wait_until(lambda: len(on_ros) > count + 10, 'draws without a broker')
    run.kill()
    station.messages.clear()
    run = world.privatizer(**of_broker, sampling='period', period=0.05)
    assert 'is carried on' in run.log
    restart(world, broker, station, run)
    # The first is that of before, which was drawn: stored before it was published.
    world.wait_until(lambda: len(private(station)) > 5, 'private states')
    assert private(station)[0]['headerId'] == 0 and private(station)[0]['lastNodeId'] == 'b'


def test_a_state_that_the_broker_keeps_is_drawn_once(world, broker, station, of_broker):
    station.send(STATE, message('b'), retain=True)
    run = start(world, broker, of_broker)
    world.wait_until(lambda: regions(station) == 'b', 'the state that was kept')
    for count in 2, 3:  # a region is not drawn again for a subscription that is made anew
        with subscribing(world, broker, times=2):
            world.change('privatizer', *REACTIVATE)
        broker.kill()
        station.forget_connection()
        restart(world, broker, station, run)
        station.send(STATE, message('b'), retain=True)
        world.wait_until(lambda n=count: len(regions(station)) >= n, 'another state')
    assert regions(station) == 'bbb' and run.stop() == 0


def test_states_that_wait_are_passed_on_one_at_a_time():
    """Else a node for which they come too fast notices no signal: each task takes them all."""
    tasks, read, node = [], [], Mock()
    node.guarded, node.executor.create_task = lambda work: work, tasks.append
    broker = Broker(node, InputSettings(broker='mqtt://127.0.0.1:1', state_topic=STATE))
    broker.listen(read.append, latched=True)
    for number in range(3):
        broker._came(None, None, Mock(payload=number, retain=False))
    for number in range(3):
        assert read == [*range(number)] and len(tasks) == 1
        tasks.pop()()
    assert read == [0, 1, 2] and not tasks
    broker.close()


def test_nothing_is_read_while_the_node_is_inactive(world, broker, station, of_broker):
    run = start(world, broker, of_broker)
    with subscribing(world, broker):
        world.change('privatizer', REACTIVATE[0])
    station.send(STATE, message('b'))
    with subscribing(world, broker):
        world.change('privatizer', REACTIVATE[1])
    station.send(STATE, message('b'), message('c'))
    world.wait_until(lambda: len(regions(station)) == 2, 'two private states')
    assert regions(station) == 'bc' and run.stop() == 0


def test_a_fleet_at_a_broker(world, tmp_path, broker, station, chain_file):
    topics = {'tb1': STATE, 'tb2': 'uagv/v3/KIT/0002/state'}
    (tmp_path / 'fleet.yaml').write_text(json.dumps({
        'defaults': {'chain_file': str(chain_file), 'epsilon': SURE, 'adjacency': 1,
                     'broker': broker.address},
        'robots': {robot: {'state_topic': topic} for robot, topic in topics.items()}}))
    on_ros = {robot: world.listen(f'/{robot}/private_region') for robot in topics}
    with subscribing(world, broker), subscribing(world, broker, topics['tb2']):
        run = world.start('fleet', fleet=tmp_path / 'fleet.yaml')
    station.send(topics['tb1'], *map(message, 'bc'))
    station.send(topics['tb2'], *[message(node, version='3.0.0') for node in 'bd'])
    world.wait_until(lambda: [*map(len, on_ros.values())] == [2, 2], 'private regions')
    world.wait_until(lambda: len(station.messages) == 8, 'private states')
    found = [(topic, json.loads(payload)) for topic, payload, _ in station.messages
             if topic not in topics.values()]
    assert {serial: ''.join(read['lastNodeId'] for topic, read in found if serial in topic)
            for serial in ('0001', '0002')} == {'0001': 'bc', '0002': 'bd'}
    assert all(read['serialNumber'] in topic for topic, read in found) and run.stop() == 0


def test_a_robot_with_another_name_and_domain_is_not_drawn_again(world, tmp_path, broker, station,
                                                                 chain_file):
    """The state that the broker keeps was drawn for it: the same stay would cost ε twice."""
    def write(robot, **settings):
        (tmp_path / 'fleet.yaml').write_text(json.dumps({'robots': {robot: {
            'chain_file': str(chain_file), 'epsilon': SURE, 'adjacency': 1, 'state_topic': STATE,
            'broker': broker.address, **settings}}}))

    def found():  # by two nodes, each of which counts its states
        return [json.loads(payload)['lastNodeId'] for topic, payload, _ in station.messages
                if topic == PRIVATE]

    write('tb1')
    station.send(STATE, message('b'), retain=True)
    run = world.start('fleet', fleet=tmp_path / 'fleet.yaml')
    world.wait_until(found, 'the state that was kept')
    write('tb2', domain=free_domain())
    with subscribing(world, broker, times=2):
        assert world.trigger('/fleet/reload').success
    world.settle()
    assert found() == ['b']
    station.send(STATE, message('b'))
    world.wait_until(lambda: len(found()) == 2, 'what came later')
    assert run.stop() == 0


def test_another_privatizer_of_the_same_states_is_refused(world, broker, of_broker, monkeypatch):
    """In whatever ROS domain: both together would spend twice ε, on one topic of the broker."""
    run = start(world, broker, of_broker)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(world, 'domain', free_domain())
        other = world.privatizer(**of_broker, wait=False)
    assert other.wait() == 1 and f'already publishes {PRIVATE}' in other.log
    assert run.stop() == 0


def test_name_and_password(world, tmp_path, of_broker):
    maker = shutil.which('mosquitto_passwd')
    if maker is None:
        pytest.skip('mosquitto_passwd is not installed')
    passwords, login = tmp_path / 'passwords', tmp_path / 'login'
    subprocess.run([maker, '-b', '-c', passwords, 'kit', 'open sesame'], check=True)
    guarded = Mosquitto(tmp_path, 'allow_anonymous false', f'password_file {passwords}',
                        'user root')
    station, statuses = Station(guarded, '#', login=('kit', 'open sesame')), world.diagnostics()
    login.write_text('kit\nwrong\n')
    login.chmod(0o600)
    of_broker = {**of_broker, 'broker': guarded.address, 'broker_login': login}
    run = world.privatizer(**of_broker)
    world.wait_until(lambda: any('there is no connection to the broker' in status.message
                                 for status in statuses), 'a warning')
    assert run.stop() == 0
    login.write_text('kit\nopen sesame\n')
    run = start(world, guarded, of_broker)
    station.send(STATE, message('b'))
    world.wait_until(lambda: regions(station) == 'b', 'a private state')
    assert run.stop() == 0 and 'sesame' not in run.log
    station.close()
    guarded.kill()


def test_a_subscription_that_is_refused_is_said(world, tmp_path, of_broker):
    plugin = next(Path('/usr/lib').glob('**/mosquitto_dynamic_security.so'), None)
    if plugin is None:
        pytest.skip('no broker that refuses subscriptions: mosquitto_dynamic_security.so')
    (tmp_path / 'rights').write_text(json.dumps({'clients': [], 'groups': [], 'roles': [],
                                                 'defaultACLAccess': {'subscribe': False}}))
    strict = Mosquitto(tmp_path, 'allow_anonymous true', f'plugin {plugin}',
                       f'plugin_opt_config_file {tmp_path / "rights"}', 'user root')
    statuses = world.diagnostics()
    run = world.privatizer(**{**of_broker, 'broker': strict.address})
    world.wait_until(lambda: any(f'refuses a subscription of {STATE}' in status.message
                                 for status in statuses), 'a warning')
    assert run.stop() == 0
    strict.kill()


def test_tls(world, tmp_path, of_broker, monkeypatch):
    maker = shutil.which('openssl')
    if maker is None:
        pytest.skip('openssl is not installed')
    key, certificate = tmp_path / 'key', tmp_path / 'certificate'
    subprocess.run([maker, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
                    '-keyout', key, '-out', certificate, '-subj', '/CN=broker',
                    '-addext', 'subjectAltName=IP:127.0.0.1'], check=True, capture_output=True)
    guarded = Mosquitto(tmp_path, 'allow_anonymous true', f'keyfile {key}',
                        f'certfile {certificate}', 'user root')
    of_broker = {**of_broker, 'broker': guarded.address.replace('mqtt:', 'mqtts:')}
    statuses, stranger = world.diagnostics(), world.privatizer(**of_broker)  # it trusts nobody
    world.wait_until(lambda: any('there is no connection to the broker' in status.message
                                 for status in statuses), 'a warning')
    assert stranger.stop() == 0
    monkeypatch.setenv('SSL_CERT_FILE', str(certificate))
    assert start(world, guarded, of_broker).stop() == 0
    guarded.kill()


@pytest.mark.parametrize('given, said', [
    ({'state_topic': 'uagv/v2/+/1/state'}, 'INTERFACE/vMAJOR/MANUFACTURER/SERIAL_NUMBER/state'),
    ({'broker': 'mqtt://kit:sesame@localhost'}, 'broker must be mqtt://HOST:PORT or, with TLS'),
    ({'broker': 'localhost:1883'}, 'broker must be mqtt://HOST:PORT or, with TLS'),
    ({'broker': 'mqtt://localhost:99999'}, 'broker must be mqtt://HOST:PORT or, with TLS'),
    ({'broker': 'mqtt://plant..local'}, 'broker must be mqtt://HOST:PORT or, with TLS'),
    ({'broker': "''"}, 'state_topic needs a broker'),
    ({'field': 'data[0]'}, 'field is not for states of a broker: leave it out'),
    ({'where': '[data=1]'}, 'where is not for states of a broker: leave it out'),
    ({'message_type': 'std_msgs/msg/Int8'}, 'message_type is not for states of a broker'),
    ({'broker_login': '/dev/null/x'}, 'broker_login /dev/null/x: it cannot be read'),
    ({'level_field': 'floor', 'input': 'pose', 'initial_state': '0',
      'chain_file': 'package://symdp_ros/config/depot.geojson'},
     "level_field is 'floor': states of VDA 5050 name the floor"),
])
def test_wrong_settings_are_refused(starter, chain_file, given, said):
    log = starter.refused('privatizer', **{
        'chain_file': chain_file, 'epsilon': 1.0, 'state_topic': STATE,
        'broker': 'mqtt://localhost:1', **given})
    assert said in log and 'sesame' not in log.partition('broker must be')[2]
