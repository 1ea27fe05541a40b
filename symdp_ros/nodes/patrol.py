# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `patrol`: a simulated robot that walks a chain and publishes where it is."""
if __name__ == '__main__':  # before the imports, which are slow
    from symdp_ros.nodes.program import run_program
    raise SystemExit(run_program('patrol'))

import random
from time import monotonic

from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from symdp_ros.errors import SymdpError
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.ros.guarded_node import GuardedNode
from symdp_ros.ros.process.spinning import run
from symdp_ros.words.sampling_settings import SamplingSettings

_SETTLING = 0.5  # seconds: a publisher discovers its readers before they all discover it


class Patrol(GuardedNode):
    """
    Walks the chain by its P (uniformly where there is none) from the initial state.

    Publishes: `region` (std_msgs/msg/String), latched. Parameters:
    `options.PARAMETERS`. What it publishes is simulated, so it may have a `seed`, which makes a
    walk repeat; the nodes that protect data have none.
    """

    def __init__(self, **kwargs):
        super().__init__('patrol', **kwargs)
        self.declare('patrol')
        self._publisher = None

    def autostart(self) -> bool:
        """Begin to walk; if that fails, log a sentence and return False."""
        try:
            self.check_settings()
            map_settings = MapSettings.of(self.settings)
            self._chain = SamplingSettings().chain(map_settings.read())
        except SymdpError as error:
            self.log_failure(error)
            return False
        seed = self.settings['seed']
        self._random = random.Random(None if seed == -1 else seed)
        self._here, self._walked = self._chain.initial_state, 0
        self._moves: dict[str, tuple[list[str], list[float]]] = {}
        self._complete_since = None
        self._publisher = self.create_publisher(
            String, 'region', QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL))
        self._timer = self.create_timer(self.settings['period'], self._move)
        needed = self.settings['wait_for_subscribers']
        self.get_logger().info(
            f'walks {map_settings.path.name}: publishes {self._publisher.topic_name} '
            f'(std_msgs/msg/String) every {self.settings["period"]:g} s'
            + (f'; waits until {needed} subscribe' if needed else ''))
        return True

    def stop(self):
        """Destroy the publisher, once the last region has arrived."""
        if self._publisher is not None:
            destroy_when_delivered(self, self._publisher)
            self._publisher = None

    def _move(self):
        count = self.settings['count']
        if self._is_waiting() or count and self._walked == count:
            return
        if self._here not in self._moves:
            chances = self._chain.probabilities(self._here)
            self._moves[self._here] = list(chances), list(chances.values())
        [self._here] = self._random.choices(*self._moves[self._here])
        self._publisher.publish(String(data=self._here))
        self._walked += 1

    def _is_waiting(self):
        """Return whether the subscribers to wait for are missing, or were only just found."""
        needed = self.settings['wait_for_subscribers']
        if self._walked or not needed:
            return False
        if self._publisher.get_subscription_count() < needed:
            self._complete_since = None
            return True
        now = monotonic()
        self._complete_since = self._complete_since or now
        return now - self._complete_since < _SETTLING


def main(arguments=None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    return run(Patrol, arguments)
