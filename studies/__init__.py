# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What its makers study: the paper's experiments, and the tables of docs/."""
