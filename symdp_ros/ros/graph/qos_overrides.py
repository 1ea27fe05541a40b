# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that override the QoS of a topic: `qos_overrides.TOPIC.subscription.POLICY`."""
from collections.abc import Mapping
from enum import Enum
from typing import Any

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSPolicyKind, ReliabilityPolicy
from symdp_ros.errors import ConfigurationError
from symdp_ros.ros.rclpy_private import overrides_of

#: Policies that can be overridden.
OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
               QoSPolicyKind.DURABILITY)
_VALUES = {'history': HistoryPolicy, 'reliability': ReliabilityPolicy,
           'durability': DurabilityPolicy}
_DEFINITE = (ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT,
             DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE)


def qos_overrides(node, kind: str, topic: str) -> dict[str, Any]:
    """Return policy → value of what the operator set for a topic, given with its namespace."""
    start = f'qos_overrides.{topic}.{kind}.'
    return {name.removeprefix(start): value
            for name, value in overrides_of(node).items() if name.startswith(start)}


def policy_in(overrides: Mapping[str, Any], policy: str) -> Enum | None:
    """Return the value of a policy; None if it is not set, or left to the system."""
    value = _VALUES[policy].__members__.get(str(overrides.get(policy)).upper())
    return value if value in _DEFINITE else None


def check_qos_overrides(node, kind: str, topic: str) -> None:
    """
    Check the parameters that set the QoS of a topic, before they are used.

    :param kind: 'publisher' or 'subscription'.
    :raises ConfigurationError: an unknown policy or value.
    """
    topic = node.resolve_topic_name(topic)
    for policy, value in qos_overrides(node, kind, topic).items():
        name = f'qos_overrides.{topic}.{kind}.{policy}'
        if policy == 'depth':
            if type(value) is not int or not 1 <= value < 2**31:
                raise ConfigurationError(f'{name} is {value!r}: it must be an integer, at least 1')
        elif policy not in _VALUES:
            raise ConfigurationError(f'{name}: a policy that can be set here is one of depth, '
                                     + ', '.join(_VALUES))
        elif str(value).upper() not in _VALUES[policy].__members__:
            names = [name.lower() for name in _VALUES[policy].__members__ if name.isupper()]
            raise ConfigurationError(f'{name} is {value!r}: it must be one of {", ".join(names)}')
