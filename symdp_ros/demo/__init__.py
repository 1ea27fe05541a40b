# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The demo: simulated robots and the nodes that make them private, live in a terminal."""
