# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the online mechanism's policies (`core.online`), apart from what they import."""

POLICIES = ('paper', 'guided', 'planned', 'adaptive')
DEFAULT_POLICY = 'guided'  # everywhere: library, nodes and command line
DEFAULT_TRUST = 0.8        # how far the chain's P is trusted (`core.base_measure`)
