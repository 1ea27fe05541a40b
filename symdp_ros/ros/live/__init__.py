# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a node does while it is active: its input, its clock, its diagnostics."""
