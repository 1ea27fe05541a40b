# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of states for messages: what a user can choose from, and what was probably meant."""
from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice

from symdp_ros.core.printable import printable

_FEW = 8           # states that are all shown
_SHOWN = 3         # of more than these
_COMPARED = 5_000  # states that a wrong name is compared with


def one_of(states: Collection[str]) -> str:
    """Return 'one of its 2 states, 'dock' or 'hall'', or some of many."""
    few = len(states) <= _FEW
    names = [_quoted(state) for state in islice(states, _FEW if few else _SHOWN)]
    if few and len(names) == 1:
        return f'its only state, {names[0]}'
    shown = f'{", ".join(names[:-1])} or {names[-1]}'
    return f'one of its {len(states):,} states, ' + (
        shown if few else f'such as {shown} (`symdp check FILE --states` lists all)')


def instead_of(wrong: str, states: Collection[str]) -> str:
    """Return advice for a name that is no state: similar names, or some of the states."""
    alike = [state for state in islice(states, _COMPARED) if state.casefold() == wrong.casefold()]
    alike += [state for state in get_close_matches(wrong[:100], islice(states, _COMPARED))
              if state not in alike]
    if not alike:
        return f'name {one_of(states)}'
    return f'did you mean {" or ".join(map(_quoted, alike[:_SHOWN]))}?'


def _quoted(state: str) -> str:
    return f"'{printable(state, 60)}'"
