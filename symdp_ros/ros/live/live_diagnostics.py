# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `privatizer` reports once a second on /diagnostics."""
from collections import deque
from time import monotonic
from typing import Any, TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import ReliabilityPolicy
from symdp_ros.errors import printable
from symdp_ros.ros.graph.adaptive_subscription import AdaptiveSubscription
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.ros.graph.watch import (Endpoints, other_names, publisher_names, publishers,
                                       some_names, subscriptions)
from symdp_ros.ros.live.live_input import LiveInput
from symdp_ros.words.sampling_settings import SamplingSettings

if TYPE_CHECKING:
    from symdp_ros.core.online import OnlineMechanism

_REPORTS_A_RATE_SPANS = 10
_STILL = 2         # reports in a row with the same time on /clock
_UNUSUAL = 10      # times the usual interval between symbols
_SHORTEST = 10.0   # seconds of silence before a warning
_MANY = 100        # messages that wait


def public_settings(name: str, mechanism: 'OnlineMechanism',
                    sampling: SamplingSettings) -> dict[str, Any]:
    """Return what `LiveDiagnostics` reports of the settings; `name`: of the map's file."""
    return {'chain': name, 'states': len(mechanism.chain),
            'epsilon': mechanism.privacy.epsilon, 'adjacency': mechanism.privacy.adjacency,
            'policy': mechanism.policy, 'sampling': sampling.rule,
            **({} if (zones := mechanism.privacy.zones) is None else {'zones': len(zones)})}


class LiveDiagnostics:
    """
    Reports on a live node, and warns of what makes its private topic useless or unsafe.

    Everything here is public: settings, the ROS graph (every node can list publishers and
    subscribers), and how many symbols were published, and when. It does not show whether messages
    come in: with `sampling: period` ε protects that too, as a region that is no longer read
    becomes unknown, and with `sampling: change` repeats are not published. So only for
    `sampling: message` it reports that the input has stopped, from the times of what was
    published.

    :param source: what the node reads. Of a topic, the graph is watched.
    :param settings: name → value, reported as they are.
    :param regular: whether the node should publish without long pauses.

    `published` is how many symbols the node has published; the node counts it.
    """

    def __init__(self, node, source: LiveInput, settings: dict[str, Any], *, regular: bool):
        self._node, self._source, self._settings, self._regular = node, source, settings, regular
        #: with its namespace; None: it reads no topic
        self._topic = None if source.message_type is None else source.topic
        self.published, self.active = 0, False
        self._subscription: AdaptiveSubscription | None = None
        self._warned: list[str] = []
        self._clock_time, self._clock_still = None, 0
        self._lost, self._since_lost = 0, _REPORTS_A_RATE_SPANS
        self._since_waiting = _REPORTS_A_RATE_SPANS
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._rate, self._silence = Rate(monotonic()), Silence()
        self._timer = node.create_steady_timer(1.0, self._report)

    def activate(self, subscription: AdaptiveSubscription | None) -> None:
        """Take note that the node is active, and what it reads by."""
        self.active, self._subscription, self._lost = True, subscription, 0

    def deactivate(self) -> None:
        """Take note that the node is not active any more."""
        self.active, self._subscription = False, None

    def destroy(self) -> None:
        """Stop reporting, once the last report is delivered."""
        self._node.destroy_timer(self._timer)
        destroy_when_delivered(self._node, self._publisher)
        self._node = None

    def _report(self):
        if self._node is None:  # the timer was due when it was destroyed
            return
        node, values = self._node, {
            **self._settings,
            'active': self.active,
            'published': self.published,
            'published per second': f'{self._rate.after(self.published, monotonic()):.1f}'}
        warnings = [*self._topic_warnings(values), *self._lost_warnings(values),
                    *self._source.warnings(values), *self._clock_warnings(),
                    *self._silence_warnings()]
        self._log(warnings)
        if not self.active:  # not logged: the transition is
            self._silence = Silence()
            warnings.append('the node is not active: nothing is published')
        message = '; '.join(warnings) or self._all_is_well
        name = node.get_fully_qualified_name()
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if warnings else DiagnosticStatus.OK,
            name=f'{name}: private region',
            message=message, hardware_id=name,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        array = DiagnosticArray(status=[status])
        array.header.stamp = node.get_clock().now().to_msg()
        self._publisher.publish(array)

    @property
    def _all_is_well(self):
        if self._topic is None:
            return 'no warnings'
        return ('published' if self._source.shared else 'one publisher') + (
            ', and no other node subscribes to the raw topic')

    def _topic_warnings(self, values):
        """Return what is wrong with the topic that is read; report numbers of it in `values`."""
        if self._topic is None:
            return
        own = self._subscription.count if self._subscription is not None else 0
        endpoints = publishers(self._node, self._topic)
        values['publishers of the raw topic'] = endpoints.count
        if self.active:
            yield from self._publisher_warnings(endpoints, values)
        readers = subscriptions(self._node, self._topic)
        others = other_names(self._node, readers.infos, own)
        values['other subscribers of the raw topic'] = (
            max(0, readers.count - own) if readers.problem else len(others))
        yield from self._reader_warnings(readers, others)

    def _publisher_warnings(self, endpoints: Endpoints, values):
        topic, kind = self._topic, self._source.kind
        suiting = [info for info in endpoints.infos if info.topic_type == kind]
        if unreliable := publisher_names(
                info for info in suiting
                if info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT):
            values['published best effort by'] = some_names(unreliable)
        types = sorted({info.topic_type for info in endpoints.infos} - {kind})
        if endpoints.problem:
            yield (f'{topic}: {endpoints.problem}: who publishes it cannot be listed; regions of '
                   'several publishers would be mixed in one word')
        elif not endpoints.count:
            name = self._source.name
            yield (f'no node publishes {topic} ({kind}): no regions arrive. If they are on '
                   f'another topic, remap {name} to it (-r {name}:=/TOPIC, by ros2 launch '
                   f'{name}:=/TOPIC, or in a fleet file {name}: /TOPIC)')
        if types:
            yield (f'{topic} is published as {printable(some_names(types))}, which is not '
                   'message_type: nothing is received from there')
        if self._subscription is not None:
            self._subscription.note(suiting)
        if self._subscription is not None and self._subscription.refused:
            yield (f'{topic}: because of qos_overrides, nothing is received from '
                   f'{some_names(self._subscription.refused)}')
        if len(suiting) > 1 and not self._source.shared:
            yield (f'{len(suiting)} publishers on {topic}, of '
                   f'{some_names(publisher_names(suiting))}: their regions are mixed in one word')

    def _reader_warnings(self, readers, others):
        if readers.problem:
            yield (f'other nodes may read the raw topic {self._topic}: {readers.problem}: who '
                   'subscribes cannot be listed')
        elif others:
            nodes = 'node reads' if len(others) == 1 else 'nodes read'
            yield (f'{len(others)} other {nodes} the raw topic {self._topic}: '
                   f'{some_names(others, 20)}')

    def _lost_warnings(self, values):
        # Not where ε covers whether messages come in.
        if self._subscription is None or not self._regular:
            return
        lost = self._subscription.lost
        values['lost messages'] = lost if self._subscription.sees_losses else 'not known'
        waiting = values['waiting messages'] = self._subscription.waiting
        self._since_lost = 0 if lost > self._lost else self._since_lost + 1
        self._since_waiting = 0 if waiting > _MANY else self._since_waiting + 1
        self._lost = lost
        if self._since_lost < _REPORTS_A_RATE_SPANS:
            yield (f'messages on {self._topic} are lost: this node, the machine or, with best '
                   'effort, the network is too slow for them')
        if self._since_waiting < _REPORTS_A_RATE_SPANS:
            yield (f'messages on {self._topic} wait: they come faster than this node can draw for '
                   'them')

    def _clock_warnings(self):
        clock = self._node.get_clock()
        if not clock.ros_time_is_active:
            return
        now = clock.now().nanoseconds
        self._clock_still = self._clock_still + 1 if now == self._clock_time else 0
        self._clock_time = now
        if not now:
            yield 'use_sim_time is set, and there is no time on /clock'
        elif self._clock_still >= _STILL:
            yield 'use_sim_time is set, and the time on /clock stands still'

    def _silence_warnings(self):
        if self.active and self._silence.after(self.published, monotonic()) and self._regular:
            yield (f'nothing was published for over {_UNUSUAL} times as long as usual: does '
                   f'{self._topic or "the input"} still come?')

    def _log(self, warnings):
        for warning in warnings:
            if warning not in self._warned:
                self._node.get_logger().warning(warning)
        if self._warned and not warnings and self.active:
            self._node.get_logger().info(f'{self._topic or "input"}: {self._all_is_well}')
        self._warned = warnings.copy()


class Rate:
    """The number per second, over the last reports."""

    def __init__(self, now: float):
        """`now` is in seconds, here and below."""
        self._counts = deque([(now, 0)], _REPORTS_A_RATE_SPANS + 1)

    def after(self, count: int, now: float) -> float:
        """Take in the count so far; return the number per second."""
        self._counts.append((now, count))
        begin, first = self._counts[0]
        return (count - first) / (now - begin) if now > begin else 0.0


class Silence:
    """Whether a count that has grown regularly has stopped growing."""

    def __init__(self):
        self._count = 0
        self._first = self._last = None  # (seconds, count) when the count was seen to grow

    def after(self, count: int, now: float) -> bool:
        """Take in the count so far; return whether it has not grown for unusually long."""
        if count != self._count:
            self._count, self._last = count, (now, count)
            self._first = self._first or self._last
        if self._first == self._last:
            return False
        usual = (self._last[0] - self._first[0]) / (self._last[1] - self._first[1])
        return now - self._last[0] > max(_SHORTEST, _UNUSUAL * usual)
