# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `belief` behind a privatizer with `policy: adaptive`."""
from base64 import b64encode
import json

from harness import RELIABLE
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import pytest
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.analysis.belief import Filter
from symdp_ros.ros.live.history import History, HistoryEntry
from symdp_ros.words.live_word import LiveWord
from test_belief_node import believe, listen_to_beliefs, send, shown, values_of

ADAPTIVE = {'epsilon': 1.0, 'policy': 'adaptive'}
HISTORY = 'private_region/history'


@pytest.fixture
def habit(tmp_path):
    """Give a chain whose likely moves make the rows depend on all outputs."""
    file = tmp_path / 'habit.chain.yaml'
    file.write_text(
        'initial_state: a\n'
        'transitions:\n'
        '  a: {a: 0.1, b: 0.8, c: 0.1}\n  b: {b: 0.2, c: 0.7, d: 0.1}\n'
        '  c: {c: 0.1, d: 0.8, a: 0.1}\n  d: {d: 0.3, a: 0.6, b: 0.1}\n')
    return file


def made(chain_file, trust=0.8, epsilon=1.0):
    return OnlineMechanism(Chain.from_yaml(chain_file), Privacy(epsilon), policy='adaptive',
                           trust=trust)


class Follower:
    """The library's filter, and what the node should have published of each output."""

    def __init__(self, chain_file):
        self.filter, self.best = Filter(made(chain_file)), []

    def follow(self, outputs):
        for output in outputs:
            self.filter.update(output)
            self.best.append(self.filter.best)


def drawn(world, publisher, private, word):
    """Send regions; return the private ones that were drawn of them."""
    before = len(private)
    send(publisher, *word)
    world.wait_until(lambda: len(private) == before + len(word), 'the private regions')
    return private[before:]


def entries_of(chain_file, outputs, first=1):
    """Return the messages of a history, computed from the outputs alone."""
    mechanism, entries, previous = made(chain_file), [], None
    for number, output in enumerate(outputs, first):
        entries.append(HistoryEntry(number, previous, output, mechanism.belief))
        mechanism.advance(output)
        previous = output
    return entries


def feasible(chain_file, length):
    """Return outputs that an adaptive mechanism can draw."""
    mechanism, chain = made(chain_file), Chain.from_yaml(chain_file)
    return [mechanism.step(chain.states[i % len(chain)]) for i in range(length)]


def test_the_belief_is_the_filters_and_the_history_that_of_the_outputs(world, habit):
    """Bit by bit: nothing but the private regions and public settings is in the history."""
    world.privatizer(chain_file=habit, **ADAPTIVE)
    run = believe(world, chain_file=habit, **ADAPTIVE)
    private, history = world.listen(), world.listen(HISTORY)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    for topic in ('private_region', HISTORY, 'believed_region', 'region_belief'):
        world.wait_until(lambda topic=topic: world.node.count_publishers(topic), topic)
    world.settle()  # until they have found this reader, too: not all is kept for late ones
    outputs = drawn(world, world.publisher(), private, 'abcdabcdaabbxcd' * 4)
    world.wait_until(lambda: len(believed) == len(statuses) == len(history) == 60, 'beliefs')
    expected = Follower(habit)
    expected.follow(outputs)
    assert believed == expected.best
    assert values_of(statuses[-1]) == shown(expected.filter, habit)
    assert [status.message for status in statuses] == outputs
    assert statuses[-1].name == '/private_region'
    assert history == [entry.text() for entry in entries_of(habit, outputs)]
    assert 'gap' not in run.log


def test_no_history_with_another_policy(world, habit):
    run = world.privatizer(chain_file=habit, epsilon=1.0)
    private = world.listen()
    drawn(world, world.publisher(), private, 'abc')
    assert '/private_region/history' not in dict(world.node.get_topic_names_and_types())
    assert 'history' not in run.log


def test_who_comes_late_gets_the_word_so_far(world, habit):
    world.privatizer(chain_file=habit, **ADAPTIVE)
    private = world.listen()
    publisher = world.publisher()
    expected = Follower(habit)
    expected.follow(drawn(world, publisher, private, 'abcdabcd'))
    run = believe(world, chain_file=habit, **ADAPTIVE)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    world.wait_until(lambda: len(believed) == 8, 'the beliefs so far')
    expected.follow(drawn(world, publisher, private, 'abcd'))
    # (The last region says little: the one before it may have the same name.)
    world.wait_until(lambda: len(believed) == 12 and statuses
                     and values_of(statuses[-1]) == shown(expected.filter, habit), 'all beliefs')
    assert believed == expected.best
    assert 'gap' not in run.log and 'joined late' not in run.log


def test_joining_after_the_first_messages_are_gone(world, habit):
    run = believe(world, chain_file=habit, **ADAPTIVE)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    entries = entries_of(habit, feasible(habit, 12))[7:]
    send(world.publisher(HISTORY), *(entry.text() for entry in entries))
    world.wait_until(lambda: len(believed) == len(statuses) == 5, 'five beliefs')
    tracker = Filter(made(habit))
    tracker.resume(entries[0].region, entries[0].previous, entries[0].belief)
    for entry in entries[1:]:
        tracker.update(entry.region)
    assert values_of(statuses[-1]) == shown(tracker, habit)
    assert 'is joined late' in run.log and 'gap' not in run.log


@pytest.mark.parametrize('end', ['stop', 'kill'])
def test_a_restart_with_a_state_file_is_followed(world, habit, tmp_path, end):
    """The draws begin from the last private region, the belief goes on."""
    given = {'chain_file': habit, 'state_file': tmp_path / 'word', **ADAPTIVE}
    belief = believe(world, chain_file=habit, **ADAPTIVE)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    private, history, expected = world.listen(), world.listen(HISTORY), Follower(habit)
    for life in range(3):
        run, before = world.privatizer(**given), len(private)
        if life:
            world.wait_until(lambda n=before: len(private) == n + 1, 'the last region again')
            expected.filter.restart()
        publisher = world.publisher(qos=RELIABLE)
        world.settle()
        expected.follow(drawn(world, publisher, private, 'bcda' * 3))
        world.wait_until(lambda: len(believed) == len(statuses) == len(expected.best), 'beliefs')
        assert believed == expected.best
        assert values_of(statuses[-1]) == shown(expected.filter, habit)
        getattr(run, end)()
        world.node.destroy_publisher(publisher)
    firsts = [entry for entry in map(HistoryEntry.of, history) if entry.number == 1]
    assert [entry.previous is None for entry in firsts] == [True, False, False]
    assert 'gap' not in belief.log and 'joined late' not in belief.log


def test_a_late_reader_after_a_restart_begins_with_the_privatizers_belief(world, habit, tmp_path):
    given = {'chain_file': habit, 'state_file': tmp_path / 'word', **ADAPTIVE}
    private, history = world.listen(), world.listen(HISTORY)
    for _ in range(2):
        run, before = world.privatizer(**given), len(private)
        world.wait_until(lambda n=before: not n or len(private) == n + 1, 'the last region again')
        publisher = world.publisher(qos=RELIABLE)
        world.settle()
        outputs = drawn(world, publisher, private, 'bcd')
        if before == 0:
            run.stop()
            world.node.destroy_publisher(publisher)
    late = believe(world, chain_file=habit, **ADAPTIVE)
    statuses, believed = listen_to_beliefs(world), world.listen('believed_region')
    world.wait_until(lambda: len(believed) == 3 and len(history) >= 3, 'three beliefs')
    first = HistoryEntry.of(history[-3])
    rows = made(habit)
    rows.reset(first.previous)
    assert first.number == 1 and first.belief.tobytes() == rows.belief.tobytes()
    tracker = Filter(made(habit))
    tracker.resume(outputs[0], first.previous, rows.belief)
    for output in outputs[1:]:
        tracker.update(output)
    world.wait_until(lambda: statuses and values_of(statuses[-1]) == shown(tracker, habit),
                     'the last of them')
    assert 'is joined late' in late.log


def test_without_a_state_file_a_new_word_is_followed_from_its_beginning(world, habit):
    belief = believe(world, chain_file=habit, **ADAPTIVE)
    believed, private = world.listen('believed_region'), world.listen()
    for _ in range(2):
        run, expected, before = world.privatizer(chain_file=habit, **ADAPTIVE), Follower(habit), \
            len(believed)
        publisher = world.publisher()
        expected.follow(drawn(world, publisher, private, 'bcdabc'))
        world.wait_until(lambda n=before: len(believed) == n + 6, 'six beliefs')
        assert believed[before:] == expected.best
        assert run.stop() == 0
        world.node.destroy_publisher(publisher)
    assert 'gap' not in belief.log


def test_a_privatizer_that_is_configured_again_is_followed(world, habit):
    """Its word goes on, what it draws by begins anew."""
    belief = believe(world, chain_file=habit, **ADAPTIVE)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    private, expected = world.listen(), Follower(habit)
    world.privatizer(chain_file=habit, **ADAPTIVE)
    publisher = world.publisher(qos=RELIABLE)
    world.settle()
    expected.follow(drawn(world, publisher, private, 'bcdabc'))
    world.wait_until(lambda: len(believed) == 6, 'six beliefs')
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP,
                       Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        request = ChangeState.Request()
        request.transition.id = transition
        assert world.call(ChangeState, '/privatizer/change_state', request).success
    world.wait_until(lambda: publisher.get_subscription_count() > 0, 'the subscription')
    world.settle(1.0)
    expected.filter.restart()
    expected.follow(drawn(world, publisher, private, 'dabc'))
    world.wait_until(lambda: len(believed) == len(statuses) == 10, 'ten beliefs')
    assert believed == expected.best
    assert values_of(statuses[-1]) == shown(expected.filter, habit)
    assert 'gap' not in belief.log


def test_after_lost_messages_the_belief_begins_with_what_drew(world, habit):
    run = believe(world, chain_file=habit, **ADAPTIVE)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    entries = entries_of(habit, feasible(habit, 12))
    kept = entries[:4] + entries[7:]
    send(world.publisher(HISTORY), *(entry.text() for entry in kept))
    world.wait_until(lambda: len(believed) == len(statuses) == 9, 'nine beliefs')
    tracker = Filter(made(habit))
    for entry in entries[:4]:
        tracker.update(entry.region)
    assert believed[3] == tracker.best
    for entry in entries[7:]:
        if entry.number == 8:
            tracker.resume(entry.region, entry.previous, entry.belief)
        else:
            tracker.update(entry.region)
    assert values_of(statuses[-1]) == shown(tracker, habit)
    run.wait_for('(gap 1): messages were lost')
    assert 'gap 2' not in run.log


def test_other_settings_are_noticed(world, habit):
    run = believe(world, chain_file=habit, trust=0.1, **ADAPTIVE)
    believed = world.listen('believed_region')
    send(world.publisher(HISTORY), entries_of(habit, feasible(habit, 1))[0].text())
    run.wait_for("the settings are not the privatizer's")
    world.wait_until(lambda: len(believed) == 1, 'a belief')


def test_what_is_no_history_is_ignored(world, habit):
    run = believe(world, chain_file=habit, **ADAPTIVE)
    believed = world.listen('believed_region')
    entries = entries_of(habit, feasible(habit, 2))
    good = json.loads(entries[1].text())
    bad = [{**good, **change} for change in (
        {'number': '2'}, {'number': True}, {'previous': 3}, {'region': None}, {'belief': 'x'},
        {'belief': 7}, {'belief': b64encode(b'12345').decode()}, {'belief': ''},
        {'belief': b64encode(np.full(4, np.nan).tobytes()).decode()},
        {'belief': b64encode(np.full(5, 0.2).tobytes()).decode()},
        {'previous': 'cellar'}, {'region': 'cellar'})]
    texts = [entries[0].text(), '', '[]', '7', '{', '[' * 100000,
             *map(json.dumps, bad), entries[1].text()]
    publisher = world.publisher(HISTORY)
    publisher.publish(b'\0')
    send(publisher, *texts)
    expected = Follower(habit)
    expected.follow(entry.region for entry in entries)
    world.wait_until(lambda: len(believed) == 2, 'two beliefs')
    assert believed == expected.best
    assert 'a message that cannot be read is ignored' in run.log
    assert 'Traceback' not in run.log and '(gap' not in run.log


@pytest.mark.parametrize('size, kept', [(2**27, 1000), (10_000, 44), (10, 1)])
def test_large_messages_are_kept_for_late_readers_in_part(world, habit, monkeypatch, size, kept):
    """A belief over 7 models and 4 states takes 224 bytes."""
    monkeypatch.setattr('symdp_ros.ros.live.history._KEPT', size)
    word = LiveWord(made(habit), described={}, logger=world.node.get_logger())
    history = History(world.node, word, 1000)
    depth = history._publisher.qos_profile.depth
    history.destroy()
    assert depth == kept


def test_the_history_follows_a_remapping(world, habit):
    given = {'chain_file': habit, **ADAPTIVE}
    topic = '/fleet/r1/region'
    world.privatizer('-r', f'private_region:={topic}', **given)
    believe(world, '-r', f'private_region:={topic}', **given)
    late, believed = world.listen(f'{topic}/history'), world.listen('believed_region')
    send(world.publisher(), *'abc')
    world.wait_until(lambda: len(late) == len(believed) == 3, 'three of each')
