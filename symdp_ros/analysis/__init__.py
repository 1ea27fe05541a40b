# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What can be known of the mechanisms before they run: accuracy, audit, calibration, belief."""
