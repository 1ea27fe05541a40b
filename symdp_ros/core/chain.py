# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The chain: which state can follow which, and, where known, how often."""
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from hashlib import sha256
from math import inf, isfinite
from numbers import Real
from os import PathLike
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from symdp_ros.core.annotations import Floats, Ints, ShortInts
from symdp_ros.core.between_reports import between_reports
from symdp_ros.core.models import complete_models, make_models, Models, public_models
from symdp_ros.core.naming import instead_of, one_of
from symdp_ros.errors import ChainError
from symdp_ros.settings import is_whole

_ROW_SUM_TOLERANCE = 1e-9
EMPTY = 'the chain is empty: list at least one state'


class Chain:
    """
    A Markov chain (S, P, s_0), of which privacy needs only the support: C(s) = {s' : P(s'|s) > 0}.

    Immutable; O(states + edges) memory. Chains are equal when their states, moves (in order),
    probabilities and initial state are.

    :param successors: for every state, the states that can follow it: an iterable of labels, or a
        mapping from labels to probabilities. Rows of both kinds may be mixed. The order of an
        iterable is kept, as the guided policy breaks ties by it; a set is put into the order of
        `states`.
    :param initial_state: s_0, the public state from which every word starts. It is not part of
        the word.
    :raises ChainError: no states; a label that is no printable string, or empty; a state without
        successors, an unknown or repeated successor, an unknown initial state; a probability
        that is not a number in (0, 1]; a row whose sum is off 1 by more than 1e-9.
    """

    __slots__ = ('_states', '_index', '_initial', '_offsets', '_targets', '_probabilities',
                 '_named', '_public', '_digest', '_single', '_stays', '_ticks', '__weakref__')

    #: What `from_yaml` calls: set by `maps.chain_file`, as nothing in `core` reads files.
    read_file: ClassVar[Callable[[str | PathLike[str], str | None, bool], 'Chain'] | None] = None

    def __init__(self, successors: Mapping[str, Iterable[str]], initial_state: str):
        if not isinstance(successors, Mapping):
            raise ChainError('successors must be a mapping from each state to those that can '
                             f'follow it, not a {type(successors).__name__}')
        index = _index_of(successors)
        offsets, targets = [0], list[int]()
        probabilities: list[float | None] = []
        for state, row in successors.items():
            chances = _checked_row(state, row, index)
            targets += map(index.__getitem__, chances)
            probabilities += chances.values()
            offsets.append(len(targets))
        self._set(index, initial_state, np.array(offsets, np.int64), np.array(targets, np.int32),
                  None if all(p is None for p in probabilities)
                  else np.array(probabilities, np.float64))  # None becomes NaN

    def _set(self, index: dict[str, int], initial_state: str, offsets: Ints,
             targets: ShortInts, probabilities: Floats | None, *, named: bool | None = None,
             public: Floats | None = None) -> None:
        if not isinstance(initial_state, str) or initial_state not in index:
            advice = (instead_of(initial_state, index) if isinstance(initial_state, str)
                      else f'name {one_of(index)}')
            raise ChainError(f'the initial state {initial_state!r} is not a state of the chain: '
                             + advice, state=initial_state)
        self._states = tuple(index)
        self._index = index
        self._initial = index[initial_state]
        self._offsets, self._targets, self._probabilities = offsets, targets, probabilities
        self._named = probabilities is not None if named is None else named
        self._public = public  # None: the public models are those of single moves
        self._digest: str | None = None
        self._stays: float | None = None  # P(s|s), where no edges are stored
        self._single: Chain | None = None  # this one
        self._ticks = 1
        for array in (offsets, targets, probabilities, public):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def check(cls, chain: 'Chain') -> 'Chain':
        """
        Return what was passed as the chain of a mechanism.

        :raises ChainError: it is something else, such as the mapping that a chain is made of.
        """
        if isinstance(chain, cls):
            return chain
        raise ChainError(f'chain is of type {type(chain).__name__}: pass Chain(successors, '
                         'initial_state), or Chain.from_yaml(path)')

    @classmethod
    def complete(cls, symbols: Iterable[str], initial_state: str,
                 stays: float | None = None) -> 'Chain':
        """
        Return the chain in which every symbol can follow every symbol: an alphabet.

        The paper's Mechanisms 1 and 2 are its Mechanisms 3 and 4 on this chain. It takes
        O(states) memory: no edge is stored. (It equals no chain whose edges are listed one by
        one.) A set of symbols is sorted.

        :param stays: P(s|s), from 0 to 1, where it is known; all others are equally likely.
        """
        if isinstance(symbols, str) or not isinstance(symbols, Iterable):
            kind = 'the string ' if isinstance(symbols, str) else ''
            raise ChainError(f'symbols must be a list of labels, not {kind}{symbols!r}')
        listed = list(symbols)
        index = _index_of(listed)
        if isinstance(symbols, AbstractSet):
            index = _index_of(sorted(index))
        if len(index) < len(listed):
            repeated = next(s for i, s in enumerate(listed) if index[s] != i)
            raise ChainError(f'the symbol {repeated!r} is listed twice: list it once',
                             state=repeated)
        self = cls.__new__(cls)
        if stays is not None and (isinstance(stays, bool) or not isinstance(stays, Real)
                                  or not 0 <= stays <= 1):
            raise ChainError(f'stays is {stays!r}: it must be a number from 0 to 1')
        self._set(index, initial_state, np.empty(0, np.int64), np.empty(0, np.int32), None,
                  named=stays is not None)
        self._stays = None if stays is None else float(stays)
        return self

    @classmethod
    def from_yaml(cls, path: str | PathLike[str], initial_state: str | None = None, *,
                  self_loops: bool = False) -> 'Chain':
        """
        Read a chain file (YAML with `initial_state`, and `transitions` or `symbols`).

        :param initial_state: used where the file names none, or instead of its own.
        :param self_loops: every state can also follow itself.
        :raises ChainError: with the file and the line.
        """
        if cls.read_file is None:
            raise ChainError('import symdp_ros.maps, which reads chain files')
        return cls.read_file(path, initial_state, self_loops)

    @property
    def states(self) -> tuple[str, ...]:
        """Return all states, in the order given."""
        return self._states

    @property
    def initial_state(self) -> str:
        """Return s_0, public."""
        return self._states[self._initial]

    @property
    def stores_edges(self) -> bool:
        """Return whether moves are listed one by one, and not made by `Chain.complete`."""
        return len(self._offsets) > 0

    @property
    def is_alphabet(self) -> bool:
        """
        Return whether the feasible words are all words over C(s_0).

        States that no word visits do not count, and whether edges are stored does not either.
        """
        if not self.stores_edges:
            return True
        followers = self._targets[self._row(self._initial)]
        visited = np.zeros(len(self._states), bool)
        visited[followers] = True
        return (bool((self.out_degrees()[followers] == len(followers)).all())
                and all(visited[self._targets[self._row(i)]].all() for i in followers.tolist()))

    @property
    def edge_count(self) -> int:
        """Return how many moves there are, staying included."""
        return len(self._targets) if self.stores_edges else len(self._states)**2

    @property
    def state_index(self) -> Mapping[str, int]:
        """Return the position of each state in `states`."""
        return MappingProxyType(self._index)

    def successors(self, state: str) -> tuple[str, ...]:
        """
        Return C(state), in order.

        :raises ChainError: unknown state.
        """
        i = self._position(state)
        if not self.stores_edges:
            return self._states
        states = self._states
        return tuple([states[j] for j in self._targets[self._row(i)].tolist()])

    def probabilities(self, state: str) -> dict[str, float]:
        """
        Return P(·|state), summing to 1 up to rounding; uniform where it is not known.

        :raises ChainError: unknown state.
        """
        i = self._position(state)
        names = self.successors(state)
        if self._stays is not None and len(names) > 1:
            return dict.fromkeys(names, (1 - self._stays) / (len(names) - 1)) | {
                state: self._stays}
        row = None if self._probabilities is None else self._probabilities[self._row(i)]
        if row is None or np.isnan(row[0]):
            return dict.fromkeys(names, 1 / len(names))
        return dict(zip(names, row.tolist(), strict=True))

    def out_degrees(self) -> Ints:
        """Return N(s) for every state in order: int64, shape (states,)."""
        if not self.stores_edges:
            return np.full(len(self._states), len(self._states), np.int64)
        return np.diff(self._offsets)

    def csr(self) -> tuple[Ints, ShortInts]:
        """
        Return (offsets, targets): the successors of state i are targets[offsets[i]:offsets[i+1]].

        :return: int64 of shape (states + 1,) and int32 of shape (edges,), not writable.
        :raises ChainError: `Chain.complete` made the chain: no edge is stored.
        """
        if not self.stores_edges:
            raise ChainError('this chain was made by Chain.complete: it does not store its edges')
        return self._offsets, self._targets

    def edge_probabilities(self) -> Floats:
        """
        Return P of every move, in the order of `csr`: float64, shape (edges,).

        :raises ChainError: as `csr`.
        """
        offsets, _ = self.csr()
        degrees = np.diff(offsets)
        uniform = np.repeat(1 / degrees, degrees)
        if self._probabilities is None:
            return uniform
        return np.where(np.isnan(self._probabilities), uniform, self._probabilities)

    def is_feasible(self, word: Iterable[str | None]) -> bool:
        """Return whether the word can be walked from the initial state (the empty one can)."""
        here = self._initial
        for symbol in word:
            there = self._index.get(symbol) if isinstance(symbol, str) else None
            if there is None:
                return False
            if self.stores_edges and there not in self._targets[self._row(here)]:
                return False
            here = there
        return True

    def every(self, ticks: int, moves: int) -> 'Chain':
        """
        Return the chain of what is seen of a robot every `ticks` steps of this one.

        A report can be followed by every state that is within `moves` moves of it and that the
        robot can be in `ticks` ticks later; staying is no move. Its probabilities are those of
        P^ticks on these states, renormalised; P is uniform where the chain names none. So are
        those of its public models.

        :return: a chain with the same states in the same order; `successors` are in that order.
        :raises ChainError: `ticks` or `moves` is no whole number ≥ 1; a state is left without a
            successor.
        """
        for name, value in (('ticks', ticks), ('moves', moves)):
            if not is_whole(value, 1):
                raise ChainError(f'{name} is {value!r}: it must be a whole number, at least 1')
        ticks, moves = int(ticks), int(moves)
        if not self.stores_edges:  # every state is one move away
            return self
        offsets, targets = self.csr()
        rows = np.vstack([self.edge_probabilities(), self._public_models()])
        offsets, targets, rows = between_reports(self._states, offsets, targets, rows, ticks,
                                                 moves)
        other = Chain.__new__(Chain)
        other._set(self._index, self.initial_state, offsets, targets, rows[0], named=self._named,
                   public=rows[1:])
        other._ticks, other._single = self.ticks * ticks, self.single
        return other

    @property
    def ticks(self) -> int:
        """Return how many steps of `single` one step of this chain takes."""
        return self._ticks

    @property
    def single(self) -> 'Chain':
        """Return the chain of single ticks that `every` made this one from, or this chain."""
        return self if self._single is None else self._single

    @property
    def names_probabilities(self) -> bool:
        """Return whether P is known: named for at least one state."""
        return self._named

    def models(self, trust: float) -> Models:
        """
        Return the public models of how the robot moves (`core.models`).

        :param trust: from 0 to 1, the weight of P; it has no effect where P is not known.
        """
        if not self.stores_edges:
            return complete_models(len(self), self._stays, trust)
        named = self.edge_probabilities() if self._named else None
        return make_models(*self.csr(), self._public_models(), named, trust)

    def how_it_moves(self, trust: float) -> str:
        """Return in a few words which models there are; `trust` as of `models`."""
        given = '' if self._named else 'not given: '
        return given + self.models(trust).summary

    def _public_models(self) -> Floats:
        return public_models(*self.csr()) if self._public is None else self._public

    def states_without_staying(self) -> tuple[str, ...]:
        """Return the states that cannot follow themselves."""
        if not self.stores_edges:
            return ()
        sources = np.repeat(np.arange(len(self._states)), self.out_degrees())
        stays = np.zeros(len(self._states), bool)
        stays[sources[sources == self._targets]] = True
        return tuple(self._states[i] for i in np.flatnonzero(~stays))

    def digest(self) -> str:
        """
        Return a SHA-256 (hex) of states, moves and probabilities, those of its models included.

        Equal for equal chains, in every process and on every machine. `single` and `ticks` are
        not part of it: two chains of `every` may have one digest, and not be equal.
        """
        if self._digest is None:
            hashed = sha256()
            for part in self._parts():
                hashed.update(len(part).to_bytes(8, 'big') + part)
            self._digest = hashed.hexdigest()
        return self._digest

    def _parts(self) -> Iterator[bytes]:
        yield b'chain' if self.stores_edges else b'complete'
        yield self.initial_state.encode('utf-8', 'surrogatepass')
        yield len(self._states).to_bytes(8, 'big')
        yield from (state.encode('utf-8', 'surrogatepass') for state in self._states)
        if self.stores_edges:
            yield self._offsets.astype('<i8').tobytes()
            yield self._targets.astype('<i4').tobytes()
            if self._probabilities is not None:
                yield self._probabilities.astype('<f8').tobytes()
            if self._public is not None:
                yield b'named' if self._named else b'not named'
                yield self._public.astype('<f8').tobytes()
        elif self._stays is not None:
            yield repr(self._stays).encode()

    def _position(self, state: str) -> int:
        position = self._index.get(state) if isinstance(state, str) else None
        if position is None:
            raise ChainError(f'{state!r} is not a state of the chain', state=state)
        return position

    def _row(self, i: int) -> slice:
        return slice(self._offsets[i], self._offsets[i + 1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        return self.digest() == other.digest() and self.ticks == other.ticks and (
            self.ticks == 1 or self.single == other.single)

    def __hash__(self) -> int:
        return hash(self.digest())

    def __len__(self) -> int:
        return len(self._states)

    def __repr__(self) -> str:
        kind = 'Chain' if self.stores_edges else 'Chain.complete'
        return (f'<{kind}: {len(self)} states, {self.edge_count} edges, '
                f'initial state {self.initial_state!r}>')


def _index_of(states: Iterable[str]) -> dict[str, int]:
    """
    Return the position of each label, the first one where a label is repeated.

    Labels of other types, such as members of an enumeration of strings, become plain strings.
    """
    index: dict[str, int] = {}
    for position, state in enumerate(states):
        if not isinstance(state, str):
            raise ChainError(f'the state {state!r} is of type {type(state).__name__}: write it '
                             f'as a string, {str(state)!r}')
        if not state:
            raise ChainError('a state has an empty label: give it a name')
        if not state.isprintable():
            raise ChainError(f'the state {state!r} has characters that cannot be printed: rename '
                             'it')
        index.setdefault(str.__str__(state), position)
    if not index:
        raise ChainError(EMPTY)
    return index


def _checked_row(state: str, row: Iterable[str],
                 index: Mapping[str, int]) -> dict[str, float | None]:
    """Return successor → probability, in order; None as the probabilities of a plain list."""
    def problem(text: str) -> ChainError:
        return ChainError(f'state {state!r} {text}', state=state)

    if isinstance(row, str) or not isinstance(row, Iterable):
        raise problem(f'has {row!r} where a list of successors should be, such as [{state!r}]')
    chances: dict[str, float | None] = {}
    names = sorted(row, key=lambda s: index.get(s, -1)) if isinstance(row, AbstractSet) else row
    for target in names:
        if not isinstance(target, str):
            raise problem(f'lists the successor {target!r} of type {type(target).__name__}: '
                          f'write it as a string, {str(target)!r}')
        if target not in index:
            raise problem(f'lists the successor {target!r}, which is not a state: add a row for '
                          'it, or correct the name')
        if target in chances:
            raise problem(f'lists the successor {target!r} twice: list it once')
        chances[target] = None
    if not chances:
        raise problem('has no successors: let it at least follow itself, or remove it')
    if isinstance(row, Mapping):
        known = {target: _checked_chance(target, row[target], problem) for target in chances}
        total = sum(known.values())
        if not abs(total - 1) <= _ROW_SUM_TOLERANCE:
            raise problem(f'has probabilities that sum to {total!r}: make the sum 1 (within 1e-9)')
        chances.update(known)
    return chances


def _checked_chance(target: str, chance: object, problem: Callable[[str], ChainError]) -> float:
    if isinstance(chance, bool) or not isinstance(chance, Real):
        raise problem(f'gives {target!r} the probability {chance!r}: it must be a number')
    try:
        value = float(chance)
    except OverflowError:
        value = inf
    if not (isfinite(value) and 0 < value <= 1 + _ROW_SUM_TOLERANCE):
        advice = ': remove the successor where the move is impossible' if value == 0 else ''
        raise problem(f'gives {target!r} the probability {value!r}, which is not in (0, 1]'
                      + advice)
    return value
