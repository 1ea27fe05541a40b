# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The types of what `_online.c` has: as in `batch_in_numpy` and `values_in_numpy`."""
from symdp_ros.core.online.batch_in_numpy import draw as draw
from symdp_ros.core.online.values_in_numpy import earn as earn, improve as improve
