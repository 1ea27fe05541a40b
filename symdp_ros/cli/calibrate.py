# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`symdp calibrate FILE`: choose ε, by expected errors and what an adversary can guess.

With `--protect`, it compares periods of time instead (`cli.calibrate_visits`).
"""
from dataclasses import replace
from functools import partial
from pathlib import Path
import sys
from time import perf_counter

from symdp_ros.analysis.accuracy import robots
from symdp_ros.analysis.adversary import best_guess, Guess
from symdp_ros.analysis.alternatives import fewest_differences, single_moves
from symdp_ros.analysis.calibration import Calibration, DELAYS
from symdp_ros.cli import calibrate_visits
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, chain_of
from symdp_ros.cli.maps.zones import guessed_in_zones, print_zones
from symdp_ros.cli.printed_tables import ruled_table
from symdp_ros.cli.progress import announce, progress
from symdp_ros.core.chain import Chain
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.registry import DEFAULT_POLICY, LIVE as LIVE_DRAWS
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.reports import certainty
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.options import (CALIBRATED_ADJACENCY, CALIBRATED_DELAY, CALIBRATED_EPSILON, LENGTH,
                               LOG_WORD, PLOT, SECONDS, STAY, TARGET_ERROR, TRUST, VISIT,
                               VISIT_YAML, WALKS, ZONES_FILE)

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
_TRIED = 12                # ε for a target error, about
_COMPARED_AT = 2.0         # the ε at which every robot is shown, and what auto takes
_WALKS, _LEAST_WALKS = 220, 40  # of all robots together, and of each
_FEWEST_WALKS = 4               # of each, where time is short
_AT_ONCE = 1.5                 # jobs, about
_GUESSED = DEFAULT_POLICY  # the policy that the adversary observes
_MOST_STEPS = 4 * 10**9    # at about a million per second
_STEPS_OF_A_SYMBOL = 50    # besides one for each state


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'calibrate', help='choose ε: expected errors and what an adversary can guess',
        description='Prints the ε that each mechanism needs for an expected error, the expected '
                    'error for several ε, and how often an adversary guesses the true region. '
                    'No data is needed: routes are simulated, and are the same in every call. How '
                    'the robot moves is rarely known: so several robots are simulated, which stay '
                    'longer or less long, and the best and the worst are shown. With --protect, '
                    'it speaks of time: with which period, and how late, a visit of so many '
                    'seconds is protected with the fewest errors.')
    add_chain_arguments(parser)
    add_arguments(parser, (LENGTH, CALIBRATED_ADJACENCY, CALIBRATED_EPSILON, CALIBRATED_DELAY,
                           ZONES_FILE, TRUST, TARGET_ERROR, WALKS, SECONDS, LOG_WORD, PLOT))
    add_arguments(parser.add_argument_group('visits'), (VISIT, STAY, VISIT_YAML))
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the tables; return 0."""
    from rich.console import Console

    if options.plot:
        from symdp_ros.figures.routes import check_figure
        check_figure(options.plot)
    if options.protect:
        return calibrate_visits.run(options)
    for name in ('stay', 'yaml'):
        if getattr(options, name):
            raise ConfigurationError(f'--{name} is for --protect: give both, or leave it out')
    if not options.delay.is_integer():
        raise ConfigurationError(f'--delay is {options.delay:g}: without --protect it must be a '
                                 'whole number of symbols; with --protect, it is in seconds')
    delay = int(options.delay)
    shown_at = _COMPARED_AT if options.epsilon is None else options.epsilon
    chain = chain_of(options)
    privacy = Privacy(shown_at, options.adjacency, MapSettings.of(vars(options)).zones())
    word = _word(options, chain)
    length = options.length if word is None else len(word)
    walking = robots(chain, options.trust) if word is None else {}
    walks = options.walks or max(_LEAST_WALKS, _WALKS // max(1, len(walking)))
    guessed = _GUESSED if privacy.zones is None else 'adaptive'
    if word is None:
        _check_work(options, chain, walks)
        tried = len(EPSILONS) + (_TRIED if options.target_error else 0)
        walks, takes = _within(options, chain, privacy, guessed, walking, walks, tried)
        announce(f'{walks} routes of each robot', takes)
    calibration = Calibration(chain, options.adjacency, length, word=word, walks=walks,
                              trust=options.trust, robots=walking,
                              delays=sorted({delay, *DELAYS} - {0}), zones=privacy.zones)
    names = calibration.mechanisms()
    guesses: dict[float, list[Guess]] = {}
    taken = _taken(chain, privacy, length, delay, options)

    def guess(epsilon: float) -> None:
        mechanism = OnlineMechanism(chain, replace(privacy, epsilon=epsilon), policy=guessed,
                                    trust=options.trust)
        guesses[epsilon] = [best_guess(mechanism, length, walks=walks, walks_by=robot)
                            for robot in walking.values()]
        done(f'the best guess at ε = {epsilon:g}')

    console = Console(highlight=False, markup=False)
    source = (f'for the word of {printable(options.word)}' if word is not None
              else f'averaged over {walks} walks')
    console.print(f'{printable(options.chain_file)}: {len(chain)} states; {length} symbols, '
                  f'k = {options.adjacency}; {source}')
    if word is not None:
        print('symdp calibrate: this result is as sensitive as the word it is made from',
              file=sys.stderr)
    else:
        console.print(f'how it moves: {chain.how_it_moves(options.trust)}')
    with progress((len(names) if options.target_error else 0)
                  + len(EPSILONS) * (len(names) + (word is None))) as done:
        others = [partial(guess, epsilon) for epsilon in EPSILONS]
        table = calibration.table(EPSILONS, done, others if word is None else [])
        calibration.table([shown_at])
        needed = calibration.needed(options.target_error, done) if options.target_error else {}
    several = len(walking) > 1
    which = ': the robot of fewest errors – that of most' if several else ''
    if needed:
        console.print(f'ε for an expected error of {options.target_error:g}{which}',
                      _needed(needed, calibration, several), sep='\n')
    console.print(f'expected error, in % of the symbols, by ε{which}',
                  _errors(calibration, names),
                  'live    what nodes do, by policy; the others are for logs only',
                  'causal  guided for logs '
                  + ('errs as this policy does live' if options.adjacency <= length else
                     f'errs less, as this policy does live at k = {length}:\n        a log of so '
                     'few symbols cannot change in more'), sep='\n')
    if several:
        console.print(f'by robot, at ε = {shown_at:g}, with what auto takes; a stay is in one '
                      'place, on average', _by_robot(calibration, taken, shown_at), sep='\n')
    elif word is None:
        [stay] = calibration.mean_stay.values()
        console.print(f'these walks stay {stay:.1f} symbols in a place, on average: of a robot '
                      'that stays longer, fewer symbols are wrong, and of one that moves more, '
                      'more')
    if word is None:
        error = max(error.standard_error for epsilon in EPSILONS for name in names
                    for error in calibration.errors(name, epsilon).values())
        console.print(f'standard errors: at most {100 * error:.1f} %')
        console.print(_said(taken, shown_at, delay))
        hidden = ':\nthe robot that is hidden most – least' if several else ''
        console.print('how often an adversary names the region, who knows the map and how the '
                      f'robot\nmoves, without and with private regions (live, {guessed}){hidden}',
                      _guesses(guesses), sep='\n')
        if privacy.zones is not None:
            print_zones(chain, privacy, guessed_in_zones(chain, privacy, options.trust))
    console.print(_costs(options))
    highest = max((epsilon or 0.0 for _, epsilon in needed.values()), default=0.0)
    for epsilon in [shown_at] + [highest] * (highest > 5):  # which sounds small, and hides little
        console.print(f'at ε = {epsilon:.3g}, {certainty(epsilon)}')
    console.print(_alternatives(chain, options.adjacency))
    if sentence := single_moves(chain):
        console.print(sentence)
    if options.plot:
        from symdp_ros.figures.routes import draw_curves
        shown = {name: name if name.startswith(LIVE_DRAWS) else f'{name} (logs only)'
                 for name in names}
        draw_curves({shown[name]: [(epsilon, row[name].mean, row[name].standard_error)
                                   for epsilon, row in table.items()]
                     for name in names}, options.plot,
                    x='ε', y='expected error: share of symbols that are wrong',
                    title=f'{printable(Path(options.chain_file).name)}: {length} symbols, '
                          f'k = {options.adjacency}', target=options.target_error,
                    dashed=[shown[name] for name in names if not name.startswith(LIVE_DRAWS)])
        console.print(f'drawn in {printable(options.plot)}')
    return 0


def _check_work(options, chain, walks):
    most = _MOST_STEPS // (len(chain) + _STEPS_OF_A_SYMBOL)
    if options.length * walks > most:
        raise ConfigurationError(
            f'{walks:,} walks of {options.length:,} symbols on {len(chain):,} states '
            'would take many hours: give a smaller --length or fewer --walks, whose product is '
            f'at most {most:,}')


def _within(options, chain, privacy, guessed, walking, walks, tried):
    """
    Return with how many walks it takes about --seconds, at least 4, and how long it takes.

    :param walks: without --seconds; those of --walks are taken as they are.
    :param tried: so many ε.
    """
    few = Calibration(chain, options.adjacency, options.length, walks=2, trust=options.trust,
                      robots=walking, zones=privacy.zones)
    observed = OnlineMechanism(chain, privacy, policy=guessed, trust=options.trust)

    def guess():
        for robot in walking.values():
            best_guess(observed, options.length, walks=2, walks_by=robot)

    def seconds(measured, *arguments):
        begin = perf_counter()
        measured(*arguments)
        return perf_counter() - begin

    small = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    Calibration(small, 1, 3, walks=2).table([1.0])  # loads what is loaded once
    best_guess(OnlineMechanism(small, Privacy(1.0)), 3, walks=2)
    # While this one is there, `few` shares its tables.
    adaptive = []
    tables = seconds(lambda: adaptive.append(OnlineMechanism(
        chain, privacy, policy='adaptive', trust=options.trust)))
    one = (seconds(guess) + sum(seconds(few.errors, name, privacy.epsilon)
                                for name in few.mechanisms())) / 2

    def takes(count):
        return tried * (2 * tables + count * one) / _AT_ONCE

    while not options.walks and walks > _FEWEST_WALKS and takes(walks) > options.seconds:
        walks = max(_FEWEST_WALKS, walks // 2)
    return walks, takes(walks)


def _word(options, chain):
    if options.word is None:
        return None
    from symdp_ros.logs import read_log, sample

    words = sample(read_log(Path(options.word)), InputSettings().table(chain.states))
    if not words or all(symbol is None for symbol in words[0]):
        raise ConfigurationError(f'{options.word}: it names no state of the chain')
    return words[0]


def _needed(epsilons, calibration, several):
    from rich.table import Table

    def cell(name, epsilon, pick):
        if epsilon is None:
            return 'above 60'
        errors = calibration.errors(name, epsilon)
        robot = pick(errors, key=lambda robot: errors[robot].mean)
        return f'{epsilon:.3g}' + (f' ({robot})' if several else '')

    table = Table(show_header=False)
    for name, (best, worst) in epsilons.items():
        table.add_row(name, *([cell(name, best, min)] if several else []),
                      cell(name, worst, max))
    return table


def _errors(calibration, names):
    table = ruled_table('ε', *(f'>{epsilon:g}' for epsilon in EPSILONS),
                        padding=0)  # so narrow that it fits into 80 columns
    for name in names:
        table.add_row(name, *(_range(
            [error.mean for error in calibration.errors(name, epsilon).values()])
            for epsilon in EPSILONS))
    return table


def _range(values):
    """Return the least and the largest, or the only one, in percent."""
    if len(values) == 1:
        return f'{100 * values[0]:.1f} %'
    return f'{100 * min(values):.0f}–{100 * max(values):.0f} %'


def _taken(chain, privacy, length, delay, options):
    """Return what auto takes, by the function that nodes and releases use."""
    live = choose(chain, privacy, MechanismSettings(LIVE_DRAWS, trust=options.trust,
                                                    delay=delay))
    logged = choose(chain, privacy.for_length(length), MechanismSettings(trust=options.trust),
                    length)
    return live.policy, logged.name


def _said(taken, epsilon, delay):
    given = f', with delay: {delay}' if delay else ''
    return (f'what auto takes at ε = {epsilon:g}{given}: live, {taken[0]}; for logs: {taken[1]}')


def _by_robot(calibration, taken, epsilon):
    table = ruled_table('robot', '>a stay', f'>live, {taken[0]}', f'>{taken[1]}')
    live = f'live, {taken[0]}'
    # Of logs, causal, guided is not computed again.
    logged = taken[1] if taken[1] in calibration.mechanisms() else (
        f'live, {taken[1].removeprefix("causal, ")}')
    errors = [calibration.errors(name, epsilon) for name in (live, logged)]
    for robot, stay in calibration.mean_stay.items():
        table.add_row(robot, f'{stay:.1f} symbols',
                      *(f'{100 * of[robot].mean:.1f} %' for of in errors))
    return table


def _guesses(guesses_at):
    table = ruled_table('>ε', '>without them', '>with them')
    for epsilon, guesses in guesses_at.items():
        table.add_row(f'{epsilon:g}', _range([guess.before for guess in guesses]),
                      _range([guess.after for guess in guesses]) + (
                          f' ± {100 * guesses[0].standard_error:.1f} %'
                          if len(guesses) == 1 else ''))
    return table


def _costs(options):
    k = options.adjacency
    return (f'words that differ in {k} symbol{"" if k == 1 else "s"} are protected by ε, in '
            f'{2 * k} by 2·ε, in {10 * k} by 10·ε')


def _alternatives(chain, adjacency):
    fewest = fewest_differences(chain)
    if fewest.positions is None:
        return 'no two routes of one length join the same ends on this map'
    bound = '' if fewest.exact else 'at least '
    advice = (f'; k = {adjacency} protects no real alternative: choose a k at least as large'
              if adjacency < fewest.positions else '')
    return (f'two routes between the same ends can differ in as few as {bound}{fewest.positions} '
            f'symbol{"" if fewest.positions == 1 else "s"}{advice}')
