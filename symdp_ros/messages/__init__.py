# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS messages by their fields: paths, positions, symbols; no rclpy is needed."""
