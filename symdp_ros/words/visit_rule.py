# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What follows from `protect`: when symbols are drawn, when regions go out, how far apart they are.

One rule for nodes, releases, calibration and exploration. It uses the map and the settings alone,
never what a robot did. D is the visit that is protected, a tick the step of the map (one second
where the map names none).

- Symbols: one in the shortest period that is longer than D. A visit then touches one symbol, so
  k = 1. More symbols, each with a share of ε, err more (`studies.visit_rule`).
- Regions go out with every tick: a signal in D seconds, and the most probable route in between
  (where that is more than 1,000 regions, with every few ticks). That needs the policy adaptive.
  Other policies, and alphabets, publish with each symbol.
- Logs, where the mechanism is open: causal, adaptive, as live.
- Moves between two reports: as many as a robot makes in that time, but for 1 in 20, if each of the
  public models moves it with its weight (`core.models`).

Settings that the user gives are kept.
"""
from collections.abc import Mapping
from dataclasses import replace
from math import comb
from typing import Any

from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.models import STAYING
from symdp_ros.core.registry import AUTO, LIVE, MOST_REPORTS
from symdp_ros.errors import ConfigurationError
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import as_fraction
from symdp_ros.words.sampling_settings import SamplingSettings

_TICK = 1.0       # seconds, of a map that names none
_RARELY = 0.05    # the share of robots that make more moves than are allowed between two reports
_MOST_MOVES = 12  # more make chains of so many moves that they say little
_MOST_DELAY = 1_000  # symbols


def settled(values: Mapping[str, Any], graph: TransitionGraph
            ) -> tuple[SamplingSettings, MechanismSettings]:
    """
    Return how a word is sampled and what draws it, with all that follows from `protect` decided.

    :param values: of options.
    :param graph: the map.
    :raises ConfigurationError: a delay that is shorter than a period, too long, or no whole
        number of symbols; a setting is not valid.
    """
    given, mechanism = SamplingSettings.of(values), MechanismSettings.of({**values, 'delay': None})
    sampling = _sampling(given, graph, mechanism)
    if sampling.reports > 1 and mechanism.selection != LIVE and _is_adaptive(mechanism):
        mechanism = replace(mechanism, selection='causal', policy='adaptive')
    return sampling, replace(mechanism, reports=sampling.reports,
                             delay=_delay(values.get('delay') or 0.0, sampling))


def _delay(delay: float, sampling: SamplingSettings) -> int:
    """Return the delay in symbols: it is given in seconds where a symbol takes some."""
    if not sampling.has_period:
        if delay != int(delay):
            raise ConfigurationError(f'delay is {delay:g}: without times it is a number of '
                                     'symbols', setting='delay')
        symbols, most = int(delay), f'{_MOST_DELAY:,} symbols'
    else:
        symbols = int(as_fraction(delay) / as_fraction(sampling.period))
        most = f'{_MOST_DELAY * sampling.period:g} s ({_MOST_DELAY:,} symbols)'
        if delay and not symbols:
            raise ConfigurationError(
                f'delay is {delay:g} s: it gains nothing below the time from one symbol to the '
                f'next, which is {sampling.period:g} s', setting='delay')
    if symbols > _MOST_DELAY:
        raise ConfigurationError(f'delay is {delay:g}: it must be at most {most}',
                                 setting='delay')
    return symbols


def _sampling(sampling: SamplingSettings, graph: TransitionGraph,
              mechanism: MechanismSettings) -> SamplingSettings:
    if not sampling.protect:
        return sampling
    tick, report = as_fraction(graph.tick or _TICK), as_fraction(sampling.report_period)
    between = not report and not sampling.moves and not graph.complete and (
        _is_adaptive(mechanism))  # whether the rule may let regions go out between symbols
    if sampling.period:
        period = as_fraction(sampling.period)
    elif graph.moves is not None and not between and not report:
        period = tick  # what such a map says of reports, it says of no others
    else:
        shortest = as_fraction(sampling.protect) // tick + 1
        step = report or tick * (-(-shortest // MOST_REPORTS) if between else 1)
        period = (as_fraction(sampling.protect) // step + 1) * step
    ticks = period / tick
    if between and ticks > 1 and ticks.denominator == 1:
        report = tick * next(each for each in range(-(-int(ticks) // MOST_REPORTS), int(ticks) + 1)
                             if not ticks % each)
    ticks, moves = (report or period) / tick, sampling.moves
    if not moves and ticks > 1 and graph.moves is None:
        moves = 1 if graph.complete else _moves(int(ticks), sampling.stay / float(tick))
    return replace(sampling, period=float(period), report_period=float(report), moves=moves)


def _is_adaptive(mechanism: MechanismSettings) -> bool:
    """Return whether regions may go out between symbols."""
    return mechanism.selection in (AUTO, LIVE, 'causal') and mechanism.policy in (
        AUTO, 'adaptive')


def _moves(ticks: int, stay: float) -> int:
    """
    Return the fewest moves that a robot exceeds in so many ticks with a chance of at most 1 in 20.

    :param stay: ticks for which it typically stays in a place; 0: not known.
    """
    chances = [1 / stay] if stay > 1 else [0.5, *(1 - share for share in STAYING)]
    weights = [1.0] if stay > 1 else [0.5, *[0.5 / len(STAYING)] * len(STAYING)]
    covered = 0.0
    for moves in range(min(ticks, _MOST_MOVES)):
        covered += sum(weight * comb(ticks, moves) * chance**moves * (1 - chance)**(ticks - moves)
                       for weight, chance in zip(weights, chances, strict=True))
        if moves and covered >= 1 - _RARELY:
            return moves
    return min(ticks, _MOST_MOVES)
