# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Quality-of-service profiles of the publishers of a topic, as recordings hold them: YAML."""
from collections.abc import Mapping
from typing import Any

import yaml

_LONGEST = 1 << 16  # characters
_LARGEST, _DEEPEST = 2**63 - 1, 2**31 - 1  # what rosbag2 reads
#: Policy → its values; recordings of version 9 write their names, older ones their numbers.
_POLICIES = {
    'history': ('system_default', 'keep_last', 'keep_all', 'unknown'),
    'reliability': ('system_default', 'reliable', 'best_effort', 'unknown', 'best_available'),
    'durability': ('system_default', 'transient_local', 'volatile', 'unknown', 'best_available'),
    'liveliness': ('system_default', 'automatic', 'manual_by_node', 'manual_by_topic', 'unknown',
                   'best_available')}
_DURATIONS = ('deadline', 'lifespan', 'liveliness_lease_duration')
_NO_LIMIT = {'sec': 0, 'nsec': 0}
_DEFAULT: dict[str, Any] = {
    'history': 1, 'depth': 10, 'reliability': 1, 'durability': 2, 'deadline': _NO_LIMIT,
    'lifespan': _NO_LIMIT, 'liveliness': 1, 'liveliness_lease_duration': _NO_LIMIT,
    'avoid_ros_namespace_conventions': False}


def text(profiles: list[dict[str, Any]]) -> str:
    """Return profiles as YAML."""
    dumped: str = yaml.safe_dump([{name: dict(value) if isinstance(value, dict) else value
                                   for name, value in profile.items()} for profile in profiles],
                                 sort_keys=False)
    return dumped.rstrip()


#: One profile: that of a publisher with a queue of 10.
DEFAULT = text([_DEFAULT])


def clean(recorded: str) -> str:
    """Return what a recording holds about a topic, and nothing else that may stand there."""
    try:
        if len(recorded) > _LONGEST:
            raise ValueError('too long')
        # All scalars as strings: numbers and dates of YAML can cause endless work.
        profiles = [_profile(profile) for profile in yaml.load(recorded, Loader=yaml.BaseLoader)]
    except Exception:  # anything may stand in a damaged file
        return DEFAULT
    return text(profiles) if profiles else DEFAULT


def _profile(recorded: Mapping[str, Any]) -> dict[str, Any]:
    profile = dict(_DEFAULT)
    for name, values in _POLICIES.items():
        value = recorded[name]
        profile[name] = values.index(value) if value in values else _number(value, len(values) - 1)
    profile['depth'] = _number(recorded['depth'], _DEEPEST)
    for name in _DURATIONS:
        profile[name] = {unit: _number(recorded[name][unit]) for unit in ('sec', 'nsec')}
    profile['avoid_ros_namespace_conventions'] = (
        recorded['avoid_ros_namespace_conventions'] == 'true')
    return profile


def _number(value: str, largest: int = _LARGEST) -> int:
    if not value.isdecimal() or len(value) > 19 or int(value) > largest:
        raise ValueError('no number')
    return int(value)
