# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Regions and their probabilities, as DiagnosticStatus.

KeyValue is the one standard message that pairs a label with a number: `ros2 topic echo` shows
both, and a label may hold any character.
"""
from collections.abc import Sequence

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
import numpy as np
from symdp_ros.core.annotations import Floats
from symdp_ros.ros.outputs.publication import latched, Publication


class Output:
    """Publishes, with each region, what else may be known of where the robot was then."""

    def __init__(self, wanted: Publication):
        self._states, self._top = wanted.chain.states, wanted.settings['top']
        self._name = wanted.node.resolve_topic_name('private_region')
        self._publisher = wanted.node.create_publisher(DiagnosticStatus, wanted.topic, latched(1))
        self.publishers = [self._publisher]

    def publish(self, region: str, beliefs: Floats | None) -> None:
        """Publish beliefs, where there are any."""
        if beliefs is not None:
            self._publisher.publish(belief_message(self._name, region, self._states, beliefs,
                                                   self._top))


def belief_message(name: str, region: str, states: Sequence[str], beliefs: Floats,
                   top: int) -> DiagnosticStatus:
    """
    Return what is believed of the true region, the most probable first.

    :param name: the topic of the private region.
    :param region: the private region that the beliefs belong to.
    :param beliefs: shape (states,), summing to 1.
    :param top: how many regions; 0: all.
    """
    most_probable = np.argsort(-beliefs, kind='stable')[:top or None].tolist()
    return DiagnosticStatus(name=name, message=region, values=[
        KeyValue(key=states[i], value=f'{beliefs[i]:.6g}') for i in most_probable])
