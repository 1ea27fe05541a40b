# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What a team loses that hears private regions in place of true ones.

The page is docs/evidence/coordination.md.
"""
