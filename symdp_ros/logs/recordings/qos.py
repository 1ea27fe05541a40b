# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Quality-of-service profiles of the publishers of a topic, as recordings hold them: YAML."""
from typing import Any

import yaml

_LONGEST = 1 << 16  # characters
_DURATION = {'sec': 2**63 - 1, 'nsec': 2**63 - 1}
#: Policy → its values, in whose place recordings before version 9 have their numbers; or the
#: largest number that rosbag2 reads.
_POLICIES: dict[str, Any] = {
    'history': ('system_default', 'keep_last', 'keep_all', 'unknown'),
    'depth': 2**31 - 1,
    'reliability': ('system_default', 'reliable', 'best_effort', 'unknown', 'best_available'),
    'durability': ('system_default', 'transient_local', 'volatile', 'unknown', 'best_available'),
    'deadline': _DURATION, 'lifespan': _DURATION,
    'liveliness': ('system_default', 'automatic', 'manual_by_node', 'manual_by_topic', 'unknown',
                   'best_available'),
    'liveliness_lease_duration': _DURATION}
_NO_LIMIT = '\n    sec: 0\n    nsec: 0\n'
#: One profile: that of a publisher with a queue of 10.
DEFAULT = ('- history: 1\n  depth: 10\n  reliability: 1\n  durability: 2\n'
           f'  deadline:{_NO_LIMIT}  lifespan:{_NO_LIMIT}  liveliness: 1\n'
           f'  liveliness_lease_duration:{_NO_LIMIT}  avoid_ros_namespace_conventions: false')


def clean(recorded: str) -> str:
    """Return what a recording holds about a topic, and nothing else that may stand there."""
    try:
        if len(recorded) > _LONGEST:
            raise ValueError('too long')
        # All scalars as strings: numbers and dates of YAML can cause endless work.
        profiles = [_checked(profile, _POLICIES) | {
            'avoid_ros_namespace_conventions': profile['avoid_ros_namespace_conventions'] == 'true'
        } for profile in yaml.load(recorded, Loader=yaml.BaseLoader)]
    except Exception:  # anything may stand in a damaged file
        return DEFAULT
    dumped: str = yaml.safe_dump(profiles, sort_keys=False)
    return dumped.rstrip() if profiles else DEFAULT


def _checked(recorded: Any, form: Any) -> Any:
    """Return what was recorded as numbers; `form`: as in `_POLICIES`."""
    if isinstance(form, dict):
        return {name: _checked(recorded[name], each) for name, each in form.items()}
    if isinstance(form, tuple):
        recorded, form = str(form.index(recorded)) if recorded in form else recorded, len(form) - 1
    if not recorded.isdecimal() or len(recorded) > 19 or int(recorded) > form:
        raise ValueError('no number')
    return int(recorded)
