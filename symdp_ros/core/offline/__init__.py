# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offline mechanisms: a private word for a whole logged word."""
from symdp_ros.core.offline.offline_mechanism import OfflineMechanism

__all__ = ['OfflineMechanism']
