# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops: how they are compiled, kept, and announced."""
