# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The subscription that suits every publisher: nothing is lost or heard twice as they change."""
from harness import BEST_EFFORT, LATCHED, RELIABLE, wait_until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from std_msgs.msg import Int32, String
from symdp_ros.ros.graph.adaptive_subscription import AdaptiveSubscription

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # the first releases of Jazzy
    EXECUTORS = [SingleThreadedExecutor]
else:
    EXECUTORS = [EventsExecutor, pytest.param(SingleThreadedExecutor, marks=pytest.mark.thorough)]


class Listener:
    """Give a node of this process with such a subscription; `heard` holds what it passed on."""

    def __init__(self, world, executor, *, latched=True, subscribes=True, **overrides):
        self.node = rclpy.create_node('listener', context=world.context, parameter_overrides=[
            Parameter(f'qos_overrides./t.subscription.{policy}', value=value)
            for policy, value in overrides.items()])
        self.heard = []
        self._latched, self._executor = latched, executor(context=world.context)
        self._executor.add_node(self.node)
        if subscribes:
            self.subscribe()

    def subscribe(self):
        self.subscription = AdaptiveSubscription(
            self.node, String, 't', lambda data: self.heard.append(
                deserialize_message(data, String).data), latched=self._latched)

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
        send_until(world, listener, [reliable], lambda passing=passing: (
            passing.heard_by(listener)[-1] == passing.sent[-1]), 'what is on its way')
        passing.close()
        send_until(world, listener, [reliable],
                   lambda: len(listener.heard) > 50, 'more messages')
        assert len(set(passing.heard_by(listener))) == len(passing.heard_by(listener))
    wait_until(lambda: len(reliable.heard_by(listener)) >= len(reliable.sent), 'the rest',
               listener.spin)
    settle(listener)
    assert reliable.heard_by(listener) == reliable.sent


def test_a_listener_that_is_far_behind_hears_nothing_twice(world, listen):
    listener = listen()
    reliable = start(world, listener, 'r', RELIABLE)
    passing = start(world, listener, 'b', BEST_EFFORT)
    for _ in range(400):
        reliable.send()
    passing.close()
    wait_until(lambda: len(listener.heard) >= 400, 'all', listener.spin)
    settle(listener)
    assert listener.heard == reliable.sent


def test_a_reliable_publisher_that_comes_later_is_heard_reliably(world, listen):
    listener = listen()
    first = start(world, listener, 'b', BEST_EFFORT)
    send_until(world, listener, [first], lambda: listener.heard, 'messages')
    second = start(world, listener, 'r', RELIABLE)
    send_until(world, listener, [first, second], lambda: len(second.sent) > 200, '200 of each')
    first.close()
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
    wait_until(lambda: len(latched.heard_by(listener)) >= len(latched.sent), 'the rest',
               listener.spin)
    settle(listener)
    assert latched.heard_by(listener) == latched.sent
    heard = volatile.heard_by(listener)
    assert heard == volatile.sent[-len(heard):]


def hold_back(listener, monkeypatch, reliability):
    """Have the subscriptions of a reliability get nothing; return what gives them all at once."""
    held, create = [], listener.node.create_subscription

    def create_held(kind, topic, callback, qos, **options):
        def hold(*given):
            held.append(lambda: callback(*given))

        hold.__signature__ = callback.__signature__
        return create(kind, topic, hold if qos.reliability == reliability else callback, qos,
                      **options)

    def release():
        while held:
            held.pop(0)()

    monkeypatch.setattr(listener.node, 'create_subscription', create_held)
    listener.subscribe()
    return held, release


@pytest.mark.parametrize('qos', [RELIABLE, LATCHED], ids=['volatile', 'latched'])
def test_messages_that_are_sent_again_keep_their_order(world, listen, monkeypatch, qos):
    """What came by best effort meanwhile, of the same publisher, is left to the reliable one."""
    listener = listen(subscribes=False)
    held, release = hold_back(listener, monkeypatch, RELIABLE.reliability)
    reliable = start(world, listener, 'r', qos)
    for _ in range(20):
        reliable.send()
    wait_until(lambda: len(held) >= 20, 'the messages', listener.spin)
    settle(listener)
    assert listener.heard == []
    release()
    assert listener.heard == reliable.sent


def test_what_is_lost_on_the_way_of_best_effort_is_heard(world, listen, monkeypatch):
    listener = listen(subscribes=False)
    hold_back(listener, monkeypatch, BEST_EFFORT.reliability)
    reliable = start(world, listener, 'r', RELIABLE)
    for _ in range(20):
        reliable.send()
    wait_until(lambda: listener.heard == reliable.sent, 'the messages', listener.spin)


@pytest.mark.parametrize('qos, asked_too_much', [(RELIABLE, 0), (LATCHED, 0), (BEST_EFFORT, 1)],
                         ids=['reliable', 'latched', 'best effort'])
def test_subscriptions_that_ask_for_more_than_a_known_publisher_offers(world, listen, qos,
                                                                       asked_too_much):
    """The publisher's node logs a warning for each."""
    listener, total = listen(subscribes=False), [0]
    world.node.create_publisher(String, 't', qos, event_callbacks=PublisherEventCallbacks(
        incompatible_qos=lambda event: total.append(event.total_count)))
    wait_until(lambda: listener.node.count_publishers('t') == 1, 'the publisher', listener.spin)
    listener.subscribe()
    assert not listener.subscription.waits
    world.wait_until(lambda: world.node.count_subscribers('t') == listener.subscription.count
                     and total[-1] >= asked_too_much, 'the subscriptions')
    world.settle()
    assert total[-1] == asked_too_much


def test_what_the_executor_overlooks_is_taken_by_the_next_look(world, listen):
    latched = Source(world, 'l', LATCHED)
    for _ in range(20):
        latched.send()
    listener = listen()  # its executor never runs: it overlooks everything
    wait_until(lambda: listener.heard == latched.sent, 'all',
               listener.subscription._look)
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
    assert listener.subscription.count == 1, 'no other would suit'
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
        assert listener.subscription.waits
        reliable = start(world, listener, 'r', RELIABLE)
        reliable.send()
        wait_until(lambda: listener.heard == ['r0'], 'the message', listener.spin)
        stranger.destroy_node()
    finally:
        rclpy.shutdown(context=context)


#: Of a publisher: reliability, durability, history and depth.
KINDS = [QoSProfile(reliability=reliability, durability=durability, history=history, depth=depth)
         for reliability in (RELIABLE.reliability, BEST_EFFORT.reliability)
         for durability in (RELIABLE.durability, LATCHED.durability)
         for history in (HistoryPolicy.KEEP_LAST, HistoryPolicy.KEEP_ALL) for depth in (1, 100)]


def test_the_first_message_of_a_publisher_of_any_qos_is_heard(world, listen):
    listener = listen()
    assert listener.subscription.waits
    for number, qos in enumerate(KINDS):
        source = Source(world, f'{number}.', qos)
        if qos.reliability == BEST_EFFORT.reliability:  # otherwise that is not waited for
            wait_until(source.matched, 'a subscription', listener.spin)
            settle(listener)
        source.send()
        wait_until(lambda source=source: source.heard_by(listener), f'the first of {qos}',
                   listener.spin)
        settle(listener)
        assert source.heard_by(listener) == source.sent
        source.close()
