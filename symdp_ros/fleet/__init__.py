# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A fleet in one file, and letting nothing but private topics out of it."""
