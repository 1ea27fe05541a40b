"""A subscription whose QoS suits whatever publishes on its topic."""
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import (DurabilityPolicy, HistoryPolicy, QoSPolicyKind, QoSProfile,
                       ReliabilityPolicy)
from rclpy.qos_overriding_options import QoSOverridingOptions

#: Policies that parameters can override, `qos_overrides.TOPIC.subscription.POLICY`.
OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
               QoSPolicyKind.DURABILITY)


class AdaptiveSubscription:
    """
    Asks for all a publisher may offer (reliable, latched) and for less once one offers less.

    A publisher that offers less than is asked for is announced by the middleware, and the
    subscription is then made again without that policy. What the operator sets by parameters
    stays as it is set.
    """

    def __init__(self, node, message_type, topic: str, callback, *, depth: int):
        """:param callback: called with each message."""
        self._node, self._message_type, self._callback = node, message_type, callback
        self.topic = node.resolve_topic_name(topic)
        self._profile = QoSProfile(
            history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._closed = False
        # This declares the parameters, and applies their values to the profile.
        self._subscription = self._create(QoSOverridingOptions(OVERRIDABLE))

    def destroy(self) -> None:
        """Stop listening."""
        self._closed = True
        self._node.destroy_subscription(self._subscription)

    def _create(self, options=None):
        return self._node.create_subscription(
            self._message_type, self.topic, self._callback, self._profile,
            qos_overriding_options=options,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._on_incompatible))

    def _on_incompatible(self, event):
        relaxed = {
            QoSPolicyKind.RELIABILITY: ('reliability', ReliabilityPolicy.BEST_EFFORT),
            QoSPolicyKind.DURABILITY: ('durability', DurabilityPolicy.VOLATILE),
        }.get(QoSPolicyKind(int(event.last_policy_kind)))
        if relaxed is None:
            return
        policy, value = relaxed
        parameter = f'qos_overrides.{self.topic}.subscription.{policy}'
        if parameter in self._node._parameter_overrides or getattr(self._profile, policy) == value:
            self._node.get_logger().warning(
                f'a publisher on {self.topic} offers a {policy} that does not suit the one set by '
                'parameter: nothing is received from it')
            return
        setattr(self._profile, policy, value)
        # Not from within the subscription's own callback.
        self._node.executor.create_task(self._renew)

    def _renew(self):
        if not self._closed:
            self._node.destroy_subscription(self._subscription)
            self._subscription = self._create()
