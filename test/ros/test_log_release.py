# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `log_release` in a process of its own; live words on the same ledger."""
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
import json
import os
import re
import signal

from harness import rclpy, wait_until, world_in
from ledgers import held
from lifecycle_msgs.msg import Transition
import pytest
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from recordings import record, stamped
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from shared_data import shared
from std_srvs.srv import Trigger
from symdp_ros import Chain
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import read_log, write_log
from symdp_ros.maps import read_chain
from symdp_ros.nodes.log_release import LogRelease
from symdp_ros.release.mechanisms import Mechanisms


@pytest.fixture
def place(tmp_path):
    for name in ('logs', 'releases'):
        (tmp_path / name).mkdir()
    return tmp_path


def given(place, chain_file, **more):
    return {'chain_file': chain_file, 'epsilon': 1.0, 'log_dir': place / 'logs',
            'release_dir': place / 'releases', 'ledger_file': place / 'robots.ledger',
            'subject': 'r1', **more}


@contextmanager
def node_here(place, chain_file):
    """Yield the node, configured, in this process, and an executor that has it."""
    context = Context()
    rclpy.init(context=context)
    node = LogRelease(context=context, parameter_overrides=[
        Parameter(name, value=value if isinstance(value, (bool, int, float)) else str(value))
        for name, value in {'adjacency': 1, **given(place, chain_file, autostart=False)}.items()])
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        yield node, executor
    finally:
        node.stop()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def start(world, place, chain_file, *arguments, wait=True, **more):
    run = world.start('log_release', *arguments, **given(place, chain_file, **more))
    if wait:
        run.wait_for('active')
        if '-r' not in arguments:
            world.trigger('/log_release/status')
    return run


def call(world, name='release', node='/log_release'):
    """Call a service, once: a second call to release would be answered `already released`."""
    answer = world.begin_call(f'{node}/{name}')
    world.wait_until(answer.done, f'an answer of {node}/{name}')
    return answer.result()


def answered(response):
    """Return an answer as a program reads it."""
    assert response.message.isprintable()
    answer = json.loads(response.message)
    assert response.success == (answer['code'] == 'ok')
    return answer


def summary(response):
    return answered(response)['summary']


def reasons(response):
    """Return log → why it was not released."""
    return {log['log']: log['reason'] for log in answered(response)['logs'] if 'reason' in log}


def released(place):
    return sorted(path for path in (place / 'releases').iterdir() if path.name[0] != '.')


def symbols(path):
    return [symbol for _, symbol in read_log(path, topic='private_region')]


def test_release_and_status(world, place, chain_file):
    write_log(place / 'logs' / 'a.csv', list('abbc' * 5), format='csv')
    write_log(place / 'logs' / 'b', list('abdda'), format='mcap', topic='region')
    run = start(world, place, chain_file, subject_budget=3.0)
    assert 'budget: 0.0, no limit' in run.log and 'subject_budget: 0.0' not in run.log
    assert answered(call(world, 'status')) == {
        'code': 'ok',
        'summary': 'r1 has spent ε = 0 of 3; logs released: 0; no release is running',
        'release_running': False, 'logs_released': 0,
        'subject': {'name': 'r1', 'epsilon_spent': 0, 'epsilon_budget': 3, 'epsilon_left': 3,
                    'accounting': 'pure', 'delta': None, 'counted_for': None}}
    answer = answered(call(world))
    assert answer == {
        'code': 'ok', 'summary': '2 released, 0 already released, 0 refused, 0 failed',
        'epsilon_now': 2, 'subject': {
            'name': 'r1', 'epsilon_spent': 2, 'epsilon_budget': 3, 'epsilon_left': 1,
            'accounting': 'pure', 'delta': None,
            'counted_for': 'changes of up to 1 symbol (sampling: message)'},
        'logs': [
            {'log': log, 'outcome': 'released', 'releases': [name], 'symbols': count,
             'epsilon_now': 1, 'epsilon_spent': 1, 'epsilon_left': None}
            for log, name, count in (('a.csv', '000001.private.csv', 20),
                                     ('b', '000002.private.csv', 5))],
        'problems': []}
    assert [path.name for path in released(place)] == [
        name for log in answer['logs'] for name in log['releases']]
    assert [len(symbols(path)) for path in released(place)] == [20, 5]
    assert all(Chain.from_yaml(chain_file).is_feasible(symbols(path)) for path in released(place))
    again = answered(call(world))
    assert again == answer | {
        'summary': '0 released, 2 already released, 0 refused, 0 failed', 'epsilon_now': 0,
        'logs': [log | {'outcome': 'already_released', 'epsilon_now': 0}
                 for log in answer['logs']]}
    write_log(place / 'logs' / 'c.csv', list('abc'), format='csv')
    write_log(place / 'logs' / 'd.csv', list('abc'), format='csv')
    (place / 'logs' / 'e.csv').write_text('stamp,symbol\n0,secret_place')
    (place / 'logs' / 'f.parquet').write_bytes(b'PAR1')
    answer = answered(call(world))
    assert (answer['code'], answer['summary']) == (
        'incomplete', '1 released, 2 already released, 1 refused, 1 failed, 1 skipped as an '
        'archive')
    assert answer['logs'][3:] == [
        {'log': 'd.csv', 'outcome': 'refused', 'code': 'subject_budget', 'reason':
         "the subject_budget of 'r1' is 3: 3 of it is spent, 0 is left, and this costs 1 more"},
        {'log': 'e.csv', 'outcome': 'failed', 'code': 'log', 'reason':
         'its last line has no line end: it was cut off or is still being written; if it is '
         'complete, add a newline'},
        {'log': 'f.parquet', 'outcome': 'skipped', 'code': 'archive', 'reason':
         'an archive of routes is released alone: symdp release ARCHIVE.parquet -o OUT.parquet'}]
    assert summary(call(world, 'status')) == (
        'r1 has spent ε = 3 of 3, for changes of up to 1 symbol (sampling: message); logs '
        'released: 3; no release is running')
    assert run.stop() == 0 and 'secret_place' not in run.log


def test_names_that_cannot_be_printed(world, place, chain_file):
    write_log(place / 'logs' / 'a.csv', list('abbc'), format='csv')
    for name in (b'b\xff.csv', 'c\u202e\x1b[2J.csv'.encode(), b'd\n.csv'):
        (place / 'logs' / os.fsdecode(name)).write_text('')
    run = start(world, place, chain_file)
    for _ in range(2):  # the node lives on
        answer = call(world)
        assert not answer.success and reasons(answer)[r'b\xff.csv'].startswith('its name holds')
        assert '3 failed' in summary(answer) and len(reasons(answer)) == 3
    for name in (r'b\xff.csv', r'c\u202e\x1b[2J.csv', r'd\n.csv'):
        assert name in run.log
    assert run.stop() == 0


@pytest.mark.parametrize('name, form', [
    ('route_sample_graph', 'csv'), ('bringup_warehouse_graph', 'mcap'), *(
        pytest.param(*more, marks=pytest.mark.thorough) for more in (
            ('route_turtlebot3_graph', 'jsonl'), ('route_aws_graph', 'sqlite3')))])
def test_from_a_patrol_to_its_release(world, place, name, form):
    """A patrol is recorded, released by a service call, and what is released is checked."""
    file = shared('nav2', f'{name}.geojson')
    start_state = '1' if 'turtlebot3' in name else '0'
    heard = world.listen('region')
    world.start('patrol', chain_file=file, initial_state=start_state, period=0.002, count=150,
                wait_for_subscribers=1)
    world.wait_until(lambda: len(heard) == 150, 'the patrol')
    log = f'patrol.{form}' if form in ('csv', 'jsonl') else 'patrol'
    write_log(place / 'logs' / log, heard, format=form, period=0.002, topic='region')
    start(world, place, file, initial_state=start_state, mechanism='causal', epsilon=2,
          format=form)
    assert call(world).success
    [path] = released(place)
    assert len(symbols(path)) == 150 and read_chain(file, start_state).is_feasible(symbols(path))
    with Ledger(place / 'robots.ledger') as ledger:
        assert ledger.spent('r1') == 2 and ledger.problems() == []


@pytest.mark.parametrize('name', ['sqlite3_talker', 'mcap_wrong_rmw_test', *(
    pytest.param(more, marks=pytest.mark.thorough)
    for more in ('mcap_talker', 'sqlite3_wrong_rmw_test', 'empty_bag'))])
def test_recordings_of_others(world, place, chain_file, name):
    (place / 'logs' / name).symlink_to(shared('rosbag2_tests', name), target_is_directory=True)
    # What they say names no state of the map.
    start(world, place, chain_file, topic='/topic', allow_unknown=1.0)
    answer = call(world)
    assert answer.success == ('talker' in name)
    if answer.success:
        assert len(symbols(released(place)[0])) == 10
    else:
        assert list(reasons(answer)) == [name] and released(place) == []


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_signals_lose_nothing(world, place, chain_file, number):
    for i in range(8):
        write_log(place / 'logs' / f'{i}.csv', list('abc') * 50, format='csv')
    run = start(world, place, chain_file)
    world.begin_call('/log_release/release')
    world.wait_until(lambda: released(place), 'the first release')
    if number == signal.SIGKILL:
        run.kill()
    else:
        assert run.stop(number) == 0
    assert 'Traceback' not in run.log
    with Ledger(place / 'robots.ledger') as ledger:
        charged = {file.path for file in ledger.files.all()}
        assert set(released(place)) <= charged and ledger.problems() == []
    # Under another name: the middleware remembers the services of a killed node for a while.
    again = start(world, place, chain_file, '-r', '__node:=again')
    assert set(released(place)) == charged  # what was interrupted is finished
    answer = call(world, node='/again')
    assert answer.success
    assert summary(answer).startswith(f'{8 - len(charged)} released, {len(charged)} already')
    assert len(released(place)) == 8 and not list((place / 'releases').glob('.staging*/*'))
    assert again.stop() == 0
    assert not list((place / 'releases').glob('.staging*'))


ONE = list('abbc' * 6)
UNKNOWN = ['petrel'] * 23 + ['a']


@pytest.mark.parametrize('words, expected', [
    ((ONE, [*ONE[:-1], 'a'], [*ONE[:-1], 'petrel'], list('dddd' * 6),
      ['petrel', 'none', '', 'd', 'x', 'c'] * 4), '1 released'),
    ((UNKNOWN, [*UNKNOWN[:-1], 'petrel'], ['petrel', *'abbd', 'x'] * 2 + ['x', 'petrel'] * 6),
     '0 released, 0 already released, 1 refused')], ids=['released', 'refused'])
def test_nothing_said_depends_on_what_a_log_contains(tmp_path, chain_file, words, expected):
    """
    Answers, log lines and the ledger's account of words of one length are the same.

    Some differ in one symbol. Only which side of `allow_unknown` a word is on is told.
    """
    def said_of(word):
        place = tmp_path / str(words.index(word))
        for name in ('logs', 'releases'):
            (place / name).mkdir(parents=True)
        (place / 'logs' / 'day.csv').write_text('stamp,symbol\n' + ''.join(
            f'{t},{symbol}\n' for t, symbol in enumerate(word)))
        with world_in(place) as world:
            run = start(world, place, chain_file)
            answers = [world.trigger(f'/log_release/{name}').message
                       for name in ('release', 'release', 'status')]
            assert f'"summary": "{expected}' in answers[0]
            assert run.stop() == 0
        log = re.sub(r'\[\d+\.\d+\]', '', run.log).replace(str(place), '')
        # A warning of rclpy, on a client that the node does not know yet; and its line of code.
        log = re.sub(r'.*failed to send response.*\n(  .*\n)?', '', log)
        assert 'petrel' not in log
        return [*answers, *log.splitlines(), *[path.name for path in released(place)]]

    with ThreadPoolExecutor(len(words)) as pool:  # at once: each mostly waits
        first, *others = pool.map(said_of, words)
    for said, word in zip(others, words[1:], strict=True):
        assert said == first, word


#: Logs of which a release is in the middle for long: it charges at most 100 at once.
MANY = 300


@contextmanager
def release_begun(world, place, chain_file):
    """
    Yield a node in the middle of a release, and the call that waits for it.

    It cannot end before the block does: the next of its charges waits for the ledger.
    """
    write_log(place / 'logs' / '0.csv', list('abc') * 100, format='csv')
    for i in range(1, MANY):
        (place / 'logs' / f'{i}.csv').hardlink_to(place / 'logs' / '0.csv')
    run = start(world, place, chain_file)
    answer = world.begin_call('/log_release/release')
    world.wait_until(lambda: released(place), 'the first release')
    with held(place / 'robots.ledger'):
        assert len(released(place)) < MANY
        yield run, answer


def test_calls_while_a_release_runs(world, place, chain_file):
    with release_begun(world, place, chain_file) as (run, answer):
        assert answered(call(world, 'status'))['release_running']
        assert world.change('log_release', Transition.TRANSITION_DEACTIVATE)
        assert not world.change('log_release', Transition.TRANSITION_CLEANUP)
    world.wait_until(answer.done, 'the answer')
    assert answered(answer.result())['code'] == 'stopped'
    count = len(released(place))
    assert answered(call(world))['code'] == 'not_active'
    assert len(released(place)) == count < MANY
    assert run.process.poll() is None and run.stop() == 0


def test_who_waits_for_an_answer_gets_one_at_the_end(world, place, chain_file):
    with release_begun(world, place, chain_file) as (run, answer):
        run.process.send_signal(signal.SIGINT)
    world.wait_until(answer.done, 'the answer')
    assert answered(answer.result())['code'] == 'stopped' and run.wait() == 0


@pytest.mark.parametrize('parameters, sentence', [
    ({'ledger_file': None}, 'ledger_file is not set'),
    ({'subject': None}, 'subject is not set'),
    ({'log_dir': '/nowhere/at/all'}, 'log_dir /nowhere/at/all is not a directory: make it'),
    ({'format': 'csv', 'keep': '[/name]'}, 'topics are kept in recordings alone: choose'),
    ({'sampling': 'period', 'unknown_symbol': 'drop'}, 'contradict'),
    ({'ledger_file': '/nowhere/a.ledger'}, 'ledger /nowhere/a.ledger cannot be opened'),
    ({'message_type': 'std_msgs/msg/UInt8'},
     "no value of the field 'data', a uint8, names a state of the chain: map values to states in"),
    ({'message_type': 'std_msgs/msg/Bool', 'symbol_map': '[1=a]'},
     "symbol_map lists the value '1', which the field 'data', a boolean, can never have"),
    ({'message_type': 'std_msgs/msg/Float64'}, 'must be a string, an integer or a boolean'),
    ({'message_type': 'UInt8'}, "'UInt8' is no message type"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_a_wrong_parameter_ends_the_start_with_a_sentence(starter, place, chain_file, parameters,
                                                          sentence):
    assert sentence in starter.refused('log_release', **{
        k: v for k, v in given(place, chain_file, **parameters).items() if v is not None})


@pytest.mark.parametrize('log_dir, release_dir', [
    ('logs', 'logs'), ('releases/logs', 'releases'), ('logs', 'logs/releases'),
    ('link/logs', 'releases')])
def test_logs_and_releases_must_be_apart(starter, place, chain_file, log_dir, release_dir):
    """Whoever may read releases could get at the logs, or list what they are called."""
    (place / 'releases' / 'logs').mkdir()
    (place / 'logs' / 'releases').mkdir()
    (place / 'link').symlink_to('releases')
    assert 'use two separate directories' in starter.refused('log_release', **given(
        place, chain_file, log_dir=place / log_dir, release_dir=place / release_dir))


def test_other_places_that_do_not_go(starter, place, chain_file):
    for more, problem in (
            ({'ledger_file': place / 'releases' / 'a.ledger'}, 'inside the release directory'),
            ({'release_dir': chain_file / 'x'},
             f'{place}/four.chain.yaml/x cannot be made: Not a directory')):
        assert problem in starter.refused('log_release', **given(place, chain_file, **more))


def test_what_auto_takes_is_logged_and_a_missing_release_dir_is_made(world, place, chain_file):
    write_log(place / 'logs' / 'one.csv', list('abc') * 4, format='csv')
    for more in ({}, {'mechanism': 'causal', 'policy': 'guided'}):
        run = start(world, place, chain_file, release_dir=place / 'new' / 'releases', **more)
        assert summary(call(world)).startswith('1 released, 0 already released')
        assert run.stop() == 0
        assert run.log.count('" for 12 symbols') == (not more)
    assert len(list((place / 'new' / 'releases').glob('*.csv'))) == 2


def test_many_calls_at_once_share_a_run(world, place, chain_file):
    for i in range(6):
        write_log(place / 'logs' / f'{i}.csv', list('abc') * 50, format='csv')
    run = start(world, place, chain_file, mechanism='causal')
    first = world.begin_call('/log_release/release')
    world.wait_until(lambda: released(place), 'the first release')
    run.process.send_signal(signal.SIGSTOP)  # however long the calls take, they come in one run
    (place / 'logs' / 'bad.csv').write_text('no log')  # each run after this tells of it
    answers = [world.begin_call('/log_release/release') for _ in range(8)]
    run.process.send_signal(signal.SIGCONT)
    world.wait_until(lambda: all(answer.done() for answer in (first, *answers)), 'the answers')
    assert run.stop() == 0
    assert '6 released' in summary(first.result())
    for answer in answers:
        assert summary(answer.result()).startswith('0 released, 6 already released, 0 refused')
        assert list(reasons(answer.result())) == ['bad.csv']
    assert run.log.count('bad.csv: failed') < 5  # at most one of them began a run at once


def test_what_cannot_be_prepared_is_said_and_holds_up_nobody(place, chain_file, monkeypatch,
                                                             capfd):
    def full(self):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(Mechanisms, 'prepare', full)
    write_log(place / 'logs' / 'a.csv', list('abc'), format='csv')
    with node_here(place, chain_file) as (node, executor):
        node.trigger_activate()
        call = executor.create_task(node._on_release, None, Trigger.Response())
        wait_until(call.done, 'an answer', lambda: executor.spin_once(0.05))
        assert answered(call.result())['code'] == 'ok'
    assert 'not prepared: an error of type OSError' in capfd.readouterr().err


def test_a_log_of_which_most_is_unknown_is_refused_before_it_is_charged(world, place, chain_file):
    """By name, in one sentence; released where the operator allows it, as any other."""
    write_log(place / 'logs' / 'known.csv', list('abc123'), format='csv')
    write_log(place / 'logs' / 'most.csv', list('ab1234'), format='csv')
    write_log(place / 'logs' / 'none.csv', list('123456'), format='csv')
    run = start(world, place, chain_file)
    for outcome, now in (('released', 1), ('already_released', 0)):
        answer = answered(call(world))
        assert [log['outcome'] for log in answer['logs']] == [outcome, 'refused', 'refused']
        assert answer['epsilon_now'] == now and answer['subject']['epsilon_spent'] == 1
        assert [log.pop('log') for log in answer['logs'][1:]] == ['most.csv', 'none.csv']
        assert answer['logs'][1] == answer['logs'][2] and answer['logs'][1]['code'] == 'noise'
    assert len(released(place)) == 1 and run.stop() == 0
    start(world, place, chain_file, '-r', '__node:=again', allow_unknown=1.0)
    assert summary(call(world, node='/again')).startswith('2 released, 1 already released')


def test_live_and_logged_releases_add_up(world, place, chain_file):
    ledger_file = place / 'robots.ledger'

    def live(wait=True, **more):
        return world.privatizer(wait=wait, chain_file=chain_file, epsilon=1.0, subject='r1',
                                subject_budget=2.5, ledger_file=ledger_file, **more)

    state = place / 'word'
    first = live(state_file=state)
    assert 'charged with ε = 1' in first.log
    private = world.listen()
    publisher = world.latch('b')
    world.wait_until(lambda: private, 'a symbol')
    first.stop()
    world.node.destroy_publisher(publisher)
    carried_on = live(state_file=state)  # the same word: no charge
    assert 'carried on' in carried_on.log and 'charged' not in carried_on.log
    carried_on.stop()
    write_log(place / 'logs' / 'a.csv', list('abc'), format='csv')
    start(world, place, chain_file, subject_budget=2.5)
    assert call(world).success
    refused = live(wait=False)  # a new word: 3 > 2.5
    assert refused.wait() == 1
    assert "subject_budget of 'r1' is 2.5: 2 of it is spent" in refused.log
    with Ledger(ledger_file) as ledger:
        assert ledger.spent('r1') == 2
        assert [charge.log_id for charge in ledger.charges()] == [None, 'a.csv']


def test_nodes_keep_to_the_stored_budget_and_charge_no_damaged_ledger(world, place, chain_file):
    ledger_file = place / 'robots.ledger'
    same = {'chain_file': chain_file, 'epsilon': 1.0, 'ledger_file': ledger_file, 'subject': 'r1',
            'state_file': 'none'}  # each start is a word
    first = world.privatizer(**same, subject_budget=1.0)
    assert 'ledger: subject_budget: 1' in first.log
    first.stop()
    for more, sentence in (
            ({}, "subject_budget of 'r1' is 1: 1 of it is spent, 0 is left, and this costs 1"),
            ({'subject_budget': 5.0}, "subject_budget of 'r1' is 1 in the ledger, not "
                                      '5: leave it out, or change it with symdp ledger')):
        refused = world.privatizer(wait=False, **same, **more)
        assert refused.wait() == 1 and sentence in refused.log, refused.log
    with Ledger(ledger_file) as ledger:
        assert ledger.charges()[0].described['sampling'] == 'message'
        ledger.set_budget('r1', Fraction(9))
    ledger_file.with_name('robots.ledger.mark').write_text('damaged')
    refused = world.privatizer(wait=False, **same)
    assert refused.wait() == 1 and f'symdp ledger {ledger_file} --recover' in refused.log
    write_log(place / 'logs' / 'a.csv', list('abc'), format='csv')
    start(world, place, chain_file)
    answer = call(world)
    [log] = answered(answer)['logs']
    assert log['code'] == 'ledger' and released(place) == []
    assert f'symdp ledger {ledger_file} --recover' in log['reason']
    with Ledger(ledger_file) as ledger:
        assert ledger.spent('r1') == 1


def test_a_word_of_another_ledger_is_another_word(world, place, chain_file):
    state = place / 'word'
    same = {'chain_file': chain_file, 'epsilon': 1.0, 'state_file': state, 'subject': 'r1'}
    world.privatizer(**same, ledger_file=place / 'a.ledger').stop()
    run = world.privatizer(**same, ledger_file=place / 'b.ledger')
    assert 'a word of other settings' in run.log and 'charged with' in run.log
    run.stop()
    with Ledger(place / 'b.ledger') as ledger:
        assert ledger.spent('r1') == 1


def test_what_may_make_a_second_budget_is_told_at_the_start(world, starter, place, chain_file):
    path = place / 'robots.ledger'
    with Ledger(path) as ledger:
        ledger.set_budget('R1', Fraction(3))
    same = {'chain_file': chain_file, 'epsilon': 1.0, 'ledger_file': os.path.relpath(path)}
    for run in (start(world, place, chain_file, ledger_file=same['ledger_file']),
                world.privatizer(**same, subject='r1',
                                 state_file=os.path.relpath(place / 'word'))):
        assert 'is relative to the folder that the node was started in: it is /' in run.log
        assert f'no limit; in {path}' in run.log
        assert "the subject 'r1' looks like 'R1', and is another one" in run.log
        assert ('state_file' in run.log) == ('private_region' in run.log)
        run.stop()
    for subject in ("''", r'"r\x011"'):
        for node, more in (('privatizer', {**same, 'ledger_file': path}),
                           ('log_release', given(place, chain_file))):
            assert 'subject' in starter.refused(node, **more | {'subject': subject})


def test_a_type_that_is_not_installed_is_left_to_the_recordings(world, place, chain_file):
    """They bring its definition along; one that can name no state is refused by that alone."""
    start(world, place, chain_file, message_type='fleet_msgs/msg/Mode', field='mode')
    assert call(world).success
    record_modes(place / 'logs' / 'modes')
    answer = call(world)
    assert not answer.success and reasons(answer)['modes'].startswith(
        "no value of the field 'mode', a uint8, names a state of the chain")
    assert summary(call(world, 'status')).startswith('r1 has spent ε = 0')


def test_poses_in_recordings(world, starter, place, chain_file):
    """Whether and where a pose is in another frame depends on the poses: it shows nowhere."""
    regions = place / 'rooms.yaml'
    regions.write_text('regions:\n' + ''.join(
        f'  {name}: [[{x}, 0], [{x + 4}, 0], [{x + 4}, 4], [{x}, 4]]\n'
        for x, name in zip((0, 4, 8, 12), 'abcd', strict=True)))
    store = get_typestore(Stores.LATEST)
    for name, frames in (('a_good', ['map'] * 4), ('b_foreign', ['odom'] * 4),
                         ('c_mixed', ['map', 'floor_2_east', 'map', 'map'])):
        record(place / 'logs' / name, 'mcap', stamped(store, *(
            (x, 1.0, frame) for x, frame in zip((1, 5, 9, 1), frames, strict=True))),
            'geometry_msgs/msg/PoseStamped', topic='/pose', store=store)
    run = start(world, place, chain_file, input='pose', regions_file=regions, epsilon=1000.0,
                allow_unknown=1.0)
    answer = call(world)
    assert summary(answer).startswith('3 released, 0 already released')
    words = [''.join(symbols(path)) for path in released(place)]
    assert words[0] == 'abca' and list(map(len, words)) == [4, 4, 4]
    assert words[2][0] == 'a'  # its second symbol is drawn as of an unknown region
    run.stop()
    for told in ('odom', 'floor_2_east', 'frame'):
        assert told not in run.log + answer.message
    for more, problem in (({'input': 'region'}, 'regions_file is not for input: region'),
                          ({'field': 'header'}, 'leads to no position'),
                          ({'where': "['header=1']"}, 'is a whole std_msgs'),
                          ({'symbol_map': "['1=a']"}, 'symbol_map is not for input: pose')):
        more = {'input': 'pose', 'regions_file': regions, **more}
        assert problem in starter.refused('log_release', **given(place, chain_file, **more))


def record_modes(path):
    """Write a recording of fleet_msgs/msg/Mode, which brings its definition along."""
    store = get_typestore(Stores.LATEST)
    store.register(get_types_from_msg('uint8 mode', 'fleet_msgs/msg/Mode'))
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection('/region', 'fleet_msgs/msg/Mode', typestore=store)
        for i in range(5):
            message = store.types['fleet_msgs/msg/Mode'](mode=i)
            writer.write(connection, i, store.serialize_cdr(message, 'fleet_msgs/msg/Mode'))
