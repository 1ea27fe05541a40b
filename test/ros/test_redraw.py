# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
No caller on the graph, and no kill, has a region drawn a second time in one word.

The chain has fifty states that all follow one another, ε is small, and guided publishes what it
draws: a second draw would almost always show another state. What adaptive publishes would stay.
"""
from itertools import cycle
import os
import re
import subprocess
import sys
from time import monotonic

from geometry_msgs.msg import PoseStamped
from harness import (arguments_of, PATIENCE, pose, REACTIVATE, RECONFIGURE, RELIABLE, ROOT,
                     send_until, wait_until)
from lifecycle_msgs.msg import Transition
import pytest
from std_msgs.msg import String
from symdp_ros.ledger.ledger import Ledger

#: How a caller starts a node again, in turn.
ROUNDS = [REACTIVATE, REACTIVATE, RECONFIGURE, RECONFIGURE, REACTIVATE]


@pytest.fixture
def given(fifty, tmp_path):
    """Parameters of a privatizer whose second draws would show."""
    return {'chain_file': fifty, 'epsilon': 0.1, 'policy': 'guided',
            'ledger_file': tmp_path / 'ledger', 'subject': 'r1'}


def spent(given):
    with Ledger(given['ledger_file']) as ledger:
        return float(ledger.spent('r1'))


def publish(world, publisher, *messages):
    """Publish messages, a region each, and let them arrive."""
    world.wait_until(publisher.get_subscription_count, 'the subscription')
    for message in messages:
        publisher.publish(message)
        for _ in range(3):
            world.spin(0.02)


def stands(region, times=5):
    """Return the messages of a robot that stands still."""
    return [String(data=region)] * times


def test_a_robot_that_stands_still_is_drawn_once(world, given):
    run = world.privatizer(**given, sampling='change')
    private, publisher = world.listen(), world.publisher(qos=RELIABLE)
    publish(world, publisher, *stands('s7'))
    world.wait_until(lambda: private, 'its symbol')
    for transitions in ROUNDS:
        assert world.change('privatizer', *transitions)
        publish(world, publisher, *stands('s7'))
    assert len(private) == 1
    publish(world, publisher, *stands('s8'))
    world.wait_until(lambda: len(private) == 2, 'the symbol of the change')
    assert spent(given) == 0.1 and run.log.count('a new word begins') == 1
    assert run.log.count('inactive') == len(ROUNDS)


def test_a_robot_that_stands_on_a_border_is_drawn_once(world, given, tmp_path):
    regions = tmp_path / 'fifty.regions.yaml'  # each is 1 m wide; s8 begins at x = 8
    regions.write_text('regions:\n' + ''.join(
        f'  s{i}: [[{i}, 0], [{i + 1}, 0], [{i + 1}, 1], [{i}, 1]]\n' for i in range(50)))
    world.privatizer(**given, input='pose', regions_file=regions, hysteresis=0.2,
                     sampling='change')
    private, publisher = world.listen(), world.publisher('pose', PoseStamped, RELIABLE)
    here, there = pose(7.95), pose(8.05)
    publish(world, publisher, here, there, here)
    world.wait_until(lambda: private, 'its symbol')
    for number, transitions in enumerate(2 * ROUNDS):  # by the noise on the other side each time
        assert world.change('privatizer', *transitions)
        publish(world, publisher, *[there, here][::1 if number % 2 else -1] * 3)
    assert len(private) == 1, 'it was drawn again'

    def moves():
        publisher.publish(pose(8.5))
        world.spin(0.1)

    wait_until(lambda: len(private) > 1, 'the symbol of a move', moves)
    world.settle(0.3)
    assert len(private) == 2


def kills(world, given, times=2):
    """Start a privatizer, and after each kill another; yield each, and the statuses it reports."""
    for number in range(times + 1):
        statuses = world.diagnostics()
        run = world.privatizer(**given)
        yield run, statuses
        if number < times:
            run.kill()


@pytest.mark.parametrize('kept', [True, False], ids=['default', 'none'])
@pytest.mark.parametrize('sampling', ['message', 'change'])
def test_a_latched_region_is_drawn_once_over_kills(world, given, sampling, kept):
    """Without any setting, and where no state is wanted: then not even once."""
    private, publisher = world.listen(), world.latch('s7')
    given |= {'sampling': sampling} | ({} if kept else {'state_file': 'none'})
    for number, (run, statuses) in enumerate(kills(world, given), 1):
        world.wait_until(lambda statuses=statuses: any(
            'no node publishes' not in status.message for status in statuses), 'the publisher')
        if kept and number == 1:
            world.wait_until(lambda: private, 'its symbol')
        world.settle()
        assert ('is carried on' in run.log) == (kept and number > 1)
    assert len(set(private)) == kept, 'it was drawn again'
    assert spent(given) == pytest.approx(0.1 if kept else 0.3)
    count = len(private)
    send_until(world, publisher, cycle(['s8', 's9']).__next__, lambda: len(private) > count)


@pytest.mark.parametrize('hides', [{'sampling': 'period'}, {'protect': 0.2}],
                         ids=['symbols', 'visits'])
@pytest.mark.parametrize('kept', [True, False], ids=['default', 'none'])
def test_no_tick_is_drawn_twice_over_kills(world, given, kept, hides):
    private = world.listen()
    world.latch('s7')
    given |= {'period': 0.25, 'self_loops': 'true', 'policy': 'auto', **hides} | (
        {} if kept else {'state_file': 'none'})
    begin = monotonic()
    for number, _ in enumerate(kills(world, given), 1):
        count = len(private)
        world.wait_until(lambda count=count: len(private) >= count + 3, 'symbols')
        # At instants a period apart; and after a restart the last one is shown again.
        assert len(private) <= (monotonic() - begin) / 0.25 + number
    assert spent(given) == pytest.approx(0.1 if kept else 0.3)


@pytest.mark.parametrize('kept', [True, False], ids=['default', 'none'])
def test_a_robot_that_stands_still_is_drawn_once_over_kills(world, given, kept):
    private, publisher = world.listen(), None
    given |= {'sampling': 'change'} | ({} if kept else {'state_file': 'none'})
    for _ in kills(world, given):
        publisher = publisher or world.publisher(qos=RELIABLE)
        # The reader of a killed process counts for a while: that one listens is not seen here.
        publish(world, publisher, *stands('s7', times=20))
        if kept:
            world.wait_until(lambda: private, 'its symbol')
    assert len(set(private)) == kept, 'it was drawn again'
    count = len(private)
    send_until(world, publisher, 's8', lambda: len(private) > count)
    assert spent(given) == pytest.approx(0.1 if kept else 0.3)


def test_a_renamed_topic_begins_a_word_and_draws_no_stay_again(world, given):
    """By default it stops nothing; what is latched there may be the stay that was drawn."""
    private = world.listen()
    for name in 'region', 'zone':
        publisher = world.latch('s7', name)
        run = world.privatizer('-r', f'region:={name}', **given)
        if name == 'region':
            world.wait_until(lambda: private, 'its symbol')
            assert run.stop() == 0
    assert 'it held a word of other settings: a new word begins' in run.log
    world.settle()
    assert len(private) == 1
    send_until(world, publisher, 's8', lambda: len(private) > 1)
    assert spent(given) == 0.2


def test_two_nodes_of_one_name_do_not_share_a_word(world, given):
    world.privatizer(**given)
    run = world.privatizer('-r', 'region:=zone', '-r', 'private_region:=private_zone', **given,
                           wait=False)
    assert run.wait() == 1 and 'Traceback' not in run.log
    assert re.search(rf'/symdp_ros/{world.domain}.privatizer.word is in use by another process: '
                     'stop it, or give each node a name of its own', run.log)
    assert spent(given) == 0.1
    world.privatizer('-r', '__node:=other', '-r', 'region:=zone', '-r',
                     'private_region:=private_zone', **given)


def test_files_of_words_are_their_owners_alone(world, given):
    world.privatizer('-r', '__ns:=/wing_a/r1', **given)
    [folder] = world.home.glob('symdp_ros')
    [file] = folder.iterdir()
    assert file.name == f'{world.domain}.wing_a.r1.privatizer.word'
    assert folder.stat().st_mode & 0o777 == 0o700 and file.stat().st_mode & 0o777 == 0o600
    assert f'a new word begins; {file} keeps it over restarts' in world.runs[0].log


@pytest.mark.parametrize('home', ['a file', '~no_such_user/ros'])
def test_without_a_place_for_the_word_nothing_is_drawn_of_before(
        world, given, home, tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path))
    world.home = home if home[0] == '~' else tmp_path / 'file'
    (tmp_path / 'file').touch()
    private, publisher = world.listen(), world.latch('s7')
    run = world.privatizer(**given)
    [line] = [line for line in run.log.splitlines() if 'nothing keeps the word' in line]
    assert '[WARN]' in line and 'Set ROS_HOME to a folder that this node may write' in line
    assert 'a new word begins; a restart begins another' in run.log
    world.settle(1.0)
    assert private == []
    send_until(world, publisher, 's8', lambda: private)


@pytest.mark.parametrize('kills', [False, True], ids=['transitions', 'kill'])
def test_a_latched_message_is_drawn_once_whatever_the_qos_overrides(world, given, tmp_path, kills):
    parameters = tmp_path / 'qos.yaml'
    parameters.write_text(
        'privatizer:\n  ros__parameters:\n    qos_overrides:\n      /region:\n        '
        'subscription: {durability: transient_local, reliability: reliable}\n')

    def start():
        return world.privatizer('--params-file', str(parameters), adjacency=1, **given)

    run, private, publisher = start(), world.listen(), world.latch('s7')
    world.wait_until(lambda: private, 'its symbol')
    for transitions in ROUNDS[1:3] if kills else ROUNDS:
        if kills:
            run.kill()
            run = start()
        else:
            assert world.change('privatizer', *transitions)
            world.wait_until(lambda: publisher.get_subscription_count(), 'the subscription')
        world.settle()
    assert len(set(private)) == 1, 'it was drawn again'
    assert kills or len(private) == 1
    count = len(private)
    send_until(world, publisher, 's7', lambda: len(private) > count)
    assert spent(given) == 0.1


@pytest.fixture
def full_disk(tmp_path):
    """Give a small disk without room, and the file that fills it."""
    place = tmp_path / 'small'
    place.mkdir()
    done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', str(place)],
                          capture_output=True)
    if done.returncode:
        pytest.skip('a small disk cannot be mounted here: that takes root')
    try:
        filler = place / 'filler'
        with pytest.raises(OSError), filler.open('wb', buffering=0) as file:
            while True:
                file.write(bytes(1024))
        yield filler
    finally:
        subprocess.run(['umount', '-l', str(place)], check=True)


def test_a_full_disk_costs_nothing(world, given, full_disk):
    given['state_file'] = full_disk.with_name('word')
    for _ in range(3):
        run = world.privatizer(**given, wait=False)
        assert run.wait() == 1
        assert 'cannot be written: No space left' in run.log and 'Traceback' not in run.log
    run = world.privatizer(**given, autostart='false', wait=False)
    assert world.change('privatizer', Transition.TRANSITION_CONFIGURE)
    for _ in range(10):
        assert not world.change('privatizer', Transition.TRANSITION_ACTIVATE)
    assert spent(given) == 0 and 'a new word begins' not in run.log
    full_disk.unlink()
    assert world.change('privatizer', Transition.TRANSITION_ACTIVATE)
    assert spent(given) == 0.1
    run.stop()
    run = world.privatizer(**given)
    assert 'is carried on' in run.log and spent(given) == 0.1


def test_a_state_file_that_fails_ends_the_node_before_the_symbol_goes_out(world, given, tmp_path):
    script = tmp_path / 'failing.py'
    script.write_text("""
import sys
from symdp_ros.errors import StateFileError
from symdp_ros.words.state_file import StateFile
begin = StateFile.begin
def store(*given):
    raise StateFileError('state_file x cannot be written: Input/output error')
def begin_and_fail(self, *given):
    begin(self, *given)
    self.store = store
StateFile.begin = begin_and_fail
from symdp_ros.nodes.privatizer import main
sys.exit(main())
""")
    private = world.listen()
    node = subprocess.Popen(
        [sys.executable, str(script), '--ros-args', *arguments_of(
            {**given, 'adjacency': 1, 'state_file': tmp_path / 'word'})], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, 'ROS_DOMAIN_ID': str(world.domain)})
    try:
        world.latch('s7')
        output, _ = node.communicate(timeout=PATIENCE)
    finally:
        node.kill()
    assert node.returncode == 1 and private == []
    assert 'cannot be written: Input/output error' in output and 'Traceback' not in output
