# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes need of ROS: parameters, messages, QoS, lifecycle, the executor loop."""
