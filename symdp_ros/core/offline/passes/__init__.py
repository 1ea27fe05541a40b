# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Passes over whole words, compiled or in NumPy, and which of the two is taken."""
