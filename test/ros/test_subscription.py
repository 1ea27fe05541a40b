# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The subscription that suits every publisher: nothing is lost or heard twice as they change."""
from harness import BEST_EFFORT, LATCHED, RELIABLE, wait_until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int32, String
from symdp_ros.ros.graph import adaptive_subscription
from symdp_ros.ros.graph.adaptive_subscription import AdaptiveSubscription
from symdp_ros.ros.graph.watch import NAMELESS, UNKNOWN

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # the first releases of Jazzy
    EXECUTORS = [SingleThreadedExecutor]
else:
    EXECUTORS = [EventsExecutor, pytest.param(SingleThreadedExecutor, marks=pytest.mark.thorough)]


class Listener:
    """Give a node of this process with such a subscription; `heard` holds what it passed on."""

    def __init__(self, world, executor, *, latched=True, **overrides):
        self.node = rclpy.create_node('listener', context=world.context, parameter_overrides=[
            Parameter(f'qos_overrides./t.subscription.{policy}', value=value)
            for policy, value in overrides.items()])
        self.heard = []
        self._world, self._executor = world, executor(context=world.context)
        self._executor.add_node(self.node)
        self.subscription = AdaptiveSubscription(
            self.node, String, 't', lambda data: self.heard.append(
                deserialize_message(data, String).data), latched=latched)

    def spin(self):
        self._executor.spin_once(timeout_sec=0.0005)

    def close(self):
        self.subscription.destroy()
        self._executor.remove_node(self.node)
        self.node.destroy_node()
        self._executor.shutdown()


@pytest.fixture(params=EXECUTORS, ids=lambda executor: executor.__name__)
def listen(world, request):
    """Give a function that makes a Listener."""
    made = []

    def make(**options):
        made.append(Listener(world, request.param, **options))
        return made[-1]

    yield make
    for listener in made:
        listener.close()


class Source:
    """A publisher whose messages are its name and their number."""

    def __init__(self, world, name, qos):
        self._world, self._name, self.sent = world, name, []
        self._publisher = world.node.create_publisher(String, 't', qos)

    def matched(self):
        return self._publisher.get_subscription_count() > 0

    def send(self):
        self.sent.append(f'{self._name}{len(self.sent)}')
        self._publisher.publish(String(data=self.sent[-1]))

    def heard_by(self, listener):
        return [text for text in listener.heard if text.startswith(self._name)]

    def close(self):
        self._world.node.destroy_publisher(self._publisher)


def send_until(world, listener, sources, condition, what):
    """Let the sources send again and again, until a condition holds."""
    def send_and_spin():
        for source in sources:
            source.send()
        for _ in range(10):  # faster than they send: what waits on both ways may change places
            listener.spin()

    wait_until(condition, what, send_and_spin)


def settle(listener):
    """Let what is known on one side of a connection be known on the other, too."""
    for _ in range(600):
        listener.spin()


def start(world, listener, name, qos):
    source = Source(world, name, qos)
    wait_until(source.matched, 'a subscription', listener.spin)
    settle(listener)
    return source


def test_a_passing_best_effort_publisher_costs_the_reliable_one_nothing(world, listen):
    listener = listen()
    reliable = start(world, listener, 'r', RELIABLE)
    send_until(world, listener, [reliable], lambda: len(listener.heard) > 50, 'messages')
    for round_ in range(2):
        passing = Source(world, f'b{round_}.', BEST_EFFORT)
        send_until(world, listener, [reliable, passing],
                   lambda passing=passing: len(passing.heard_by(listener)) > 50,
                   'the best-effort publisher to be heard')
        assert listener.subscription.count == 2
        send_until(world, listener, [reliable], lambda passing=passing: (
            passing.heard_by(listener)[-1] == passing.sent[-1]), 'what is on its way')
        passing.close()
        send_until(world, listener, [reliable], lambda: listener.subscription.count == 1,
                   'the subscription to be closed')
        send_until(world, listener, [reliable],
                   lambda: len(listener.heard) > 50, 'more messages')
        assert len(set(passing.heard_by(listener))) == len(passing.heard_by(listener))
    wait_until(lambda: len(reliable.heard_by(listener)) >= len(reliable.sent), 'the rest',
               listener.spin)
    settle(listener)
    assert reliable.heard_by(listener) == reliable.sent


def test_a_listener_that_is_far_behind_hears_nothing_twice(world, listen, monkeypatch):
    """When the second subscription closes, what both have brought may still wait in the other."""
    listener = listen()
    reliable = start(world, listener, 'r', RELIABLE)
    passing = start(world, listener, 'b', BEST_EFFORT)
    assert listener.subscription.count == 2
    # No look of its own may close the second, or take all that waits.
    monkeypatch.setattr(adaptive_subscription, '_SETTLED', float('inf'))
    monkeypatch.setattr(adaptive_subscription, '_OVERLOOKED', 0)
    passing.close()
    wait_until(lambda: listener.node.count_publishers('t') == 1, 'it to be gone', listener.spin)
    for _ in range(400):
        reliable.send()
    wait_until(lambda: len(listener.heard) > 100, 'a part of it', listener.spin)
    monkeypatch.setattr(adaptive_subscription, '_SETTLED', 0.0)
    listener.subscription._look_and_take()
    assert listener.subscription.count == 1 and len(listener.heard) < 400
    wait_until(lambda: len(listener.heard) >= 400, 'the rest', listener.spin)
    settle(listener)
    assert sorted(listener.heard) == sorted(reliable.sent)


def test_a_reliable_publisher_that_comes_later_is_heard_reliably(world, listen):
    listener = listen()
    first = start(world, listener, 'b', BEST_EFFORT)
    send_until(world, listener, [first], lambda: listener.heard, 'messages')
    second = Source(world, 'r', RELIABLE)
    send_until(world, listener, [first], lambda: listener.subscription.count == 2,
               'a second subscription')
    settle(listener)
    send_until(world, listener, [first, second], lambda: len(second.sent) > 200, '200 of each')
    first.close()
    send_until(world, listener, [second], lambda: listener.subscription.count == 1, 'the change')
    send_until(world, listener, [second],
               lambda: second.heard_by(listener)[-1:] == second.sent[-1:],
               'the last message')
    assert second.heard_by(listener) == second.sent
    assert len(set(listener.heard)) == len(listener.heard)


def test_latched_messages_are_heard_once_when_a_publisher_comes_that_keeps_none(world, listen):
    latched = Source(world, 'l', LATCHED)
    for _ in range(20):
        latched.send()
    listener = listen()
    wait_until(lambda: len(listener.heard) == 20, 'what was published before', listener.spin)
    volatile = start(world, listener, 'v', RELIABLE)
    send_until(world, listener, [latched, volatile], lambda: volatile.heard_by(listener), 'both')
    send_until(world, listener, [latched, volatile], lambda: listener.subscription.count == 1,
               'the first subscription to be closed')
    wait_until(lambda: len(latched.heard_by(listener)) >= len(latched.sent), 'the rest',
               listener.spin)
    settle(listener)
    assert latched.heard_by(listener) == latched.sent
    heard = volatile.heard_by(listener)
    assert heard == volatile.sent[-len(heard):]


def test_what_the_executor_overlooks_is_taken_by_the_next_look(world, listen):
    latched = Source(world, 'l', LATCHED)
    for _ in range(20):
        latched.send()
    listener = listen()  # its executor never runs: it overlooks everything
    wait_until(lambda: listener.heard == latched.sent, 'all', listener.subscription._look_and_take)
    settle(listener)
    assert listener.heard == latched.sent, 'nothing twice'


def test_what_was_published_before_is_not_asked_for_unless_told_to(world, listen):
    latched = Source(world, 'l', LATCHED)
    latched.send()
    listener = listen(latched=False)
    wait_until(latched.matched, 'a subscription', listener.spin)
    settle(listener)
    latched.send()
    wait_until(lambda: listener.heard, 'a message', listener.spin)
    assert listener.heard == ['l1']


def test_what_the_operator_sets_stays(world, listen):
    listener = listen(reliability='reliable', durability='volatile')
    assert listener.subscription.count == 1, 'nothing has to be found out'
    reliable, passing = start(world, listener, 'r', RELIABLE), Source(world, 'b', BEST_EFFORT)
    send_until(world, listener, [reliable, passing], lambda: len(reliable.sent) > 100, 'messages')
    assert listener.subscription.count == 1 and not passing.heard_by(listener)
    listener = listen(reliability='best_effort')
    send_until(world, listener, [reliable, passing], lambda: passing.heard_by(listener) and
               reliable.heard_by(listener), 'both')
    assert listener.subscription.count == 1


def test_publishers_of_another_type_are_not_suited(world, listen):
    context = Context()  # one participant can have but one type on a topic
    rclpy.init(context=context, domain_id=world.domain)
    try:
        stranger = rclpy.create_node('stranger', context=context)
        stranger.create_publisher(Int32, 't', BEST_EFFORT)
        listener = listen()
        wait_until(lambda: listener.node.count_publishers('t') == 1, 'the other', listener.spin)
        settle(listener)
        assert listener.subscription.count == 0
        start(world, listener, 'r', RELIABLE)
        assert listener.subscription.count == 1
        stranger.destroy_node()
    finally:
        rclpy.shutdown(context=context)


def test_the_coming_and_going_is_logged(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=1.0)
    world.publisher(qos=RELIABLE)
    passing = world.node.create_publisher(String, 'region', BEST_EFFORT)
    run.wait_for('/region is published best effort by /observer')
    world.node.destroy_publisher(passing)
    run.wait_for('no node publishes /region best effort any more')


@pytest.mark.parametrize('named_at, name', [(3, '/observer'), (10**9, NAMELESS)])
def test_the_name_of_a_node_that_was_just_found_is_waited_for(world, listen, monkeypatch,
                                                              named_at, name):
    # The middleware announces a publisher and its node apart, in any order.
    listener, looks, said = listen(), [], []
    known = listener.node.get_publishers_info_by_topic

    def with_late_names(topic):
        infos = known(topic)
        looks.extend(infos)
        for info in infos if len(looks) < named_at else ():
            info.node_name = UNKNOWN
        return infos

    monkeypatch.setattr(listener.node, 'get_publishers_info_by_topic', with_late_names)
    monkeypatch.setattr(listener.node.get_logger(), 'info', said.append)
    Source(world, 'b', BEST_EFFORT)
    wait_until(lambda: said, 'a message', listener.spin)
    assert said[0].startswith(f'/t is published best effort by {name}:')
    settle(listener)
    assert len(said) == 1 and (len(looks) > 3 or named_at == 3)
