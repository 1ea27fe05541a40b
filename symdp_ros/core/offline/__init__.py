# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offline mechanisms: a private word for a whole logged word."""
from symdp_ros.core.mechanism import MOST_COUNTING_STEPS
from symdp_ros.core.offline.mechanism import CHOICES, OfflineMechanism, SELECTIONS, WHOLE_WORD

__all__ = ['CHOICES', 'MOST_COUNTING_STEPS', 'OfflineMechanism', 'SELECTIONS', 'WHOLE_WORD']
