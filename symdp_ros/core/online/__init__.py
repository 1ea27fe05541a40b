# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The online mechanism: one private symbol for each sensitive one, as it comes."""
from symdp_ros.core.online.online_mechanism import OnlineMechanism

__all__ = ['OnlineMechanism']
