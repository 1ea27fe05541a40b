# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of rosbag2: storage files, the messages in them, and what reads and writes both."""
