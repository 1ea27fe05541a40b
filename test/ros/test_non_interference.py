# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Nothing but the private topic depends on the sensitive word.

Two runs of the same configuration on different words of one length and timing are recorded whole:
every topic but the raw and the private one, every line of the log, every parameter, the QoS of
what is published, the names and modes of files. They must be equal, apart from times and the rate
that follows from them.
"""
from concurrent.futures import ThreadPoolExecutor
import json
import re

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from harness import LATCHED, RECONFIGURE, RELIABLE, values_of, world_in
from lifecycle_msgs.msg import TransitionEvent
from lifecycle_msgs.srv import ChangeState
from node_server import TELLS_WHAT_REMAINS
import pytest
from rcl_interfaces.msg import Log, ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import NodeNameNonExistentError
from std_msgs.msg import String
from std_srvs.srv import Trigger

CHAIN = """\
initial_state: heron
transitions:
  heron: [heron, osprey]
  osprey: [osprey, plover, heron]
  plover: [plover, heron, avocet]
  avocet: [avocet, heron]
"""
REGIONS = """\
regions:
  heron: [[0, 0], [1, 0], [1, 1], [0, 1]]
  osprey: [[1, 0], [2, 0], [2, 1], [1, 1]]
  plover: [[1, 1], [2, 1], [2, 2], [1, 2]]
  avocet: [[0, 1], [1, 1], [1, 2], [0, 2]]
"""
AT = {'heron': (0.5, 0.5), 'osprey': (1.5, 0.5), 'plover': (1.5, 1.5), 'avocet': (0.5, 1.5)}
NOWHERE = 7.0, float('nan')
POSES = {'input': 'pose', 'hysteresis': 0.1, 'outputs': '[string, pose, markers, custom]',
         'output_template': '\'{data: "{region} {next}"}\''}
SILENT = ['osprey', *[None] * 59]  # with a period, whether messages come is protected, too
LABELS = ('heron', 'osprey', 'plover', 'avocet', 'petrel', 'gannet')
WORDS = {  # feasible; infeasible, unknown, absent and first seen late
    'still': ['heron'] * 60,
    'moving': ['osprey', 'plover', 'heron'] * 20,
    'strange': ['avocet', 'petrel', 'none', '', 'plover', 'gannet'] * 9 + ['avocet'] * 6,
}
TOPICS = {
    '/rosout': Log,
    '/parameter_events': ParameterEvent,
    '/diagnostics': DiagnosticArray,
    '/privatizer/transition_event': TransitionEvent,
}


def is_timed(parameters):
    """Return whether there is one symbol a period, whatever comes in."""
    return parameters.get('sampling') == 'period' or 'protect' in parameters


def record(directory, word, parameters):
    """Run the node on a word; return all that could be seen of it besides its private word."""
    directory.mkdir()
    if 'renew' in parameters:
        parameters = {**parameters, 'ledger_file': directory / 'spent.ledger', 'subject': 'bird'}
    with world_in(directory) as world:
        seen = listen_to(world, TOPICS)
        statuses, private = world.diagnostics(), world.listen()
        # Made before the node, which so never finds that nobody publishes.
        publisher = world.node.create_publisher(
            *((PoseStamped, 'pose') if 'input' in parameters else (String, 'region')), RELIABLE)
        run = world.privatizer(wait=False, epsilon=1.0, autostart='false', **parameters)
        lifecycle = world.node.create_client(ChangeState, '/privatizer/change_state')
        world.wait_until(lifecycle.service_is_ready, 'the node')
        # Who gets an answer is known to the node, and so are the readers that were made before.
        declared = world.call(ListParameters, '/privatizer/list_parameters',
                              ListParameters.Request()).result.names
        begin(world, 'privatizer', run)
        world.wait_until(lambda: publisher.get_subscription_count() > 0, 'a subscription')
        world.wait_until(lambda: statuses, 'the first report')
        world.settle()  # the reader's side of the connection
        for value in word:
            if value is not None:
                publisher.publish(message_of(value, parameters))
            world.spin(0.02)
        due = len(word) - parameters.get('delay', 0)
        world.wait_until(lambda: len(private) >= due, 'the private word')
        if 'renew' in parameters:
            world.wait_until(lambda: run.log.count('charged with') > 2, 'three words')
        if 'protect' in parameters and 'renew' not in parameters:
            world.wait_until(lambda: any('not hidden: longer stays' in str(message)
                                         for _, message in seen), 'what is not hidden')
        statuses.clear()
        world.wait_until(lambda: len(statuses) > 1, 'reports on the whole word')
        reported = values_of(statuses[-1])
        ticking = is_timed(parameters)
        published = None if ticking else reported['published']
        names = world.call(ListParameters, '/privatizer/list_parameters',
                           ListParameters.Request()).result.names
        values = world.call(GetParameters, '/privatizer/get_parameters',
                            GetParameters.Request(names=names)).values
        graph = sorted(map(str, endpoints(world, 'privatizer', '/')))
        offers = sorted({f'{topic}: {info.topic_type} {without_times(str(info.qos_profile))}'
                         for topic in published_by(world) for info
                         in world.node.get_publishers_info_by_topic(topic)
                         if info.node_name == 'privatizer'})
        assert run.stop() == 0  # what it logs from here on may not arrive; `log` has it
        files = files_in(directory, world.domain, parameters)
    # Of the declarations at the start, discovery decides how many are heard, and when.
    seen = [f'{topic}: {message}' for topic, message in seen
            if not (topic == '/parameter_events' and declares_only(message, declared))]
    return {
        # The node reports once a second, as long as the run happens to last.
        'reports': {without_times(text) for text in seen if text.startswith('/diagnostics')
                    and 'the node is not active' not in text},
        'topics': sorted(charged_once(without_directory(text, directory) for text in seen
                                      if not text.startswith('/diagnostics'))),
        'published': published,
        'symbols': len(private),
        'log': '\n'.join(charged_once(without_directory(run.log, directory).splitlines())),
        'parameters': sorted(
            without_directory(f'{name} = {value}', directory)
            for name, value in zip(names, values, strict=True)),
        'graph': graph, 'offers': offers, 'files': files,
    }


def record_fleet(directory, word, chain_file):
    """Run a fleet where the word of one robot is `word`; return what could be seen of all."""
    directory.mkdir()
    robots = {'tb1': {}, 'tb2': {}, 'tb3': {'policy': 'paper'}}
    topics = {**TOPICS, **{f'/{robot}/privatizer/transition_event': TransitionEvent
                           for robot in robots}}
    with world_in(directory) as world:
        def write_robots():
            (directory / 'fleet.yaml').write_text(json.dumps({
                'defaults': {'chain_file': str(chain_file), 'epsilon': 1.0, 'adjacency': 1,
                             'autostart': False},
                'robots': robots}))

        def reload():
            return str(world.call(Trigger, '/fleet/reload', Trigger.Request()))

        write_robots()
        seen = listen_to(world, topics)
        private = {robot: world.listen(f'/{robot}/private_region') for robot in robots}
        publishers = {robot: world.node.create_publisher(String, f'/{robot}/region', RELIABLE)
                      for robot in robots}
        run = world.start('fleet', fleet=directory / 'fleet.yaml')
        run.wait_for('3 of 3 robots started')
        for robot, publisher in publishers.items():
            begin(world, f'{robot}/privatizer', run)
            world.wait_until(lambda publisher=publisher: publisher.get_subscription_count() > 0,
                             'a subscription')
        world.settle()  # the reader's side of the connections
        for number, value in enumerate(word):
            for robot, publisher in publishers.items():
                other = WORDS['moving'][number]
                publisher.publish(String(data=value if robot == 'tb1' else other))
            world.spin(0.02)
        world.wait_until(lambda: all(len(heard) >= len(word) for heard in private.values()),
                         'the private words')
        answers = [reload()]
        robots['tb2'] = {'epsilon': 2.0}
        write_robots()
        answers.append(reload())
        (directory / 'fleet.yaml').write_text('robots: {')
        answers.append(reload())
        count = len(seen)
        world.wait_until(lambda: sum(topic == '/diagnostics' for topic, _ in seen[count:]) > 6,
                         'reports')
        # Of a node that has been started again, one endpoint after another is seen.
        world.wait_until(lambda: unconfigured_endpoints(world, 'tb2')
                         == unconfigured_endpoints(world, 'tb1'), 'all endpoints of tb2')
        nodes = [('fleet', '/'), *(('privatizer', f'/{robot}') for robot in robots)]
        graph = sorted(f'{namespace} {found}' for name, namespace in nodes
                       for found in endpoints(world, name, namespace))
        assert run.stop() == 0
    beginning = 'the node is not active', 'inactive', 'unconfigured'
    reports = {without_times(str(status)) for topic, message in seen if topic == '/diagnostics'
               for status in message.status}
    return {
        # How long the run lasts decides in which states a robot is reported; tb2 is stopped.
        'reports': {text for text in reports
                    if not any(state in text for state in (*beginning, 'tb2'))},
        'topics': sorted(
            without_times(f'{topic}: {message}').replace(str(directory), '')
            for topic, message in seen if topic != '/diagnostics' and (
                topic != '/parameter_events' or message.changed_parameters
                or message.deleted_parameters)
            # A node's last words may be lost with its publisher; `log` has them.
            and getattr(message, 'msg', '') != 'inactive'),
        'symbols': {robot: len(heard) for robot, heard in private.items()},
        'log': sorted(without_times(run.log).replace(str(directory), '').splitlines()),
        'answers': answers, 'graph': graph}


def endpoints(world, name, namespace):
    """Return the names and types of what a node is seen to publish and to offer."""
    return [*world.node.get_publisher_names_and_types_by_node(name, namespace),
            *world.node.get_service_names_and_types_by_node(name, namespace)]


def published_by(world):
    """Return the topics that the node is seen to publish."""
    return [name for name, _ in
            world.node.get_publisher_names_and_types_by_node('privatizer', '/')]


def files_in(directory, domain, parameters):
    """
    Return names and modes of what the node has left there, and sizes, where these are public.

    What an adaptive word keeps is as long as its signals, which are private, say.
    """
    sized = parameters.get('policy') in ('guided', 'paper')
    return sorted((str(path.relative_to(directory)).replace(f'{domain}.', 'domain.'),
                   oct(path.stat().st_mode), sized and path.stat().st_size)
                  for path in directory.rglob('*') if not path.name.endswith('.log'))


def unconfigured_endpoints(world, robot):
    """Return the names of the endpoints that a privatizer has before it is configured."""
    try:
        found = endpoints(world, 'privatizer', f'/{robot}')
    except NodeNameNonExistentError:
        return None
    return {name.removeprefix(f'/{robot}') for name, _ in found}.difference(
        ['/diagnostics', '/private_region'])


def listen_to(world, topics):
    """Return the list that (topic, message) of all these topics are appended to."""
    seen = []
    for topic, kind in topics.items():
        world.node.create_subscription(
            kind, topic, lambda message, topic=topic: seen.append((topic, message)),
            LATCHED if topic == '/rosout' else RELIABLE)
    return seen


def begin(world, node, run):
    """Configure and activate a node."""
    assert world.change(node, *RECONFIGURE[2:]), run.log


def message_of(region, parameters):
    if 'input' not in parameters:
        return String(data=region)
    message = PoseStamped()
    # A frame of its own for one region, as where each floor has its own map.
    message.header.frame_id = 'upstairs' if region == 'plover' else 'map'
    message.pose.position.x, message.pose.position.y = AT.get(region, NOWHERE)
    return message


def declares_only(event, names):
    """Return whether a parameter event tells of nothing but that some parameters were declared."""
    return not (event.changed_parameters or event.deleted_parameters) and all(
        parameter.name in names for parameter in event.new_parameters)


def without_directory(text, directory):
    """Blank times, and the folder of the run."""
    return without_times(text).replace(str(directory), 'folder')


def charged_once(lines):
    """Leave out all charges but the first: how many there are, the length of the run decides."""
    charges, others = [], []
    for line in lines:
        (charges if 'charged with' in line else others).append(line)
    return others + charges[:1]


def without_times(text):
    """
    Blank times, counts that run with them or the load, the folder, and who called too early.

    rclpy warns where a node does not know yet who waits for an answer: the harness, which then
    asks again.
    """
    text = re.sub(r'.*RuntimeWarning: failed to send response.*\n.*\n', '', text)
    text = re.sub(r'\[\d+\.\d+\]', '[time]', text)
    text = re.sub(r'/\S+/ros/symdp_ros/\d+\.', '/ros/symdp_ros/domain.', text)
    text = re.sub(r'(sec|nanosec|timestamp|stamp)=\d+', r'\1=time', text)
    return re.sub(r"key='(published|published per second|waiting messages)', value='[\d.]+'",
                  'key=count', text)


@pytest.mark.parametrize('parameters', [
    pytest.param({'policy': 'paper'}, marks=pytest.mark.thorough),
    {'policy': 'guided', 'symbol_map': "['gannet=plover']"},
    pytest.param({'sampling': 'period', 'period': 0.02}, marks=pytest.mark.thorough),
    {'policy': 'adaptive', 'trust': 1.0, 'delay': 3, 'outputs': '[string, belief]'},
    pytest.param({'sampling': 'period', 'period': 0.06, 'report_period': 0.02, 'delay': 1},
                 marks=pytest.mark.thorough),
    {'protect': 0.1},  # a symbol every 0.12 s, a region every 0.04 s
    {'protect': 0.1, 'renew': 0.0001},
    pytest.param({'policy': 'adaptive', 'delay': 3, 'renew': 0.0001}, marks=pytest.mark.thorough),
    pytest.param({'sampling': 'period', 'period': 0.02, 'zones_file': 'birds.zones.yaml',
                  'delay': 0.06},  # of three symbols: signals may be about blocks
                 marks=pytest.mark.thorough),
    {'sampling': 'period', 'period': 0.12, 'report_period': 0.04, 'delay': 0.36,
     'zones_file': 'birds.zones.yaml'},
    # What goes out is made from the private region alone: test_outputs.
    pytest.param(POSES, marks=pytest.mark.thorough),
    {**POSES, 'sampling': 'period', 'period': 0.04},
], ids=['paper', 'message', 'period', 'adaptive', 'two clocks', 'protect', 'renewed',
        'renewed message', 'zones', 'zones and two clocks', 'poses', 'poses period'])
def test_runs_on_different_words_look_alike(tmp_path, monkeypatch, parameters):
    if 'renew' not in parameters:
        monkeypatch.setenv(TELLS_WHAT_REMAINS, 'yes')
    words = WORDS | ({'silent': SILENT} if is_timed(parameters) else {})
    (tmp_path / 'birds.chain.yaml').write_text(
        CHAIN + ('tick: 0.04\n' if 'protect' in parameters else ''))
    files = {'chain_file': tmp_path / 'birds.chain.yaml'}
    if 'zones_file' in parameters:  # these words have one zone word
        files['zones_file'] = tmp_path / parameters['zones_file']
        files['zones_file'].write_text('zones:\n  pond: [heron, osprey, plover, avocet]\n')
    if 'input' in parameters:
        (tmp_path / 'birds.regions.yaml').write_text(REGIONS)
        files['regions_file'] = tmp_path / 'birds.regions.yaml'
    with ThreadPoolExecutor(len(words)) as pool:  # at once: each mostly waits
        runs = dict(zip(words, pool.map(
            lambda name: record(tmp_path / name, words[name], parameters | files), words)))
    still = runs.pop('still')
    if is_timed(parameters):  # one a tick, as long as the run lasts
        for run in (still, *runs.values()):
            del run['symbols']
    for name, run in runs.items():
        for aspect, seen in run.items():
            assert seen == still[aspect], f'{aspect}: {name} differs from still'
    assert any('/private_region: ' in offer for offer in still['offers'])
    assert any(name.endswith('.word') for name, *_ in still['files'])
    texts = [*still['topics'], *still['reports']]
    assert all(any(text.startswith(f'{topic}:') for text in texts) for topic in TOPICS)
    everything = ' '.join([*texts, still['log'], *still['graph'], *still['parameters']])
    configured = 'plover gannet' if 'symbol_map' in parameters else ''
    for label in LABELS:
        assert label in configured or label not in everything, f'{label} is to be seen'


def test_a_fleet_shows_nothing_of_the_word_of_one_robot(tmp_path):
    chain_file = tmp_path / 'birds.chain.yaml'
    chain_file.write_text(CHAIN)
    with ThreadPoolExecutor(len(WORDS)) as pool:
        runs = dict(zip(WORDS, pool.map(
            lambda name: record_fleet(tmp_path / name, WORDS[name], chain_file), WORDS)))
    still = runs.pop('still')
    for name, run in runs.items():
        for aspect, seen in run.items():
            assert seen == still[aspect], f'{aspect}: {name} differs from still'
    assert any("name='fleet: tb1'" in text for text in still['reports'])
    assert any('/tb1/privatizer: private region' in text for text in still['reports'])
    assert '1 started again, 2 left' in still['answers'][1]
    everything = ' '.join([*still['reports'], *still['topics'], *still['log'], *still['graph'],
                           *still['answers']])
    assert not any(label in everything for label in LABELS)
