# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp calibrate FILE --protect SECONDS`: the period for a visit of some length."""
import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from symdp_ros.analysis.visits import Errors, Row, VisitCalibration
from symdp_ros.cli.maps.check import graph_of
from symdp_ros.cli.maps.zones import print_zones
from symdp_ros.cli.parameter_file import parameter_text, parameters_of
from symdp_ros.cli.printed_tables import ruled_table
from symdp_ros.cli.progress import announce, progress
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.durable import check_new, write_new_file
from symdp_ros.files.processes import in_processes
from symdp_ros.maps.dead_ends import require_moves
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.reports import certainty, protection
from symdp_ros.words.sampling_settings import SamplingSettings

if TYPE_CHECKING:
    from rich.table import Table

_START = 1.0           # second, about: until other processes have begun
_TABLES, _ROWS = 3, 8  # about: of a row; rows until one has the wanted error
_ALIKE = 0.02  # the share of time that the rule may be wrong more than the best row


def run(options: argparse.Namespace) -> int:
    """Print the table; return 0."""
    from rich.console import Console

    if options.yaml:
        check_new(Path(options.yaml))
    if (options.epsilon is None) == (options.target_error is None):
        raise ConfigurationError('with --protect, give either --epsilon or --target-error')
    for name, default in (('adjacency', 1), ('word', None)):
        if getattr(options, name) != default:
            raise ConfigurationError(f'--{name} does not go with --protect: leave it out')
    graph = graph_of(options)
    require_moves(graph)
    zones = MapSettings.of(vars(options)).zones()
    visits = VisitCalibration(graph, protect=options.protect, stay=options.stay,
                              walks=options.walks, trust=options.trust, zones=zones)
    SamplingSettings('period', 1.0).check(visits.chain)  # as nodes do
    console = Console(highlight=False, markup=False, soft_wrap=True)
    tried = 1 if options.target_error is None else _ROWS
    console.print(f'{printable(options.chain_file)}: {len(visits.chain)} states; a visit of '
                  f'{options.protect:g} s is protected; live reports go out ' + (
                      f'up to {options.delay:g} s late' if options.delay else 'at once'))
    seconds = math.inf if options.walks else options.seconds
    processes = min(len(os.sched_getaffinity(0)), len(visits.periods))
    visits, takes = visits.within(seconds, lambda cost: len(visits.periods) / processes * (
        tried * (_TABLES * cost.tables + cost.ways) + cost.guess), delay=options.delay)
    if takes < _START:
        processes = 1
    announce(f'{visits.walks} routes of each robot', takes)
    console.print(f'how it moves: {visits.chain.how_it_moves(options.trust)}')

    row_of = (partial(visits.row, epsilon=options.epsilon, delay=options.delay)
              if options.target_error is None else
              partial(visits.row_for, target=options.target_error, delay=options.delay))
    rows = {}
    with progress(len(visits.periods)) as done, \
            closing(in_processes(row_of, visits.periods, processes)) as computed:
        for period, row in zip(visits.periods, computed, strict=True):
            rows[period] = row
            done(f'a symbol every {period:g} s')
    possible = [row for row in rows.values() if row is not None]
    missing = [f'{period:g} s' for period, row in rows.items() if row is None]
    if not possible:
        console.print(f'no ε up to 60 reaches an error of {options.target_error:g}: allow more, '
                      'or protect a shorter visit')
        return 0
    best = min(possible, key=lambda row: (row.live.wrong if options.target_error is None
                                          else row.epsilon))
    by_rule = next((row for row in possible if row.period == visits.by_rule()[0]), None)
    for title, table in _tables(possible, best, by_rule, options.target_error is not None):
        console.print(title)
        console.print(table)
    error = max(e.standard_error for r in possible for e in (r.live, r.logged))
    console.print(f'standard errors of wrong: at most {100 * error:.1f} % of the time')
    if len(visits.mean_stay) > 1:
        console.print(_by_robot(visits.by_robot(best), visits.mean_stay))
    if missing:
        console.print(f'no ε up to 60 reaches this error with a period of {", ".join(missing)}')
    live, logged = (None if by_rule is None else visits.errors_by_rule(by_rule, logged=logged)
                    for logged in (False, True))
    suffices = by_rule is not None and live is not None and by_rule.epsilon <= best.epsilon and (
        live.wrong <= best.live.wrong + _ALIKE)
    parameters = parameters_of(live if live is not None and suffices else best.live, best.period,
                               float(f'{best.epsilon:.3g}'), options, visits.tick,
                               by_rule=suffices)
    console.print(_explained(best, parameters))
    for errors, kind in ((live, 'live'), (logged, 'logs')):
        if errors is not None:
            console.print(f'→: what follows from protect alone: {kind}, {errors.mechanism}, a '
                          f'report every {errors.report_period:g} s; wrong {errors.wrong:.2f}')
    privacy = Privacy(best.epsilon, 1, zones)
    console.print(protection(options.protect, privacy))
    console.print(f'at ε = {best.epsilon:.3g}, {certainty(best.epsilon)}')
    if zones is not None:
        print_zones(visits.chain, privacy, [visits.guesses_in_zones(best)])
    if options.yaml:
        write_new_file(Path(options.yaml), parameter_text(
            parameters, options, 'symdp calibrate --protect'))
        console.print(f'parameters of a privatizer in {printable(options.yaml)}')
    if options.plot:
        _draw(possible, options)
        console.print(f'drawn in {printable(options.plot)}')
    return 0


def _tables(rows: Sequence[Row], best: Row, by_rule: Row | None,
            shows_epsilon: bool) -> 'Iterator[tuple[str, Table]]':
    """Yield (title, table) for live reports, and for logs; 80 columns wide at most."""
    titles = 'live', 'logs, released afterwards'
    for title, logged in zip(titles, (False, True), strict=True):
        table = ruled_table('>period', '>ε' if shows_epsilon else '>symbols', *(
            ['mechanism', '>report', '>wrong', '>off'] if logged else
            ['>report', '>delay', '>wrong', '>off', '>guessed']))
        least = min(rows, key=lambda row: row.logged.wrong) if logged else best
        for row in rows:
            errors = row.logged if logged else row.live
            marks = '→' * (row is by_rule) + '*' * (row is least)
            table.add_row(f'{marks} {row.period:g} s'.lstrip(),
                          f'{row.epsilon:.3g}' if shows_epsilon else str(row.adjacency),
                          *([errors.mechanism] if logged else []),
                          f'{errors.report_period:g} s',
                          *([] if logged else [f'{errors.delay or 0:g} s']),
                          f'{errors.wrong:.0%}'.replace('%', ' %'), _off(errors),
                          *([] if logged else [_guess(row)]))
        yield title, table


def _off(errors: Errors) -> str:
    if errors.metres_off is not None:
        return f'{errors.metres_off:.1f} m'
    return '–' if errors.moves_off is None else f'{errors.moves_off:.1f} moves'


def _by_robot(wrong: Mapping[str, float], stays: Mapping[str, float]) -> str:
    """Return how often the live row of fewest errors is wrong for each robot."""
    return '\n'.join(['by robot, in the row with * (the longer it stays, the fewer errors):', *(
        f'  {name}, on average {stays[name]:.3g} s in a place: wrong for {100 * share:.0f} % of '
        'the time' for name, share in wrong.items())])


def _guess(row: Row) -> str:
    return '–' if row.guess is None else f'{row.guess.before:.0%} → {row.guess.after:.0%}'.replace(
        '%', ' %')


def _explained(best: Row, parameters: Mapping[str, object]) -> str:
    """Return what the columns are, and the parameters of a node."""
    several = len(best.live.by_robot) > 1
    lines = [
        'period   from one symbol to the next: a look at the true place, with noise',
        'symbols  that a visit touches, k: the fewer, the less noise',
        'report   from one private region to the next; live it stands until then',
        'delay    how much later it goes out; --delay SECONDS allows more',
        'wrong    the share of time for which others see a wrong place'
        + (', on average over robots' if several else ''),
        'off      how far the private region is from the true one, on average',
        'guessed  how often an adversary is right who knows how the robot moves,',
        '         without → with what is published',
        '→        what protect alone gives',
        '*        the fewest errors (or the smallest ε); an adversary then guesses best',
        *([] if several else [
            'Were the true region told with each symbol, and held until the next, others would '
            f'be wrong for {100 * best.held:.0f} % of the time (row with *).']),
        'for a privatizer: ' + ', '.join(
            f'{name}: {"true" if value is True else printable(value)}'
            for name, value in parameters.items())]
    return '\n'.join(lines)


def _draw(rows: Sequence[Row], options: argparse.Namespace) -> None:
    from symdp_ros.figures.routes import draw_curves

    if options.target_error is None:
        curves = {name: [(row.period, errors.wrong, errors.standard_error)
                         for row, errors in zip(rows, column, strict=True)]
                  for name, column in (('live', [row.live for row in rows]),
                                       ('logs only', [row.logged for row in rows]))}
        curves['the truth, held'] = [(row.period, row.held, 0.0) for row in rows]
        y, title = 'share of time that is wrong', f'ε = {options.epsilon:g}'
    else:
        curves = {'live': [(row.period, row.epsilon, 0.0) for row in rows]}
        y, title = 'ε', f'wrong for {options.target_error:g} of the time'
    draw_curves(curves, options.plot, x='period (s)', y=y, dashed=['logs only'],
                share=options.target_error is None,
                title=f'{printable(Path(options.chain_file).name)}: a visit of '
                      f'{options.protect:g} s, {title}')
