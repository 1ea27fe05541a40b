# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of the online mechanism: how each symbol is drawn, and how likely each one is."""
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from threading import Lock
from typing import Any, NoReturn, SupportsIndex, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from symdp_ros.core.annotations import Floats, Ints, RandomBits, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.mechanism import Mechanism
from symdp_ros.core.online.adaptive.adaptive import AdaptiveWord
from symdp_ros.core.online.adaptive.alphabet import AlphabetTables
from symdp_ros.core.online.adaptive.in_zones import ZonedWord
from symdp_ros.core.online.adaptive.many import draw
from symdp_ros.core.online.adaptive.tables import AdaptiveTables
from symdp_ros.core.online.direct import DirectWord
from symdp_ros.core.online.guided import guided_targets
from symdp_ros.core.online.online_batch import OnlineBatch
from symdp_ros.core.online.response import responses
from symdp_ros.core.online.targets import Targets
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import (check_choice, check_delay, check_learn, check_reports,
                                     check_trust, check_zones, DEFAULT_LEARN, DEFAULT_POLICY,
                                     DEFAULT_TRUST, POLICIES)
from symdp_ros.core.word_arrays import checked, WordBits
from symdp_ros.core.zones import Signal
from symdp_ros.errors import ChainError, ConfigurationError

_Steps = TypeVar('_Steps', bound='OnlineSteps')
_Symbol = TypeVar('_Symbol', str | None, Signal)


_BY_HISTORY = ('policy adaptive draws by all signals so far, not by the last private symbol '
               'alone: replay(signals), then ask {}')


_tables: 'WeakValueDictionary[tuple[Any, ...], AdaptiveTables]' = WeakValueDictionary()
_making = Lock()


def _tables_of(*given: Any) -> AdaptiveTables:
    """Return tables of these parameters: those of a mechanism that still has them, or new ones."""
    with _making:
        tables = _tables.get(given)
        if tables is None:
            kind = AdaptiveTables if given[0].stores_edges else AlphabetTables
            _tables[given] = tables = kind(*given)
        return tables


class OnlineSteps(Mechanism):
    """
    The online mechanism, symbol by symbol; `OnlineMechanism` adds its law for whole words.

    The arguments and the proof stand there.
    """

    def __init__(self, chain: Chain, privacy: Privacy, *, policy: str = DEFAULT_POLICY,
                 trust: float = DEFAULT_TRUST, delay: int | None = 0, reports: int = 1,
                 learn: str = DEFAULT_LEARN, random: RandomBits | None = None):
        check_choice('policy', policy, POLICIES)
        super().__init__(chain, privacy)
        check_trust(trust)
        check_delay(policy, delay)
        check_reports(policy, reports)
        check_learn(policy, learn)
        check_zones(policy, 'policy', privacy.zones)
        if privacy.zones is not None and not chain.stores_edges:
            raise ConfigurationError('with zones, a chain made by Chain.complete cannot be used: '
                                     'list its moves', setting='zones')
        if reports > 1 and not chain.stores_edges:
            raise ConfigurationError(f'{reports} reports for each symbol (report_period) need a '
                                     'map that limits moves: this one lets all follow all',
                                     setting='reports')
        self._policy, self._trust = policy, float(trust)
        self._delay = None if delay is None else int(delay)
        self._learn, self._per_symbol = learn, int(reports)
        self._random = random
        self._batch: OnlineBatch | None = None
        self._width, self._responses = responses(chain.out_degrees().tolist(), privacy)
        self._tables = None if policy != 'adaptive' else _tables_of(
            chain, privacy, self._trust, self._per_symbol, learn == 'own')
        self._targets = guided_targets(chain) if (
            policy == 'guided' and chain.stores_edges) else None
        self._begin_word()

    def _begin_word(self) -> None:
        self._word: DirectWord | AdaptiveWord
        if self._tables is not None:
            kind = AdaptiveWord if self._privacy.zones is None else ZonedWord
            self._word = kind(self._chain, self._tables, self._delay, self._random)
        else:
            self._word = DirectWord(self._chain, self._targets, self._responses, self._width,
                                    self._random)
        self.step = self._word.step  # type: ignore[assignment, method-assign]  # which documents

    def another(self: _Steps, *, random: RandomBits | None = None) -> _Steps:
        """
        Return a mechanism for another word, which shares the tables of this one.

        :param random: in place of this one's.
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        if random is not None:
            other._random = random
        other._begin_word()
        return other

    @property
    def policy(self) -> str:
        """Return 'paper', 'guided' or 'adaptive'."""
        return self._policy

    @property
    def trust(self) -> float:
        """Return the weight of P among the models of how the robot moves."""
        return self._trust

    @property
    def learn(self) -> str:
        """Return whose moves are learnt from signals: 'own', of each word, or 'none'."""
        return self._learn

    @property
    def delay(self) -> int | None:
        """Return how many symbols after its own a report leaves; None: with `finish`."""
        return self._delay

    @property
    def reports(self) -> int:
        """Return how many reports there are for each symbol that is drawn for."""
        return self._per_symbol

    @property
    def stride(self) -> int:
        """Return how many reports it is from one symbol of a word to the next: 1 with zones."""
        return 1 if self._tables is None else self._tables.stride

    @property
    def zone(self) -> str | None:
        """Return the zone told last; at first that of the initial state; None: without zones."""
        return self._word.zone

    @property
    def response_values(self) -> int:
        """Return the `values` of `core.accounting.rho_of`: m of 'symbols', L of 'blocks'."""
        degrees = self._chain.out_degrees()
        if self._tables is None:
            return int(min(degrees[degrees > 1], default=2))
        return max(2, self._tables.longest(self._delay))

    @property
    def loss_bound(self) -> str:
        """Return which of `core.accounting.BOUNDS` holds for a word."""
        blocks = self._tables is not None and self._tables.longest(self._delay) > 1
        return 'blocks' if blocks else 'symbols'

    @property
    def targets(self) -> Targets | None:
        """Return the table of targets; None: s_t itself, or `tables` has them."""
        return self._targets

    @property
    def tables(self) -> AdaptiveTables | None:
        """Return the tables of 'adaptive'; None: a draw depends on s_t and o_{t−1} alone."""
        return self._tables

    @property
    def previous(self) -> str:
        """Return the last published symbol; before the first one, where the word begins."""
        return self._word.previous

    @property
    def posterior(self) -> Floats | None:
        """
        Return P[s_u = s | all signals so far] of the symbol s_u that was reported last.

        Exact, if the robot moves by `chain.models(trust)`. It is computed of signals alone, so it
        costs no privacy. Shape (states,). None with other policies than 'adaptive', before the
        first report, and after `restore`.
        """
        return self._word.posterior

    @property
    def state(self) -> bytes:
        """
        Return all that later draws and reports of this word depend on: for `restore`.

        It depends on what was drawn alone. Whoever has it, and not the reports alone, has signals
        that are not reported yet.
        """
        return self._word.state

    def restore(self, state: bytes) -> None:
        """
        Go on where a mechanism of the same settings stood.

        :raises ChainError: that is no `state` of one; nothing changes.
        """
        if not isinstance(state, bytes | bytearray | memoryview):
            raise ChainError(f'a state of a mechanism is bytes, not {type(state).__name__}')
        self._word.restore(bytes(state))

    def __repr__(self) -> str:
        more = '' if self.policy != 'adaptive' else (
            f', trust={self.trust:g}, delay={self.delay}, reports={self.reports}'
            + f', learn={self.learn!r}' * (self.learn != DEFAULT_LEARN))
        return f'OnlineMechanism({self.chain}, {self.privacy}, policy={self.policy!r}{more})'

    def reset(self, previous: str | None = None) -> None:
        """
        Begin a new word, or continue one whose last private symbol is `previous`.

        With 'adaptive', the robot is then taken to be there.

        :raises ChainError: `previous` is no state; nothing changes.
        """
        self._word.reset(previous)

    def advance(self, output: Signal, symbol: str | None = None) -> None:
        """
        Go on as if `output` had been drawn; with 'adaptive', that is a signal.

        In a block of symbols it is `core.zones.WAITING`, and with the last one a
        `core.zones.Count`: of fewer symbols, the block ends there, which was known after the
        report that left with that symbol.

        With zones, a signal names the zone too, that of the state. Where only a zone was told, and
        for each symbol of a block but the last one, it is a `core.zones.Told`; for a `tick`, None.

        :param symbol: in a block, for what symbol: `current_distribution` of the last one depends
            on all of them. None: unknown.
        :raises ChainError: it cannot have been; nothing changes.
        """
        self._word.advance(output, symbol)

    def replay(self, outputs: Iterable[Signal], previous: str | None = None,
               word: Iterable[str | None] = ()) -> None:
        """
        Stand where a word stands after these outputs; with 'adaptive', signals.

        With several `reports` for each symbol, those between two outputs are gone over; those
        after the last one are still to come (`tick`).

        :param previous: where the mechanism was `reset` to before them; None: a new word.
        :param word: the symbols of the outputs, as of `advance`; all that are left out: unknown.
        :raises ChainError: these cannot have been drawn; the mechanism is left as after `reset()`.
        """
        self.reset(previous)
        try:
            symbols = iter(word)
            for i, output in enumerate(outputs):
                for _ in range(self.stride - 1 if i else 0):
                    self.tick()
                self.advance(output, next(symbols, None))
        except ChainError:
            self.reset()
            raise

    def decode(self, signals: Iterable[Signal]) -> list[str]:
        """
        Return the word that is published where these signals were drawn, from the initial state.

        With other policies than 'adaptive' these are the word. The mechanism is left as after
        `reset()`.

        :param signals: each named by the state that founded its cell; as of `advance`.
        :raises ChainError: these cannot have been drawn.
        """
        self.reset()
        try:
            return self._reports(self._word.advance, signals)
        finally:
            self.reset()

    def step(self, symbol: str | None) -> str | None:
        """
        Draw for the next symbol.

        With zones, that of the symbol is told; with several `reports` there is a symbol for each,
        and of those between two draws only the zone is told.

        :param symbol: the sensitive symbol s_t; None: unknown, drawn uniformly; with zones it
            counts as lying in the zone told last.
        :return: o_t ∈ C(o_{t−1}); with a `delay`, that of so many symbols ago: None, as long as
            there is none.
        :raises UnknownSymbolError: the symbol is no state; the word then goes on as before.
        """
        raise NotImplementedError('__init__ puts the step of the policy here')

    def tick(self) -> str | None:
        """
        Go on by one report without a symbol: with `reports`, that often less one after a `step`.

        Nothing is drawn. In place of a `step`, the symbol is left out. With zones it always is,
        and no zone told: there is a symbol for each report.

        :return: the report that is due, as of `step`.
        :raises ConfigurationError: not with the policy adaptive.
        """
        return self._word.tick()

    def skip(self, reports: int) -> str | None:
        """
        Go on by some reports that nobody publishes, as `tick`, in a small part of the time.

        With a `delay`, what is reported meanwhile is a route of the chain, but not the likeliest
        one. What is known of the robot is as after so many `tick`.

        :param reports: ≥ 1.
        :return: the last of them; None: none was due.
        :raises ConfigurationError: as `tick`.
        """
        return self._word.skip(reports)

    @property
    def ticks_left(self) -> int:
        """Return how many `tick` come before the next `step`; 0 with one report a symbol."""
        return self._word.ticks_left

    def finish(self) -> list[str]:
        """Return the private symbols that the `delay` has held back; then a new word begins."""
        return self._word.finish()

    def _reports(self, takes: Callable[[_Symbol], str | None],
                 symbols: Iterable[_Symbol]) -> list[str]:
        reports: list[str | None] = []
        for i, symbol in enumerate(symbols):
            if i:
                reports += [self.tick() for _ in range(self.stride - 1)]
            reports.append(takes(symbol))
        return [report for report in reports if report is not None] + self.finish()

    def privatize(self, word: Iterable[str | None]) -> list[str]:
        """
        Return a private word for a whole sensitive word, from the initial state.

        The mechanism is left as after `reset()`.

        :raises UnknownSymbolError: a symbol is no state; checked before anything is drawn.
        """
        word = self._checked(word)
        self.reset()
        try:
            return self._reports(self.step, word)
        finally:
            self.reset()

    def privatize_many(self, symbols: npt.ArrayLike, offsets: npt.ArrayLike,
                       bits: WordBits | None = None) -> ShortInts:
        """
        Return private words for many sensitive words at once, each from the initial state.

        The word that `step` draws goes on as before; other threads may run meanwhile.

        :param symbols: integers, shape (total,): positions in `chain.states`, −1: unknown; not to
            be written to meanwhile.
        :param offsets: integers, shape (words + 1,): word i is symbols[offsets[i]:offsets[i+1]].
        :param bits: random bits of each word (`core.word_arrays`); None: new ones.
        :return: int32: positions in `chain.states`, for a word of n symbols (n − 1)·`reports` + 1.
        :raises UnknownSymbolError: a symbol is none of these; checked before anything is drawn.
        :raises ConfigurationError: arrays of another kind or shape; bits of fewer or more words.
        """
        words, ends = checked(symbols, offsets, len(self._chain))
        if self._tables is not None:
            return self.draw_signals(words, ends, bits)[0]
        bits = WordBits.of_words(len(ends) - 1, bits, self._random)
        if self._batch is None:
            self._batch = OnlineBatch(self._chain, self._targets, self._width, self._responses)
        return self._batch.draw(words, ends, bits)

    def draw_signals(self, symbols: ShortInts, offsets: Ints,
                     bits: WordBits | None = None) -> tuple[ShortInts, ShortInts]:
        """
        Return the reports, and the signals that they were decoded from, as `privatize_many`.

        Signals have the numbers of `core.online.counts.SignalNumbers`.

        :raises ConfigurationError: no signals are drawn: another policy.
        """
        if self._tables is None:
            raise ConfigurationError('what is drawn is what is published: use privatize_many',
                                     setting='policy')
        bits = WordBits.of_words(len(offsets) - 1, bits, self._random)
        reports, signals = draw(
            self._tables, self._delay, self._chain.state_index[self._chain.initial_state],
            symbols.astype(np.int64), offsets, bits)
        return reports.astype(np.int32), signals.astype(np.int32)

    def target(self, symbol: str | None, previous: str) -> str | None:
        """
        Return the state that is aimed at, or None where the draw is uniform.

        :raises UnknownSymbolError: `symbol` is no state.
        :raises ChainError: `previous` is no state.
        :raises ConfigurationError: policy 'adaptive', as in all that takes `previous`.
        """
        self._checked([symbol])
        self._require_rows('current_distribution(symbol)')
        successors = self._chain.successors(previous)
        if self._targets is None:
            if symbol is None or self._chain.stores_edges and symbol not in successors:
                return None
            return self._chain.states[self._index[symbol]]
        code = self._targets.row(self._index[previous])[self._index[symbol]]
        return successors[code - 1] if code else None

    def target_positions(self, symbol: str | None) -> Ints:
        """
        Return the position in `states` of the target of a symbol for each previous state.

        :return: int64, shape (states,); −1 where there is none.
        :raises UnknownSymbolError: `symbol` is no state.
        :raises ChainError: the chain stores no edges; the target is then the symbol itself.
        """
        self._checked([symbol])
        self._require_rows('current_distribution(symbol)')
        offsets, successors = self._chain.csr()
        column = self._index[symbol]
        positions = np.full(len(self._chain), -1, np.int64)
        if self._targets is None:
            there = np.flatnonzero(successors == column)
            positions[np.searchsorted(offsets, there, 'right') - 1] = column
        else:
            codes = self._targets.column(column).astype(np.int64)
            aimed = codes > 0
            positions[aimed] = successors[offsets[:-1][aimed] + codes[aimed] - 1]
        return positions

    def weights(self) -> tuple[Floats, Floats]:
        """
        Return (a/T, (b−a)/T) for each previous state: shapes (states,).

        A state other than the target gets the first, the target the sum of the two.
        """
        responses = [self._responses[count] for count in self._chain.out_degrees().tolist()]
        return (np.array([r.a / r.total for r in responses]),
                np.array([(r.b - r.a) / r.total for r in responses]))

    def exact_distribution(self, symbol: str | None, previous: str) -> dict[str, Fraction]:
        """
        Return μ(· | symbol, previous) as it is drawn, exactly: it sums to 1.

        :return: the probability of each feasible state, in the order of `successors`.
        :raises UnknownSymbolError: `symbol` is no state.
        :raises ChainError: `previous` is no state.
        """
        target = self.target(symbol, previous)
        successors = self._chain.successors(previous)
        response = self._responses[len(successors)]
        if target is None:
            return dict.fromkeys(successors, Fraction(1, response.count))
        distribution = dict.fromkeys(successors, Fraction(response.a, response.total))
        distribution[target] = Fraction(response.b, response.total)
        return distribution

    def distribution(self, symbol: str | None, previous: str) -> dict[str, float]:
        """Return `exact_distribution` as floats."""
        exact = self.exact_distribution(symbol, previous)
        return {state: float(chance) for state, chance in exact.items()}

    def likelihood(self, output: str, previous: str) -> Floats:
        """
        Return μ(output | s, previous) for every state s in order: float64, shape (states,).

        All are positive where `output` can follow `previous`, all 0 where it cannot. O(states).

        :raises ChainError: `previous` is no state.
        """
        self._require_rows('current_likelihood(output)')
        successors = self._chain.successors(previous)
        if output not in successors:
            return np.zeros(len(self._chain))
        response = self._responses[len(successors)]
        uniform, other = 1 / response.count, response.a / response.total
        aimed = response.b / response.total
        if self._targets is not None:
            row = self._targets.row(self._index[previous])
            codes = np.asarray(memoryview(row))[:-1]  # without the unknown symbol
            aimed_at = codes == 1 + successors.index(output)
            return np.where(aimed_at, aimed, np.where(codes == 0, uniform, other))
        if self._chain.stores_edges:
            chances = np.full(len(self._chain), uniform)
            chances[[self._index[state] for state in successors]] = other
        else:
            chances = np.full(len(self._chain), other)
        chances[self._index[output]] = aimed
        return chances

    def exact_current_distribution(self, symbol: str | None,
                                   last: bool = False) -> dict[Any, Fraction]:
        """
        Return how the next output is drawn for this symbol, after the outputs so far, exactly.

        With 'adaptive', outputs are signals, each named by the state that founded its cell; with
        zones, as of `advance`: where none would be drawn, `Told` is certain. In a block of symbols
        `WAITING` is certain, with zones `Told`, and with the last one each signal is a `Count`.
        Where the zone of the symbol ends the block under way, that is drawn first: the row is of
        its `Count`.

        :param last: whether the block ends with this symbol: with the word, or by `ends_block`.
        :return: the probability of each state that may be drawn; in the order of `successors`, or
            of cells.
        :raises UnknownSymbolError: `symbol` is no state.
        """
        if isinstance(self._word, AdaptiveWord):
            return self._word.exact_distribution(symbol, last)
        return self.exact_distribution(symbol, self.previous)

    @property
    def waiting(self) -> int:
        """Return how many symbols lie in the block under way, of which nothing is drawn yet."""
        return self._word.waiting

    def ends_block(self, symbol: str | None, following: str | None) -> bool:
        """
        Return whether a block that has the next symbol ends with it, because of the one after it.

        With zones it does where they are of two zones, or no route has the second one.

        :param following: the symbol after it.
        """
        return self._word.ends_block(symbol, following)

    def current_distribution(self, symbol: str | None) -> dict[Any, float]:
        """Return `exact_current_distribution` as floats."""
        exact = self.exact_current_distribution(symbol)
        return {state: float(chance) for state, chance in exact.items()}

    def current_likelihood(self, output: Signal, known: Sequence[str | None] = ()) -> Floats:
        """
        Return the probability of the next output for each s_t, as `likelihood`.

        With zones, that of it and the zone: 0 for states outside. In a block, that where all its
        symbols so far are the same, but for those that are known.

        :param known: the first symbols of the block, at most all before s_t.
        """
        if isinstance(self._word, AdaptiveWord):
            return self._word.likelihood(output, known)
        return self.likelihood(str(output), self.previous)

    def _require_rows(self, instead: str) -> None:
        if self._tables is not None:
            raise ConfigurationError(_BY_HISTORY.format(instead), setting='policy')

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError('an online mechanism has the state of a word: make another one, do not '
                        'copy it')
