# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States from which no move leads on, refused or left out; states that no route reaches."""
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from symdp_ros.errors import printable
from symdp_ros.maps.graph import Row, TransitionGraph

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain

_T = TypeVar('_T')

_SHOWN = 12  # names of a list of states; the rest is counted


def prune(graph: TransitionGraph) -> TransitionGraph:
    """
    Leave out states without successors, until every state has one.

    What remains of a row of probabilities is scaled to sum to 1.

    :raises ChainError: nothing would remain, or not the initial state.
    """
    rows = graph.successors
    left = {state: len(row) for state, row in rows.items()}
    before: dict[str, list[str]] = {state: [] for state in rows}
    for state, row in rows.items():
        for target in row:
            if target in before:  # a chain refuses others, with their line
                before[target].append(state)
    waiting = [state for state, moves in left.items() if not moves and not graph.complete]
    gone = set(waiting)
    while waiting:
        for state in before[waiting.pop()]:
            left[state] -= 1
            if not left[state]:
                gone.add(state)
                waiting.append(state)
    if rows and len(gone) == len(rows):
        raise graph.problem('nothing is left after pruning: every route ends in a dead end. Add '
                            'the missing moves, or let every state follow itself (self-loops)')
    if graph.initial_state in gone:
        raise graph.problem(f'the initial state {graph.initial_state!r} would be pruned, as its '
                            'moves end in dead ends: add the missing moves, or choose another '
                            'initial state', graph.initial_state)
    return replace(graph, pruned=tuple(state for state in rows if state in gone),
                   successors={state: _without(row, gone) for state, row in rows.items()
                               if state not in gone},
                   positions=_kept(graph.positions, gone), levels=_kept(graph.levels, gone),
                   polygons=_kept(graph.polygons, gone))


def _kept(values: Mapping[str, _T], gone: Collection[str]) -> dict[str, _T]:
    return {state: value for state, value in values.items() if state not in gone}


def _without(row: Row, gone: Collection[str]) -> Row:
    if not isinstance(row, Mapping):
        return [target for target in row if target not in gone]
    rest = {target: chance for target, chance in row.items() if target not in gone}
    total = sum(rest.values())
    if len(rest) == len(row) or not total:  # a chain refuses probabilities of 0, with their line
        return rest
    return {s: p / total for s, p in rest.items()}


def require_moves(graph: TransitionGraph) -> None:
    """
    Refuse isolated and dead-end states.

    :raises ChainError: which states have no successor, and what to do.
    """
    ends = [state for state, row in graph.successors.items() if not row and not graph.complete]
    if ends:
        raise graph.problem(
            f'this cannot be a chain: {counted(len(ends), "state")} '
            f'{"has" if len(ends) == 1 else "have"} no successor: '
            f'{some_states(ends)}. Add the missing moves, leave these states out (--prune), or '
            'let every state follow itself (--self-loops, self_loops: true)', ends[0])


def unreached(chain: 'Chain') -> str:
    """Return what to say of states that no route reaches, from public data; '' without any."""
    if not chain.stores_edges:
        return ''
    from symdp_ros.core.offline.reachable import ReachableChain

    missing = len(chain) - len(ReachableChain(chain))
    return '' if not missing else (
        f'no route from the initial state reaches {counted(missing, "state")} of {len(chain)}, '
        'which no private word ever holds: choose another initial_state, or add the missing moves '
        '(symdp check names them)')


def counted(number: int, what: str) -> str:
    """Return a number and what it counts: '1 state', '2 states'."""
    return f'{number:,} {what}' + ('' if number == 1 else 's')


def some_states(states: Sequence[str]) -> str:
    """Return the first names of a list of states, and how many there are where it is long."""
    rest = f', … ({len(states)} in all)' if len(states) > _SHOWN else ''
    return ', '.join(map(printable, states[:_SHOWN])) + rest
