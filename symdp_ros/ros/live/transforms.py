# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The position of a robot from TF."""
from rclpy.time import Time
from symdp_ros.errors import ConfigurationError


class Transforms:
    """
    Listens to TF, and returns where a frame is.

    :param timeout: seconds after which a transform is too old; 0: never.
    :raises ConfigurationError: tf2_ros cannot be imported.
    """

    def __init__(self, node, map_frame: str, base_frame: str, timeout: float):
        try:
            import tf2_ros
        except ImportError:
            raise ConfigurationError('base_frame needs the package tf2_ros, which is not found: '
                                     'is a ROS 2 with it sourced? A topic with a pose needs '
                                     'none') from None
        self._node, self._frames, self._timeout = node, (map_frame, base_frame), timeout
        self._error = tf2_ros.TransformException
        self._buffer = tf2_ros.Buffer()  # given a node, it would answer calls for the frames
        self._listener = tf2_ros.TransformListener(self._buffer, node)

    def position(self) -> tuple[float, float] | None:
        """Return x and y [m] in the map's frame; None where TF does not have them."""
        try:
            transform = self._buffer.lookup_transform(*self._frames, Time())
        except self._error:
            return None
        stamp = transform.header.stamp.sec * 10**9 + transform.header.stamp.nanosec
        age = self._node.get_clock().now().nanoseconds - stamp
        if self._timeout and stamp and age > self._timeout * 1e9:
            return None
        return transform.transform.translation.x, transform.transform.translation.y

    def close(self) -> None:
        """Stop listening."""
        self._listener.unregister()
