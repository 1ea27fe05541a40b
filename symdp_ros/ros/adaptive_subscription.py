"""A subscription whose QoS suits whatever publishes on its topic."""
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import (DurabilityPolicy, HistoryPolicy, QoSPolicyKind, QoSProfile,
                       ReliabilityPolicy)
from rclpy.qos_overriding_options import QoSOverridingOptions

from symdp_ros.core.errors import ConfigurationError

#: Policies that parameters can override, `qos_overrides.TOPIC.subscription.POLICY`.
OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
               QoSPolicyKind.DURABILITY)

#: What each policy falls back to where a publisher does not offer what is asked for.
_LESS = {'reliability': ReliabilityPolicy.BEST_EFFORT, 'durability': DurabilityPolicy.VOLATILE}

_LOOK_AGAIN = 0.02  # seconds between looks for the first publisher


def check_qos_overrides(node, kind: str, topic: str) -> None:
    """
    Check what parameters set of the QoS of a topic, before anything is made of it.

    :param kind: 'publisher' or 'subscription'.
    :raises ConfigurationError: an unknown policy or value.
    """
    values = {'history': HistoryPolicy, 'reliability': ReliabilityPolicy,
              'durability': DurabilityPolicy}
    start = f'qos_overrides.{node.resolve_topic_name(topic)}.{kind}.'
    for name, parameter in node._parameter_overrides.items():
        if not name.startswith(start):
            continue
        policy, value = name.removeprefix(start), parameter.value
        if policy == 'depth':
            if type(value) is not int or not 1 <= value < 2**31:
                raise ConfigurationError(f'{name} is {value!r}: it must be an integer, at least 1')
        elif policy not in values:
            raise ConfigurationError(f'{name}: a policy that can be set here is one of depth, '
                                     + ', '.join(values))
        elif str(value).upper() not in values[policy].__members__:
            names = [name.lower() for name in values[policy].__members__ if name.isupper()]
            raise ConfigurationError(f'{name} is {value!r}: it must be one of {", ".join(names)}')


class AdaptiveSubscription:
    """
    Asks for as much as every publisher offers: reliable and latched, where all are.

    It subscribes when there is a publisher to suit. (Asking before that for what the publisher
    turns out not to offer would have its node warn of this one; asking for too little would lose
    messages.) Where another publisher comes that offers less, the subscription is made again,
    without asking for what was published before, which has been received. What the operator sets
    by parameters stays as it is set.
    """

    def __init__(self, node, message_type, topic: str, callback, *, depth: int, latched: bool,
                 serialized: bool = False):
        """
        :param callback: called with each message.
        :param latched: whether to ask for what was published before.
        :param serialized: whether to call with the messages' bytes.
        """
        self._node, self._message_type, self._callback = node, message_type, callback
        self.topic = node.resolve_topic_name(topic)
        self._depth, self._latched, self._serialized = depth, latched, serialized
        self._subscription = None
        self._look = node.create_timer(_LOOK_AGAIN, self._subscribe_if_heard,
                                       clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._subscribe_if_heard()  # publishers may have been found while the node was configured

    @property
    def count(self) -> int:
        """How many subscriptions this is: none before there is a publisher, then one."""
        return int(self._subscription is not None)

    def destroy(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._look)
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
        self._node = None

    def _subscribe_if_heard(self):
        publishers = self._node.get_publishers_info_by_topic(self.topic)
        if not publishers and not all(map(self._is_set, _LESS)):
            return
        self._look.cancel()
        self._profile = QoSProfile(
            history=HistoryPolicy.KEEP_LAST, depth=self._depth,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if self._latched
            else DurabilityPolicy.VOLATILE)
        for policy, less in _LESS.items():
            if less in [getattr(info.qos_profile, policy) for info in publishers]:
                setattr(self._profile, policy, less)
        self._subscription = self._made()

    def _is_set(self, policy):
        name = f'qos_overrides.{self.topic}.subscription.{policy}'
        return name in self._node._parameter_overrides

    def _made(self):
        # Only what is set is declared: rclpy would else take what it declared first, the QoS that
        # suited then, for an override of what suits now.
        set_kinds = [kind for kind in OVERRIDABLE if self._is_set(kind.name.lower())]
        return self._node.create_subscription(
            self._message_type, self.topic, self._callback, self._profile, raw=self._serialized,
            qos_overriding_options=QoSOverridingOptions(set_kinds),
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._on_incompatible))

    def _on_incompatible(self, event):
        policy = QoSPolicyKind(int(event.last_policy_kind)).name.lower()
        less = _LESS.get(policy)
        if less is None or getattr(self._profile, policy) == less or self._is_set(policy):
            self._node.get_logger().warning(
                f'a publisher on {self.topic} offers a {policy} that does not suit the one asked '
                'for here: nothing is received from it')
            return
        setattr(self._profile, policy, less)
        if not self._is_set('durability'):
            self._profile.durability = DurabilityPolicy.VOLATILE
        # Not from within the subscription's own callback.
        self._node.executor.create_task(self._renew)

    def _renew(self):
        if self._node is not None:
            former, self._subscription = self._subscription, self._made()
            self._node.destroy_subscription(former)
