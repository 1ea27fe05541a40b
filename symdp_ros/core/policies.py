# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names and defaults of policies and base measures, apart from what computes them."""

POLICIES = ('paper', 'guided', 'planned', 'adaptive')
DEFAULT_POLICY = 'guided'  # everywhere: library, nodes and command line
DEFAULT_TRUST = 0.8        # how far the chain's P is trusted (`core.base_measure`)
BASES = ('chain', 'counting')  # of the selection exponential (`core.base_measure`)
DEFAULT_BASE = 'chain'
#: Those that run compiled loops.
COMPILED_POLICIES = ('planned', 'adaptive')
