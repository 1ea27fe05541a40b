# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS graph: who publishes, who listens, and subscriptions that suit both."""
