# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions whose QoS matches every publisher of their topic."""
from collections import deque, OrderedDict
import inspect
from time import monotonic

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from symdp_ros.messages.fields import name_of_type
from symdp_ros.ros.graph.qos_overrides import OVERRIDABLE, policy_in, qos_overrides
from symdp_ros.ros.graph.queues import MESSAGES
from symdp_ros.ros.graph.watch import publisher_names, publishers

_RELIABLE, _BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
_LATCHED, _VOLATILE = DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE

_LOOKS = 0.25  # seconds between looks into the queues, of which each takes so many messages:
_OVERLOOKED = 1000
_LATE = 2 * _LOOKS


class AdaptiveSubscription:
    """
    Receives from every publisher of a topic, from each as reliably as it offers.

    Three subscriptions are made at once, and stay: a latched one hears reliable publishers that
    keep messages, and what they have kept; a reliable one hears all reliable publishers (the third
    would not get again what is lost on the way); a best-effort one hears all. The node of a
    publisher logs a warning for each that asks for more than it offers. So that most log none, the
    first is not made where publishers are known, none of which keeps messages.

    What several receive is passed on once. Messages are told apart by the time at which they were
    sent, and by their number where the middleware numbers them. While a subscription hears nobody
    but whom a former one hears, its messages are left to that one, which has them in order: what
    is sent again, or was kept, is not overtaken.

    What the operator sets by parameters stays, but for `durability` where not `latched`.

    The queues are looked into: rclpy's EventsExecutor sometimes overlooks what arrives while a
    subscription is made, until the next message; too late where a latched robot stands still.

    That executor does what comes in its order. So that no service, timer or other node waits until
    all messages are worked off, these wait here, where the looks come late; with each look the
    next ones are passed on, for as long as it takes until the next look.

    :param callback: called with the bytes of each message.
    :param latched: whether to ask for what was published before. If not, it is not received.

    `topic` is the resolved name; `waits` whether no publisher was known when this was made;
    `count` how many subscriptions it has; `waiting` how many messages wait here. As of the last
    `note`, `lost` is how many messages were lost, as node, machine or network was too slow for
    them; `sees_losses` whether all are counted: the middleware numbers messages, and only one
    publisher sends them; `refused` has the names of the nodes whose publishers do not suit what
    the operator set.
    """

    def __init__(self, node, message_type, topic: str, callback, *, latched: bool):
        self._node, self._message_type, self._callback = node, message_type, callback
        self.topic = node.resolve_topic_name(topic)
        self.refused: list[str] = []
        self.lost = self._missing = self._number = 0  # of them since `note`; of the last message
        self.sees_losses = self._numbered = True      # until a message has no number
        self._sources: object = None
        self._passed_on: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._waiting: deque[bytes] = deque()
        self._late_at = monotonic() + _LATE  # from when on the next look is late
        self._overrides = qos_overrides(node, 'subscription', self.topic)
        endpoints, type_name = publishers(node, self.topic), name_of_type(message_type)
        offers = [info.qos_profile for info in endpoints.infos if info.topic_type == type_name]
        self.waits = not (offers or endpoints.problem)
        self._kinds = self._chosen(offers, latched)
        self.count = len(self._kinds)
        # In this order others hear of them: who sends to a later one sends to the former ones.
        self._subscriptions = [self._made(rank, *kind) for rank, kind in enumerate(self._kinds)]
        self._timer = node.create_timer(_LOOKS, self._look,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def destroy(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node = None

    def note(self, publishers) -> None:
        """Take in what rclpy knows now of all publishers of the type, for `lost` and `refused`."""
        # DDS does not report what a full queue of a reader drops: what is missing among the
        # numbers of one publisher is counted, while it is alone.
        sources = [tuple(info.endpoint_gid) for info in publishers]
        if sources != self._sources:
            self._sources, self._number = sources, 0
        elif len(sources) == 1:
            self.lost += self._missing
        self._missing = 0
        self.sees_losses = self._numbered and len(sources) < 2
        self.refused = publisher_names(info for info in publishers if not any(
            (reliability == _BEST_EFFORT or info.qos_profile.reliability != _BEST_EFFORT)
            and (durability == _VOLATILE or info.qos_profile.durability != _VOLATILE)
            for reliability, durability in self._kinds))

    def _chosen(self, offers, latched):
        """Return (reliability, durability) of each subscription, the most demanding one first."""
        set_reliability = policy_in(self._overrides, 'reliability')
        set_durability = policy_in(self._overrides, 'durability')
        kinds = [(_RELIABLE, _VOLATILE), (_BEST_EFFORT, _VOLATILE)]
        if set_reliability != _BEST_EFFORT and (not offers or any(
                offer.durability != _VOLATILE and offer.reliability != _BEST_EFFORT
                for offer in offers)):
            kinds.insert(0, (_RELIABLE, _LATCHED))
        return [*dict.fromkeys((set_reliability or reliability,
                                (set_durability or durability) if latched else _VOLATILE)
                               for reliability, durability in kinds)]

    def _made(self, rank, reliability, durability):
        # Only what is set is declared: otherwise rclpy would apply the first declared QoS as an
        # override to all later subscriptions.
        set_kinds = [kind for kind in OVERRIDABLE if kind.name.lower() in self._overrides
                     and (kind, durability) != (QoSPolicyKind.DURABILITY, _VOLATILE)]
        return self._node.create_subscription(
            self._message_type, self.topic, self._receiver(rank), QoSProfile(
                depth=MESSAGES, reliability=reliability, durability=durability),
            raw=True, qos_overriding_options=QoSOverridingOptions(set_kinds),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False))

    def _receiver(self, rank):
        """Return the callback of one subscription."""
        def receive(message, info=None):
            if info is None:  # the EventsExecutor of rclpy 7.1 gives both as one tuple
                message, info = message
            # None where the middleware does not number messages, as Cyclone DDS: no loss is seen.
            number = info['publication_sequence_number'] or 0
            self._numbered = bool(number)
            # Without a node, the message waited in the executor meanwhile.
            if self._node is None or not self._is_new(info['source_timestamp'], number, rank):
                return
            self._missing += max(0, number - self._number - 1) if self._number else 0
            self._number = number
            if not self._waiting and monotonic() < self._late_at:
                self._callback(message)
                return
            self._waiting.append(message)
            if len(self._waiting) > MESSAGES:
                self._waiting.popleft()
                self.lost += 1

        # From this signature rclpy sees that the callback also takes information on the message.
        receive.__signature__ = inspect.signature(lambda message, info: None)
        return receive

    def _is_new(self, stamp, number, rank):
        """Return whether a message is to be passed on, and remember it."""
        if not stamp:  # messages cannot be told apart: the last one, which hears all, passes on
            return rank == self.count - 1
        key = stamp, number
        if key in self._passed_on or rank and self._is_left_to_a_former_one(rank):
            return False
        self._passed_on[key] = None
        if len(self._passed_on) > 2 * MESSAGES:
            self._passed_on.popitem(last=False)
        return True

    def _is_left_to_a_former_one(self, rank):
        heard, *former = (subscription.get_publisher_count()
                          for subscription in self._subscriptions[rank::-1])
        return 0 < heard <= max(former, default=0)

    def _look(self):
        until = monotonic() + _LOOKS
        while self._waiting and self._node is not None and monotonic() < until:
            self._callback(self._waiting.popleft())
        self._late_at = monotonic() + _LATE
        for subscription in self._subscriptions:
            for _ in range(_OVERLOOKED):
                if self._node is None:  # a callback has ended it, or the timer was due before
                    return
                with subscription.handle:
                    taken = subscription.handle.take_message(self._message_type, True)
                if taken is None:
                    break
                subscription.callback(*taken)
