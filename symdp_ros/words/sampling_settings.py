# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of sampling, live and of logs: what a symbol is, and what ε protects."""
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TYPE_CHECKING

from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.dead_ends import require_moves
from symdp_ros.maps.reports import adjacency_of, Reports
from symdp_ros.settings import check_choice, settings_of
from symdp_ros.words import stamps
from symdp_ros.words.rules import LOG_UNKNOWN_SYMBOL, SAMPLING

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain
    from symdp_ros.maps.graph import TransitionGraph

_SHORTEST = 0.001  # seconds, of a period


@dataclass(frozen=True)
class SamplingSettings:
    """
    What a symbol of a word is.

    :param rule: 'message', 'change' or 'period': the option `sampling`.
    :param period: T > 0, seconds; used by 'period' alone. 0: not set (`words.visit_rule`).
    :param input_timeout: seconds, for 'period' alone; 0: never.
    :param unknown_symbol: what becomes of unknown regions (`words.sampling`).
    :param protect: D ≥ 0, seconds that ε protects, for 'period' alone; 0: k symbols.
    :param moves, stay, report_period: of `maps.reports.Reports`, for 'period' alone; 0: not set.
    """

    rule: str = 'message'
    period: float = 0.0
    input_timeout: float = 0.0
    unknown_symbol: str = 'uniform'
    protect: float = 0.0
    moves: int = 0
    stay: float = 0.0
    report_period: float = 0.0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'SamplingSettings':
        """
        Return those among the values of options; without the option `sampling`, defaults.

        Where `sampling` is not set, it is 'period' with `protect`, and else 'message'. A period
        that is not set is a second, unless it follows from `protect` (`words.visit_rule`).
        """
        if 'sampling' not in values:
            return cls()
        given = settings_of(cls, {**values, 'sampling': values['sampling'] or ''}, rule='sampling')
        if not given.rule:
            given = replace(given, rule='period' if given.protect else 'message')
        return given if given.period or given.protect or not given.has_period else replace(
            given, period=1.0)

    @property
    def has_period(self) -> bool:
        """Return whether there is one symbol in each period."""
        return self.rule == 'period'

    @property
    def reports(self) -> int:
        """
        Return how many private symbols there are for each symbol.

        :raises ConfigurationError: `period` is no multiple of `report_period`.
        """
        return self._of_reports.each if self.has_period else 1

    @property
    def seconds(self) -> float:
        """Return how many seconds there are from one private symbol to the next."""
        return (self.report_period or self.period) if self.has_period else 1.0

    @property
    def _of_reports(self) -> Reports:
        return Reports(self.period, self.moves, self.stay, self.report_period)

    def check(self, chain: 'Chain | None' = None,
              unknown_symbols: Collection[str] = LOG_UNKNOWN_SYMBOL) -> None:
        """
        Check that the settings are valid, and agree with one another and with the chain.

        :param chain: None: its states are not checked.
        :param unknown_symbols: what `unknown_symbol` may be.
        :raises ConfigurationError: a setting is not valid, or they do not agree.
        """
        check_choice('sampling', self.rule, SAMPLING)
        check_choice('unknown_symbol', self.unknown_symbol, unknown_symbols)
        stamps.from_seconds(self.input_timeout, 'input_timeout', zero=True)
        self._check_visits()
        if not self.has_period:
            if self.input_timeout:
                raise ConfigurationError('input_timeout needs sampling: period',
                                         setting='input_timeout')
            return
        stamps.from_seconds(self.period, 'period')
        if self.period < _SHORTEST:
            raise ConfigurationError(f'period is {self.period:g} s: it must be at least '
                                     f'{_SHORTEST:g} s', setting='period')
        stamps.from_seconds(self.report_period, 'report_period', zero=True)
        if self.unknown_symbol == 'drop':
            raise ConfigurationError('sampling: period and unknown_symbol: drop contradict each '
                                     'other: missing symbols would show when the region is '
                                     'unknown', setting='unknown_symbol')
        stuck = chain.states_without_staying() if chain is not None else ()
        if stuck:
            raise ConfigurationError(
                'sampling: period needs a chain in which every state can follow itself, and '
                f'{len(stuck)} of its states cannot, such as {stuck[0]!r}: set self_loops: true '
                '(--self-loops)', setting='self_loops')

    def _check_visits(self) -> None:
        for name in ('protect', 'moves', 'stay', 'report_period'):
            if getattr(self, name) and not self.has_period:
                raise ConfigurationError(f'{name} needs sampling: period', setting=name)

    def chain(self, graph: 'TransitionGraph') -> 'Chain':
        """
        Return the chain that a map makes of symbols: with a period, that of reports.

        With `protect` a robot can stay in every place, unless the map has probabilities.

        :raises ChainError: with the file and the place in it.
        :raises ConfigurationError: the settings fit neither one another nor the map.
        """
        self._check_visits()
        if self.protect:
            graph = graph.with_staying()
        require_moves(graph)
        return self._of_reports.chain(graph) if self.has_period else graph.chain()

    def privacy(self, epsilon: float, adjacency: int,
                zones: Mapping[str, Iterable[str]] | None = None) -> Privacy:
        """
        Return ε, k and zones; with `protect`, k is how many symbols a visit touches.

        :param adjacency: 0: not set.
        :raises PrivacyError: they are not valid.
        :raises ConfigurationError: neither `protect` nor an adjacency is given, or both; zones
            with the sampling 'change', where the number of changes since a zone was entered can
            tell the place in it.
        """
        if zones is not None and self.rule == 'change':
            raise ConfigurationError(
                'zones_file and sampling: change do not go together: the number of changes since '
                'a zone was entered can be the place. Use sampling: period', setting='zones_file')
        if not self.protect:
            if not adjacency:
                raise ConfigurationError(
                    'say what is hidden: protect: 30.0 hides any visit of 30 s (adjacency: k, for '
                    'those who count symbols, hides any k symbols)', setting='protect')
            return Privacy(epsilon, adjacency, zones)
        if adjacency:
            raise ConfigurationError('protect and adjacency are two ways to say what ε protects: '
                                     'give one of them', setting='protect')
        return Privacy(epsilon, adjacency_of(self.protect, self.period), zones)

    def symbols(self) -> dict[str, Any]:
        """Return what a symbol is, for people to read."""
        return {'sampling': self.rule} | ({'period': self.period} if self.has_period else {}) | (
            {'report_period': self.report_period} if self.report_period else {})

    def described(self) -> dict[str, Any]:
        """Return what the word that is sampled from a log depends on, for people to read."""
        timeout = {'input_timeout': self.input_timeout} if self.has_period else {}
        return self.symbols() | {'unknown_symbol': self.unknown_symbol} | timeout
