# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions whose QoS matches every publisher of their topic."""
from collections import deque
import inspect
from time import monotonic

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription
from symdp_ros.errors import ConfigurationError
from symdp_ros.messages.fields import name_of_type
from symdp_ros.ros.graph.queues import MESSAGES
from symdp_ros.ros.graph.watch import is_unnamed, publisher_names, publishers, some_names
from symdp_ros.ros.rclpy_private import overrides_of

#: Policies that parameters can override, `qos_overrides.TOPIC.subscription.POLICY`.
OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
               QoSPolicyKind.DURABILITY)
_VALUES = {'history': HistoryPolicy, 'reliability': ReliabilityPolicy,
           'durability': DurabilityPolicy}

_RELIABLE, _BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
_LATCHED, _VOLATILE = DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE

_FIRST_LOOKS = 0.02  # seconds between looks for the first publisher
_LOOKS = 0.25        # and, from then on, for others that come and go
_QUIET = 5.0         # seconds from one warning to the next
_SETTLED = 1.0       # seconds that an unneeded subscription is kept, for messages in transit,
#                      and that the name of a publisher's node is waited for
_OVERLOOKED = 1000   # messages that one look takes from a queue at most

#: Offers that ask for a subscription of each reliability.
_ANY = [QoSProfile(depth=1, reliability=reliability, durability=_VOLATILE)
        for reliability in (_RELIABLE, _BEST_EFFORT)]

_Qos = tuple[ReliabilityPolicy, DurabilityPolicy]


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

    It subscribes when there is a publisher. (If it asked before that for more than the publisher
    offers, the publisher's node would log a warning; if it asked for less, messages would be
    lost.) While some publishers are reliable and others best effort there are two subscriptions:
    the best-effort one receives from the reliable publishers too, and what both deliver is passed
    on once. A subscription that no publisher needs any more is closed.

    Where the publishers cannot be listed (a participant may announce what rclpy cannot read, or
    thousands of endpoints), there is a subscription for whatever they may offer.

    Only the first subscription asks for what was published before, if all reliable publishers keep
    it. What the operator sets by parameters stays as it is set, with one exception: whatever
    `durability` is, no other subscription asks for what was published before.

    Publishers are looked up several times a second. The middleware's own events would be faster;
    but rclpy's EventsExecutor can crash when a subscription is destroyed while publishers come and
    go. Each look by the timer also takes what waits in the queues: the EventsExecutor sometimes
    overlooks what arrives while a subscription is made, until the next message comes. That would
    be too late for the latched region of a robot that stands still.

    :param callback: called with the bytes of each message.
    :param latched: whether to ask for what was published before. If not, it is not received,
        whatever the operator's parameters are.
    :param with_info: whether to call with rclpy's information on the message, too.
    """

    def __init__(self, node, message_type, topic: str, callback, *, latched: bool,
                 with_info: bool = False):
        self._node, self._message_type, self._callback = node, message_type, callback
        self.topic = node.resolve_topic_name(topic)
        self._latched, self._with_info = latched, with_info
        self._fixed = self._overrides()
        self._subscriptions: dict[_Qos, Subscription] = {}
        self._unneeded_since: dict[_Qos, float] = {}  # seconds, monotonic
        self._unnamed_since: float | None = None      # a publisher's node has had no name
        self._best_effort_noted = False
        self._doubtful = 0  # how many more messages may be ones that were passed on
        #: How many messages were lost: node, machine or network was too slow for them.
        self.lost = 0
        self._number = self._missing = 0  # of the last message; since the last look
        self._sources: list[object] = []
        self._seen: set[tuple[int, int]] = set()
        self._seen_order: deque[tuple[int, int]] = deque()
        #: Names of the nodes whose publishers do not suit what the operator set.
        self.refused: list[str] = []
        self._timer = None
        self._look_every(_FIRST_LOOKS)
        # Publishers may have been found while the node was configured. Nothing is taken yet: this
        # is a transition of the node, whose failures are logged.
        self._look()

    @property
    def count(self) -> int:
        """How many subscriptions this is: none before there is a publisher."""
        return len(self._subscriptions)

    def destroy(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._timer)
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions = {}
        self._node = None

    def _overrides(self):
        start = f'qos_overrides.{self.topic}.subscription.'
        return {name.removeprefix(start): value
                for name, value in overrides_of(self._node).items() if name.startswith(start)}

    def _fixed_policy(self, policy):
        """Return what the operator set for a policy; None if not set, or left to the system."""
        value = _VALUES[policy].__members__.get(str(self._fixed.get(policy)).upper())
        return value if value in (_RELIABLE, _BEST_EFFORT, _LATCHED, _VOLATILE) else None

    def _look_every(self, seconds):
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
        self._timer = self._node.create_timer(seconds, self._look_and_take,
                                              clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _look(self):
        """Make the subscriptions that the publishers need; close those that none needs."""
        if self._node is None:  # the timer was due when it was destroyed
            return
        kind = name_of_type(self._message_type)
        found = publishers(self._node, self.topic)
        suiting = [info for info in found.infos if info.topic_type == kind]
        self._count_lost([tuple(info.endpoint_gid) for info in suiting])
        wanted = self._wanted_of_all() if found.problem else self._wanted(
            [info.qos_profile for info in suiting])
        new = [key for key in wanted if key not in self._subscriptions]
        if new and not self._subscriptions:
            self._look_every(_LOOKS)
        for key in new:
            self._subscriptions[key] = self._made(*key)
        self._close_unneeded(wanted)
        if len(self._subscriptions) > 1:
            self._doubtful = MESSAGES
        if not found.problem and not self._names_may_come(suiting):
            self._note_best_effort(suiting)
            self._note_refused(suiting)

    def _look_and_take(self):
        self._look()
        self._take_overlooked()

    def _wanted(self, offers):
        """Return (reliability, durability) of each subscription that the publishers need."""
        fixed_reliability = self._fixed_policy('reliability')
        fixed_durability = self._fixed_policy('durability')
        groups = {}
        for offer in offers:
            reliability = fixed_reliability or (
                _BEST_EFFORT if offer.reliability == _BEST_EFFORT else _RELIABLE)
            groups.setdefault(reliability, []).append(offer.durability)
        if not offers and fixed_reliability and fixed_durability:
            groups[fixed_reliability] = []
        first = not self._subscriptions
        wanted = []
        for reliability, durabilities in groups.items():
            durability = fixed_durability or (
                _LATCHED if reliability == _RELIABLE and _VOLATILE not in durabilities
                else _VOLATILE)
            if not (first and self._latched or (reliability, _LATCHED) in self._subscriptions):
                durability = _VOLATILE
            wanted.append((reliability, durability))
        return wanted

    def _wanted_of_all(self):
        """Return subscriptions that hear every publisher, whatever it offers: that is unknown."""
        wanted = self._wanted(_ANY)
        latched = _RELIABLE, _LATCHED
        if latched in self._subscriptions or (
                self._latched and not self._subscriptions
                and self._fixed_policy('durability') is None
                and self._fixed_policy('reliability') != _BEST_EFFORT):
            wanted.append(latched)
        return wanted

    def _made(self, reliability, durability):
        # Only what is set is declared: otherwise rclpy would apply the first declared QoS as an
        # override to all later subscriptions.
        set_kinds = [kind for kind in OVERRIDABLE if kind.name.lower() in self._fixed
                     and (kind, durability) != (QoSPolicyKind.DURABILITY, _VOLATILE)]
        return self._node.create_subscription(
            self._message_type, self.topic, self._receiver(reliability), QoSProfile(
                history=HistoryPolicy.KEEP_LAST, depth=MESSAGES, reliability=reliability,
                durability=durability),
            raw=True, qos_overriding_options=QoSOverridingOptions(set_kinds),
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False))

    def _close_unneeded(self, wanted):
        now = monotonic()
        for key in wanted:
            self._unneeded_since.pop(key, None)
        # Reliable ones last: they stay if there is no publisher.
        for key in sorted(self._subscriptions, key=lambda key: key[0] == _RELIABLE):
            if key in wanted or len(self._subscriptions) == 1:
                continue
            if now - self._unneeded_since.setdefault(key, now) >= _SETTLED:
                self._node.destroy_subscription(self._subscriptions.pop(key))
                del self._unneeded_since[key]
                if key[0] == _BEST_EFFORT and self._best_effort_noted:
                    self._best_effort_noted = False
                    self._node.get_logger().info(
                        f'no node publishes {self.topic} best effort any more')

    def _receiver(self, reliability):
        """Return the callback of one subscription: it passes on what no other has received."""
        def receive(message, info=None):
            if info is None:  # the EventsExecutor of rclpy 7.1 gives both as one tuple
                message, info = message
            if self._node is None:  # the message waited in the executor meanwhile
                return
            # None where the middleware does not number messages, as Cyclone DDS: no loss is seen.
            number = info['publication_sequence_number'] or 0
            if number > self._number + 1 and self._number:
                self._missing += number - self._number - 1
            self._number = number
            if not self._doubtful or self._is_new(info, reliability):
                if self._with_info:
                    self._callback(message, info)
                else:
                    self._callback(message)

        # From this signature rclpy sees that the callback also takes information on the message.
        receive.__signature__ = inspect.signature(lambda message, info: None)
        return receive

    def _count_lost(self, sources):
        """Count what is missing among the numbers of one publisher, while it is the only one."""
        # DDS does not report what a full queue of a reader drops.
        if sources != self._sources:
            self._sources, self._number = sources, 0
        elif len(sources) == 1 == len(self._subscriptions):
            self.lost += self._missing
        self._missing = 0

    def _is_new(self, info, reliability):
        if len(self._subscriptions) == 1:
            # A message in its queue may have been received by a subscription that is closed now.
            self._doubtful -= 1
            if not self._doubtful:
                self._seen, self._seen_order = set(), deque()
        stamp = info['source_timestamp']
        if not stamp:  # messages cannot be told apart: only one subscription passes them on
            return len(self._subscriptions) == 1 or reliability == _BEST_EFFORT
        name = stamp, info['publication_sequence_number']
        if name in self._seen:
            return False
        self._seen.add(name)
        self._seen_order.append(name)
        if len(self._seen_order) > 2 * MESSAGES:
            self._seen.discard(self._seen_order.popleft())
        return True

    def _take_overlooked(self):
        for subscription in list(self._subscriptions.values()):
            for _ in range(_OVERLOOKED):
                if self._node is None:  # a callback has ended it
                    return
                with subscription.handle:
                    taken = subscription.handle.take_message(self._message_type, True)
                if taken is None:
                    break
                subscription.callback(*taken)

    def _names_may_come(self, publishers):
        """Return whether a publisher was found so lately that its node's name may follow."""
        if not any(is_unnamed(info) for info in publishers):
            self._unnamed_since = None
            return False
        if self._unnamed_since is None:
            self._unnamed_since = monotonic()
        return monotonic() - self._unnamed_since < _SETTLED

    def _note_best_effort(self, publishers):
        names = publisher_names(info for info in publishers
                                if info.qos_profile.reliability == _BEST_EFFORT)
        if names and not self._best_effort_noted and any(
                reliability == _BEST_EFFORT for reliability, _ in self._subscriptions):
            self._best_effort_noted = True
            self._node.get_logger().info(
                f'{self.topic} is published best effort by {some_names(names)}: what is lost on '
                'the way from there is not sent again')

    def _note_refused(self, publishers):
        refused = publisher_names(info for info in publishers
                                  if not self._is_heard(info.qos_profile))
        if refused and refused != self.refused:
            self._node.get_logger().warning(
                f'the QoS that {some_names(refused)} offers on {self.topic} is not the one that '
                'qos_overrides ask for here: nothing is received from there',
                throttle_duration_sec=_QUIET)
        self.refused = refused

    def _is_heard(self, offer):
        return any((reliability == _BEST_EFFORT or offer.reliability != _BEST_EFFORT)
                   and (durability == _VOLATILE or offer.durability != _VOLATILE)
                   for reliability, durability in self._subscriptions)
