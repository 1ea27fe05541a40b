# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Reports that are seconds apart: the chain between them, and how many symbols a visit touches.

With `sampling: period`, there is one symbol every T seconds. A visit of D seconds touches up to
⌊D/T⌋ + 1 of them, which is then k. Fewer symbols mean a smaller k, and so less noise. Reports,
what is published, go out with the symbols, or more often: every `report_period`. Between two of
them the robot may make several moves.
"""
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import exp

from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.graph import TransitionGraph

_TICK = 1.0  # seconds: the step of a map that names none, where reports are several steps apart


@dataclass(frozen=True)
class Reports:
    """
    When a robot reports, and what is known of how it moves.

    :param period: T > 0, seconds from one symbol to the next.
    :param moves: the most moves between two reports; 0: each report is one step of the chain.
    :param stay: seconds for which the robot typically stays in a place; 0: not known.
    :param report_period: > 0, seconds from one report to the next; 0: T.
    """

    period: float
    moves: int = 0
    stay: float = 0.0
    report_period: float = 0.0

    @property
    def each(self) -> int:
        """
        Return how many reports there are for each symbol.

        :raises ConfigurationError: it is no whole number.
        """
        if not self.report_period:
            return 1
        each = as_fraction(self.period) / as_fraction(self.report_period)
        if each.denominator != 1:
            raise ConfigurationError(
                f'report_period is {self.report_period:g} s: the period, {self.period:g} s, must '
                'be a whole number of times as long', setting='report_period')
        return int(each)

    def chain(self, graph: TransitionGraph) -> Chain:
        """
        Return the chain of reports.

        The step of the graph is its `tick`; where it names none, one report, or, where `moves` are
        given, one second.

        :raises ConfigurationError: the settings and the step do not fit together.
        :raises ChainError: as `TransitionGraph.chain` and `Chain.every`; `stay` for a graph that
            has probabilities of its own.
        """
        period = as_fraction(self.period) / self.each
        tick = None if graph.tick is None else as_fraction(graph.tick)
        if graph.moves is not None or not self.moves:
            if graph.moves is not None and self.moves not in (0, graph.moves):
                raise ConfigurationError(
                    f'the chain is one of reports within {graph.moves} moves of each other '
                    f'already: moves must be {graph.moves}, or left out', setting='moves',
                    path=graph.source or None)
            if tick not in (None, period):
                raise ConfigurationError(
                    f'a step of the chain is {graph.tick:g} s, and the {self._of_reports}: ' + (
                        'give the same period' if graph.moves is not None
                        else 'give the same period, or moves'), setting=self._setting,
                    path=graph.source or None)
            return self._with_stay(graph, period).chain()
        tick = as_fraction(_TICK) if tick is None else tick
        ticks = period / tick
        if ticks == 1 and self.report_period:
            raise ConfigurationError('private regions go out at every step of the chain: leave '
                                     'moves out', setting='moves', path=graph.source or None)
        if ticks.denominator != 1:
            raise ConfigurationError(
                f'the {self._of_reports}, no whole number of steps of the chain, which take '
                f'{float(tick):g} s' + (
                    ' (where the file does not give its tick)' if graph.tick is None else ''),
                setting=self._setting, path=graph.source or None)
        return self._with_stay(graph, tick).chain().every(int(ticks), self.moves)

    @property
    def _setting(self) -> str:
        return 'report_period' if self.report_period else 'period'

    @property
    def _of_reports(self) -> str:
        return f'{self._setting} is {getattr(self, self._setting):g} s'

    def _with_stay(self, graph: TransitionGraph, tick: Fraction) -> TransitionGraph:
        if not self.stay:
            return graph
        return graph.with_stay(float(1 - tick / as_fraction(self.stay)))


def adjacency_of(protect: float, period: float) -> int:
    """
    Return k = ⌊D/T⌋ + 1: how many symbols a visit touches.

    :param protect: D ≥ 0, seconds.
    :param period: T > 0, seconds from one symbol to the next.
    """
    return symbols_during(as_fraction(protect), as_fraction(period))


def period_of(protect: float, tick: float, adjacency: int) -> float:
    """
    Return the shortest period with which a visit touches at most k symbols, in seconds.

    :param protect: D ≥ 0, seconds.
    :param tick: > 0, seconds; the period is a whole number of them.
    :param adjacency: k ≥ 1.
    """
    visit = as_fraction(protect) // as_fraction(tick)
    return float(as_fraction(tick) * (visit // adjacency + 1))


def symbols_during(seconds: Fraction, period: Fraction) -> int:
    """Return how many symbols, one every `period` seconds, a change of some seconds may touch."""
    return seconds // period + 1


def as_fraction(number: float) -> Fraction:
    """Return a number, read as its shortest decimal, exactly."""
    return Fraction(Decimal(repr(float(number))))


def hidden(protect: float, privacy: Privacy) -> str:
    """Return what is hidden of a robot: a visit of D seconds, or where that is 0, k symbols."""
    inside = '' if privacy.zones is None else ' in its zone'
    if protect:
        return f'where it is{inside} during any {protect:g} s'
    k = privacy.adjacency
    return f'where it is{inside} at any {"symbol" if k == 1 else f"{k} symbols"}'


def protection(protect: float, privacy: Privacy) -> str:
    """Return what is protected of a visit of D seconds, in three sentences."""
    inside, same = (' in its zone', 'pass through the same zones at the same times, and ') if (
        privacy.zones is not None) else ('', '')
    return (f'protected: where the robot was{inside} during any {protect:g} s. Take two routes '
            f'that {same}differ only during those {protect:g} s. What others see is at most '
            f'e^{privacy.epsilon:g} times as likely for one as for the other')


def certainty(epsilon: float) -> str:
    """
    Return what ε means for an observer who thought two places equally likely.

    The odds rise by at most e^ε, from even: to e^ε : 1.
    """
    sure = 100 / (1 + exp(-epsilon))
    shown = 'practically' if sure > 99.95 else f'at most {sure:.3g} %'
    return ('an observer who thought two places equally likely, and knows all the rest, can then '
            f'be {shown} sure of one of them')
