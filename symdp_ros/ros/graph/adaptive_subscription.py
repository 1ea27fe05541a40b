# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions whose QoS matches every publisher of their topic."""
from collections import OrderedDict
import inspect

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.fields import name_of_type
from symdp_ros.ros.graph.queues import MESSAGES
from symdp_ros.ros.graph.watch import publisher_names, publishers
from symdp_ros.ros.rclpy_private import overrides_of

#: Policies that parameters can override, `qos_overrides.TOPIC.subscription.POLICY`.
OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
               QoSPolicyKind.DURABILITY)
_VALUES = {'history': HistoryPolicy, 'reliability': ReliabilityPolicy,
           'durability': DurabilityPolicy}

_RELIABLE, _BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
_LATCHED, _VOLATILE = DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE

_LOOKS = 0.25       # seconds between looks into the queues
_OVERLOOKED = 1000  # messages that one look takes from a queue at most


def check_qos_overrides(node, kind: str, topic: str) -> None:
    """
    Check the parameters that set the QoS of a topic, before they are used.

    :param kind: 'publisher' or 'subscription'.
    :raises ConfigurationError: an unknown policy or value.
    """
    start = f'qos_overrides.{node.resolve_topic_name(topic)}.{kind}.'
    for name, value in overrides_of(node).items():
        if not name.startswith(start):
            continue
        policy = name.removeprefix(start)
        if policy == 'depth':
            if type(value) is not int or not 1 <= value < 2**31:
                raise ConfigurationError(f'{name} is {value!r}: it must be an integer, at least 1')
        elif policy not in _VALUES:
            raise ConfigurationError(f'{name}: a policy that can be set here is one of depth, '
                                     + ', '.join(_VALUES))
        elif str(value).upper() not in _VALUES[policy].__members__:
            names = [name.lower() for name in _VALUES[policy].__members__ if name.isupper()]
            raise ConfigurationError(f'{name} is {value!r}: it must be one of {", ".join(names)}')


class AdaptiveSubscription:
    """
    Receives from every publisher of a topic, from each as reliably as it offers.

    These subscriptions are made at once, and stay; each hears what the next ones hear, or less:

    latched      reliable publishers that keep messages, and what they have kept
    reliable     reliable publishers
    best effort  every publisher

    The one of best effort alone would not do: it does not get again what is lost on the way. The
    first one is not made where publishers are known and none of them keeps messages, nor where
    `latched` says so. (The node of a publisher logs a warning for each subscription that asks for
    more than it offers. Most publishers are reliable and keep nothing: they should log none.)

    A message that several receive is passed on once: they are told apart by the time at which they
    were sent and, where the middleware numbers messages, their number. And while a subscription
    hears no publisher but those of a former one, its messages are left to that one, which has them
    in order: not the next one before one that is sent again, nor a new one before one that was
    kept.

    What the operator sets by parameters stays as it is set, with one exception: whatever
    `durability` is, what was published before is not asked for unless `latched` says so.

    The queues are looked into several times a second: rclpy's EventsExecutor sometimes overlooks
    what arrives while a subscription is made, until the next message comes. That would be too late
    for the latched region of a robot that stands still.

    :param callback: called with the bytes of each message.
    :param latched: whether to ask for what was published before. If not, it is not received,
        whatever the operator's parameters are.
    :param with_info: whether to call with rclpy's information on the message, too.
    """

    def __init__(self, node, message_type, topic: str, callback, *, latched: bool,
                 with_info: bool = False):
        self._node, self._message_type, self._callback = node, message_type, callback
        self.topic = node.resolve_topic_name(topic)
        self._with_info = with_info
        #: How many messages were lost: node, machine or network was too slow for them.
        self.lost = 0
        self._number = self._missing = 0  # of the last message; since the last call of `note`
        self._sources: list[object] = []
        #: Names of the nodes whose publishers do not suit what the operator set.
        self.refused: list[str] = []
        self._passed_on: OrderedDict[tuple[int, int], None] = OrderedDict()
        found = publishers(node, self.topic)
        kind = name_of_type(message_type)
        offers = [info.qos_profile for info in found.infos if info.topic_type == kind]
        #: Whether no publisher was known when this was made.
        self.waits = not (offers or found.problem)
        self._kinds = self._chosen(offers, latched)
        self._subscriptions = [self._made(rank, *kind) for rank, kind in enumerate(self._kinds)]
        self._timer = node.create_timer(_LOOKS, self._take_overlooked,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def count(self) -> int:
        """How many subscriptions this is."""
        return len(self._subscriptions)

    def destroy(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._node = None

    def note(self, publishers) -> None:
        """
        Count in `lost` what is missing among the numbers of one publisher, while it is alone.

        And name in `refused` the nodes that are not heard. (DDS does not report what a full queue
        of a reader drops.)

        :param publishers: what rclpy knows of each that publishes the type; to be given anew
            every second or so.
        """
        sources = [tuple(info.endpoint_gid) for info in publishers]
        if sources != self._sources:
            self._sources, self._number = sources, 0
        elif len(sources) == 1:
            self.lost += self._missing
        self._missing = 0
        self.refused = publisher_names(info for info in publishers
                                       if not self._is_heard(info.qos_profile))

    def _chosen(self, offers, latched):
        """Return (reliability, durability) of each subscription, the most demanding one first."""
        reliability, durability = self._set('reliability'), self._set('durability')
        kinds = [(_RELIABLE, _VOLATILE), (_BEST_EFFORT, _VOLATILE)]
        if reliability != _BEST_EFFORT and (not offers or any(
                offer.durability != _VOLATILE and offer.reliability != _BEST_EFFORT
                for offer in offers)):
            kinds.insert(0, (_RELIABLE, _LATCHED))
        return [*dict.fromkeys((reliability or own_reliability,
                                (durability or own_durability) if latched else _VOLATILE)
                               for own_reliability, own_durability in kinds)]

    def _set(self, policy):
        """Return what the operator set for a policy; None if not set, or left to the system."""
        value = _VALUES[policy].__members__.get(str(self._overrides.get(policy)).upper())
        return value if value in (_RELIABLE, _BEST_EFFORT, _LATCHED, _VOLATILE) else None

    @property
    def _overrides(self):
        start = f'qos_overrides.{self.topic}.subscription.'
        return {name.removeprefix(start): value
                for name, value in overrides_of(self._node).items() if name.startswith(start)}

    def _made(self, rank, reliability, durability):
        # Only what is set is declared: otherwise rclpy would apply the first declared QoS as an
        # override to all later subscriptions.
        set_kinds = [kind for kind in OVERRIDABLE if kind.name.lower() in self._overrides
                     and (kind, durability) != (QoSPolicyKind.DURABILITY, _VOLATILE)]
        return self._node.create_subscription(
            self._message_type, self.topic, self._receiver(rank), QoSProfile(
                history=HistoryPolicy.KEEP_LAST, depth=MESSAGES, reliability=reliability,
                durability=durability),
            raw=True, qos_overriding_options=QoSOverridingOptions(set_kinds),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False))

    def _receiver(self, rank):
        """Return the callback of one subscription."""
        def receive(message, info=None):
            if info is None:  # the EventsExecutor of rclpy 7.1 gives both as one tuple
                message, info = message
            # None where the middleware does not number messages, as Cyclone DDS: no loss is seen.
            number = info['publication_sequence_number'] or 0
            # Without a node, the message waited in the executor meanwhile.
            if self._node is None or not self._is_new(info['source_timestamp'], number, rank):
                return
            if number > self._number + 1 and self._number:
                self._missing += number - self._number - 1
            self._number = number
            if self._with_info:
                self._callback(message, info)
            else:
                self._callback(message)

        # From this signature rclpy sees that the callback also takes information on the message.
        receive.__signature__ = inspect.signature(lambda message, info: None)
        return receive

    def _is_new(self, stamp, number, rank):
        """Return whether a message is to be passed on; take note of it."""
        if not stamp:  # messages cannot be told apart: the last one, which hears all, passes on
            return rank == self.count - 1
        if (stamp, number) in self._passed_on or self._is_left_to_a_former_one(rank):
            return False
        self._passed_on[stamp, number] = None
        if len(self._passed_on) > 2 * MESSAGES:
            self._passed_on.popitem(last=False)
        return True

    def _is_left_to_a_former_one(self, rank):
        heard = self._subscriptions[rank].get_publisher_count() if rank else 0
        return 0 < heard <= max((former.get_publisher_count()
                                 for former in self._subscriptions[:rank]), default=0)

    def _take_overlooked(self):
        for subscription in self._subscriptions:
            for _ in range(_OVERLOOKED):
                if self._node is None:  # a callback has ended it, or the timer was due before
                    return
                with subscription.handle:
                    taken = subscription.handle.take_message(self._message_type, True)
                if taken is None:
                    break
                subscription.callback(*taken)

    def _is_heard(self, offer):
        return any((reliability == _BEST_EFFORT or offer.reliability != _BEST_EFFORT)
                   and (durability == _VOLATILE or offer.durability != _VOLATILE)
                   for reliability, durability in self._kinds)
