"""What `privatizer` reports once a second on /diagnostics."""
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType

from symdp_ros.ros.messages import full_name
from symdp_ros.ros.publishing import destroy_when_delivered
from symdp_ros.ros.watch import other_subscribers


class LiveDiagnostics:
    """
    Reports on a live node, and warns of what makes its private topic useless or unsafe.

    Everything here is the operator's, the graph's, or a count of what was published.

    :param node: the node that reads the topic `region`.
    :param message_type: the message class that it reads.
    :param settings: name → value, reported as they are.

    `published` is how many symbols the node has published; `subscription` its
    `AdaptiveSubscription` while it is active, else None. The node sets both.
    """

    def __init__(self, node, message_type, settings: dict):
        self._node, self._message_type, self._settings = node, message_type, settings
        self.published, self.subscription = 0, None
        self._reported, self._warned = 0, []
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._reported_at = steady.now()
        self._timer = node.create_timer(1.0, self._report, clock=steady)

    def destroy(self) -> None:
        """Stop reporting, once the last report is delivered."""
        self._node.destroy_timer(self._timer)
        destroy_when_delivered(self._node, self._publisher)

    def _report(self):
        node = self._node
        now = self._timer.clock.now()
        seconds = (now - self._reported_at).nanoseconds / 1e9
        rate = (self.published - self._reported) / seconds if seconds > 0 else 0.0
        self._reported, self._reported_at = self.published, now
        topic = node.resolve_topic_name('region')
        own = self.subscription.count if self.subscription is not None else 0
        others = other_subscribers(node, topic, own)
        publishers = node.get_publishers_info_by_topic(topic)
        warnings = []
        if others:
            nodes = 'node reads' if len(others) == 1 else 'nodes read'
            warnings.append(
                f'{len(others)} other {nodes} the raw topic {topic}: {", ".join(others)}')
        types = {info.topic_type for info in publishers} - {full_name(self._message_type)}
        if types:
            warnings.append(f'{topic} is published as {", ".join(sorted(types))}, which is not '
                            'message_type: nothing is received from there')
        if node.get_clock().ros_time_is_active and node.get_clock().now().nanoseconds == 0:
            warnings.append('use_sim_time is set, and there is no time on /clock')
        level = DiagnosticStatus.WARN if warnings else DiagnosticStatus.OK
        message = '; '.join(warnings) or 'nobody else subscribes to the raw topic'
        if warnings != self._warned:
            self._warned = warnings
            for warning in warnings:
                node.get_logger().warning(warning)
        values = {
            **self._settings,
            'active': self.subscription is not None,
            'published': self.published,
            'published per second': f'{rate:.1f}',
            'publishers of the raw topic': len(publishers),
            'other subscribers of the raw topic': len(others),
        }
        name = node.get_fully_qualified_name()
        status = DiagnosticStatus(
            level=level, name=f'{name}: private region', message=message, hardware_id=name,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        array = DiagnosticArray(status=[status])
        array.header.stamp = node.get_clock().now().to_msg()
        self._publisher.publish(array)
