# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of states for messages: what a user can choose from, and what was probably meant."""
from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice

from symdp_ros.errors import printable

_FEW = 8           # states that are all shown
_SHOWN = 3         # similar names that are shown
_COMPARED = 5_000  # states that a wrong name is compared with


def one_of(states: Collection[str]) -> str:
    """Return 'one of its 2 states, 'dock' or 'hall'', or some of many."""
    few = len(states) <= _FEW
    # Of many, the first, the middle and the last: neighbours often have similar names.
    shown = states if few else [state for i, state in enumerate(states) if i in (
        0, len(states) // 2, len(states) - 1)]
    names = list(map(quoted, shown))
    if few and len(names) == 1:
        return f'its only state, {names[0]}'
    listed = f'{", ".join(names[:-1])} or {names[-1]}'
    return f'one of its {len(states):,} states, ' + (
        listed if few else f'such as {listed} (`symdp check FILE --states` lists all)')


def alike(wrong: str, states: Collection[str]) -> list[str]:
    """Return the few states whose names are most like a name that is no state."""
    same = [state for state in islice(states, _COMPARED) if state.casefold() == wrong.casefold()]
    return (same or get_close_matches(wrong[:100], islice(states, _COMPARED)))[:_SHOWN]


def instead_of(wrong: str, states: Collection[str]) -> str:
    """Return advice for a name that is no state: similar names, or some of the states."""
    close = alike(wrong, states)
    if not close:
        return f'name {one_of(states)}'
    return f'did you mean {" or ".join(map(quoted, close))}?'


def quoted(name: str) -> str:
    """Return a name as messages show it."""
    return f"'{printable(name, 60)}'"
