# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How the ledger's file keeps what was spent: tables, entries, mark."""
