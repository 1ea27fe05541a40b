# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One word whose draws are published: what is drawn depends on s_t and o_{t−1} alone."""
from collections.abc import Callable
from secrets import token_hex
from typing import Any, NoReturn, TypeAlias

from symdp_ros.core.annotations import Floats, RandomBits
from symdp_ros.core.chain import Chain
from symdp_ros.core.draws.randomness import RandomIntegers
from symdp_ros.core.online.in_c import compiled
from symdp_ros.core.online.response import Response
from symdp_ros.core.online.targets import DENSE_STATES, feasible_row, Row, Targets
from symdp_ros.errors import ChainError, ConfigurationError, UnknownSymbolError

_POSITION = 4  # bytes
_Step: TypeAlias = Callable[[str | None], str | None]


class DirectWord:
    """
    The word of a policy that has targets. Methods as of `AdaptiveWord`.

    :param targets: their table; None: the target of a symbol is the symbol itself.
    :param responses: the `Response` for each number of successors, of draws of so many bits.
    """

    posterior: Floats | None = None
    zone: str | None = None
    ticks_left = waiting = 0

    def __init__(self, chain: Chain, targets: Targets | None, responses: dict[int, Response],
                 width: int, random: RandomBits | None = None):
        self._chain = chain
        # A closure: a sixth faster than a method whose state is in self.
        self.step, self._continue, self._previous = _stepper(
            chain, targets, responses, width, random)
        self.reset()

    @property
    def previous(self) -> str:
        return self._previous()

    def reset(self, previous: str | None = None) -> None:
        self._continue(self._chain.initial_state if previous is None else previous)

    def advance(self, output: Any, symbol: str | None = None) -> str:
        chain = self._chain
        if not isinstance(output, str) or output not in chain.state_index or (
                chain.stores_edges and output not in chain.successors(self.previous)):
            raise ChainError(f'{output!r} cannot follow {self.previous!r}',
                             state=output if isinstance(output, str) else None)
        self._continue(output)
        return str(output)

    def skip(self, reports: int) -> NoReturn:
        self.tick()

    def tick(self) -> NoReturn:
        raise ConfigurationError('without a symbol nothing can be published: with the policy '
                                 'adaptive, on a map, it can', setting='policy')

    def ends_block(self, symbol: str | None, following: str | None) -> bool:
        return False

    def finish(self) -> list[str]:
        self.reset()
        return []

    @property
    def state(self) -> bytes:
        return self._chain.state_index[self.previous].to_bytes(_POSITION, 'little')

    def restore(self, state: bytes) -> None:
        position = int.from_bytes(state, 'little')
        if len(state) != _POSITION or position >= len(self._chain):
            raise ChainError('these bytes are no state of such a mechanism')
        self._continue(self._chain.states[position])


def follow_in_python(row: list[Any], index: dict[str, int], unknown: str, symbol: Any) -> Any:
    """
    Return the row that a step leads to; None where something is missing (`make_ready`).

    Its time tells a little of whether the target was taken; in C, it does not.

    :param row: the row of the previous state: its label, the `pop` of a buffer of pairs (`Response
        .reader`), the rows of its successors, from place 1 on, and the places of the targets of
        all symbols, 0 where there is none (of a dict: where one is).
    :param index: of each symbol and '.', its position, from 1.
    :param unknown: stands for None.
    """
    try:
        _, pop, choices, places = row
        position = index[(symbol, unknown)[symbol is None] + '.']
        place = places.get(position, 0) if isinstance(places, dict) else places[position - 1]
        number, hit = pop()  # not before the symbol is known: C draws as many
        choices[0] = choices[number]
        return (choices[0], choices[place])[hit]
    except (IndexError, KeyError, TypeError, ValueError):
        return None


follow = follow_in_python if compiled is None else compiled.follow


def _stepper(
        chain: Chain, targets: Targets | None, responses: dict[int, Response], width: int,
        random: RandomBits | None) -> tuple[_Step, Callable[[str], None], Callable[[], str]]:
    """
    Return the functions (step, continue_from, previous) of one word.

    Each state has a row, a list: its label, and, once a word has been there, what a step from it
    needs: the draws for its number of successors, the rows of these from place 1 on, and for each
    symbol the place of its target, 0 where there is none.

    A step (`follow`) does the same for every symbol, and whether or not it takes the target: it
    looks up the row of the target, draws one uniformly, and takes one of the two. Both are touched
    either way: of many rows, one that was not used lately is slow to reach.

    Symbols are looked up as new strings. Of one character Python keeps one object, which a dict
    finds sooner than an equal one, and whose hash it has: that would tell '0' from '33'.
    """
    # Copies: were a label the caller's own object, its type would show that, and its time too.
    rows: dict[str, list[Any]] = {state: [''.join(list(state))] for state in chain.states}
    all_rows = None if chain.stores_edges else [None, *rows.values()]
    all_places = None if all_rows is None else feasible_row([*range(len(chain))], len(chain))
    position_of = chain.state_index
    numbers = [*range(1, len(chain) + 2)]  # one object each, for all rows
    unknown = token_hex(8)  # equal to no label
    index = {f'{state}.': number
             for state, number in zip((*chain.states, unknown), numbers, strict=True)}
    draws: dict[int, RandomIntegers] = {}  # for each number of successors
    made: list[list[Any]] = []
    row: list[Any] = []

    def make_ready(symbol: str | None) -> None:
        """
        Provide what a step from here has found missing.

        :raises UnknownSymbolError: that is the symbol.
        """
        if symbol is not None and (not isinstance(symbol, str) or symbol not in position_of):
            raise UnknownSymbolError
        if len(row) == 1:
            make(row)
        draws[len(row[2]) - 1].fill()

    def make(row: list[Any]) -> None:
        """Append to the row of a state what steps from it need."""
        state = row[0]
        choices = all_rows or [None, *[rows[successor] for successor in chain.successors(state)]]
        places: Row | dict[int, int] | None = all_places
        if targets is not None:
            if len(made) == targets.kept_rows:
                for other in made:
                    del other[1:]
                made.clear()
            made.append(row)
            places = targets.row(position_of[state])
        elif places is None:
            successors = [position_of[successor] for successor in chain.successors(state)]
            places = (feasible_row(successors, len(chain)) if len(chain) <= DENSE_STATES
                      else {numbers[i]: place for place, i in enumerate(successors, 1)})
        count = len(choices) - 1
        if count not in draws:
            response = responses[count]
            draws[count] = RandomIntegers(width, response.limit, random, response.reader())
        row += (draws[count].buffer.pop, choices, places)

    def step(symbol: str | None) -> str | None:
        nonlocal row
        while (next_row := follow(row, index, unknown, symbol)) is None:
            make_ready(symbol)
        row = next_row
        label: str = row[0]
        return label

    def continue_from(previous: str) -> None:
        nonlocal row
        if not isinstance(previous, str) or previous not in rows:
            raise ChainError(f'{previous!r} is not a state of the chain', state=previous)
        row = rows[previous]

    return step, continue_from, lambda: str(row[0])
