# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How far our mechanisms are from what no mechanism can beat: docs/evidence/optimum.md."""
