# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark suite: every goal of speed, measured against what else could do the job."""
