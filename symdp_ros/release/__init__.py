# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releases of logged patrols, and the ledger that makes repeated releases add up."""
