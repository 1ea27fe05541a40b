# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The position of a region, or of a belief, as PoseWithCovarianceStamped."""
from math import pi

from geometry_msgs.msg import PoseWithCovarianceStamped
import numpy as np
from symdp_ros.core.annotations import Floats
from symdp_ros.ros.outputs.publication import latched, Publication

_ANY_DIRECTION = pi**2 / 3  # variance of an angle of which nothing is known


class Output:
    """
    Publishes where a region is, with its size as the covariance.

    With beliefs, the mean and the covariance of where the robot may be. Its direction is not
    known. `z` is 0.
    """

    def __init__(self, wanted: Publication):
        self._node, self._frame = wanted.node, wanted.settings['map_frame']
        self._index = wanted.chain.state_index
        rows = [wanted.places[state] for state in wanted.chain.states]
        self._means = np.array([(place.x, place.y) for place in rows])
        self._variances = np.array([place.variance for place in rows])
        self._publisher = wanted.node.create_publisher(PoseWithCovarianceStamped, wanted.topic,
                                                       latched(1))
        self.publishers = [self._publisher]

    def publish(self, region: str, beliefs: Floats | None) -> None:
        """Publish the pose of a region, or of beliefs."""
        i = self._index[region]
        mean, variance = self._means[i], self._variances[i]
        if beliefs is not None:
            mean, variance = moments(beliefs, self._means, self._variances)
        message = PoseWithCovarianceStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = self._frame
        message.pose.pose.position.x, message.pose.pose.position.y = map(float, mean)
        xx, xy, yy = map(float, variance)
        covariance = np.zeros((6, 6))
        covariance[:2, :2] = (xx, xy), (xy, yy)
        covariance[5, 5] = _ANY_DIRECTION
        message.pose.covariance = covariance.ravel()
        self._publisher.publish(message)


def moments(beliefs: Floats, means: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """
    Return the mean (x, y) and the variance (xx, xy, yy) of a mixture of places.

    :param beliefs: shape (states,), summing to 1; means: (states, 2); variances: (states, 3).
    """
    mean = beliefs @ means
    x, y = (means - mean).T
    return mean, beliefs @ (variances + np.stack([x * x, x * y, y * y], axis=1))
