# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the rules of sampling."""

SAMPLING = ('message', 'change', 'period')
#: What is done with a symbol that is no state.
LIVE_UNKNOWN_SYMBOL = ('uniform', 'drop')
LOG_UNKNOWN_SYMBOL = (*LIVE_UNKNOWN_SYMBOL, 'split', 'hold')
