"""A subscription whose QoS suits whatever publishes on its topic."""
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import (DurabilityPolicy, HistoryPolicy, QoSPolicyKind, QoSProfile,
                       ReliabilityPolicy)
from rclpy.qos_overriding_options import QoSOverridingOptions

#: Policies that parameters can override, `qos_overrides.TOPIC.subscription.POLICY`.
OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
               QoSPolicyKind.DURABILITY)

#: What each policy falls back to where a publisher does not offer what is asked for.
_LESS = {'reliability': ReliabilityPolicy.BEST_EFFORT, 'durability': DurabilityPolicy.VOLATILE}

_LOOK_AGAIN = 0.02  # seconds between looks for the first publisher


class AdaptiveSubscription:
    """
    Asks for as much as every publisher offers: reliable and latched, where all are.

    It subscribes when there is a publisher to suit. (Asking before that for what the publisher
    turns out not to offer would have its node warn of this one; asking for too little would lose
    messages.) Where another publisher comes that offers less, the subscription is made again.
    What the operator sets by parameters stays as it is set.
    """

    def __init__(self, node, message_type, topic: str, callback, *, depth: int):
        """:param callback: called with each message."""
        self._node, self._message_type, self._callback = node, message_type, callback
        self.topic = node.resolve_topic_name(topic)
        self._depth = depth
        self._subscription = None
        self._look = node.create_timer(_LOOK_AGAIN, self._subscribe_if_heard,
                                       clock=Clock(clock_type=ClockType.STEADY_TIME))

    def destroy(self) -> None:
        """Stop listening."""
        self._node.destroy_timer(self._look)
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
        self._node = None

    def _subscribe_if_heard(self):
        offers = [info.qos_profile
                  for info in self._node.get_publishers_info_by_topic(self.topic)]
        if not offers and not all(map(self._is_set, _LESS)):
            return
        self._look.cancel()
        self._profile = QoSProfile(
            history=HistoryPolicy.KEEP_LAST, depth=self._depth,
            reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for policy, less in _LESS.items():
            if less in [getattr(offer, policy) for offer in offers]:
                setattr(self._profile, policy, less)
        # The options declare the parameters, and apply their values to the profile.
        self._create(QoSOverridingOptions(OVERRIDABLE))

    def _is_set(self, policy):
        return f'qos_overrides.{self.topic}.subscription.{policy}' in self._node._parameter_overrides

    def _create(self, options=None):
        self._subscription = self._node.create_subscription(
            self._message_type, self.topic, self._callback, self._profile,
            qos_overriding_options=options,
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
        # Not from within the subscription's own callback.
        self._node.executor.create_task(self._renew)

    def _renew(self):
        if self._node is not None:
            self._node.destroy_subscription(self._subscription)
            self._create()
