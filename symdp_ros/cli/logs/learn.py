# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp learn`: a chain's probabilities, from logs with privacy."""
import argparse

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.logs.log_arguments import check_period, listed_logs, new_account
from symdp_ros.cli.maps.chain import chain_path
from symdp_ros.cli.maps.check import add_chain_arguments, pruned_graph_of
from symdp_ros.cli.progress import tell
from symdp_ros.errors import ConfigurationError, LogError, printable, shell_word
from symdp_ros.ledger.charging import Charging
from symdp_ros.logs import LogState
from symdp_ros.options import (CLIP, LEARN_LEDGER, LEARN_UNIT, LEARNED_CHAIN, OF_LEARNED_LOGS,
                               PRIVACY)


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'learn', help='learn how a robot moves, from its logs with privacy',
        description='Counts, in logs of one robot, how often it stays and which moves it makes, '
                    'adds noise, and writes a chain file with probabilities. The file is public; '
                    'ε says what it may reveal about the logs, and is charged to the ledger. '
                    'Mechanisms that know how a robot moves make fewer errors at the same ε: '
                    '`symdp calibrate` shows how many fewer.')
    parser.add_argument('logs', metavar='LOG', nargs='*', default=[],
                        help='a log, or a directory of logs; its file name is its id, and public')
    add_arguments(parser, [LEARNED_CHAIN])
    add_chain_arguments(parser.add_argument_group('map'), '--map', '--chain')
    add_arguments(parser.add_argument_group('privacy'), (*PRIVACY, LEARN_UNIT, CLIP))
    add_arguments(parser.add_argument_group('ledger'), LEARN_LEDGER)
    add_arguments(parser.add_argument_group('reading'), OF_LEARNED_LOGS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn the chain; return 0."""
    from rich.console import Console
    from symdp_ros.ledger.ledger import Ledger
    from symdp_ros.release.learned import learn_from_logs, LearnSettings
    from symdp_ros.release.settings import check_apart, ReleaseSettings

    check_period(options)
    if not options.logs:
        raise ConfigurationError('there is nothing to learn from: name logs')
    if not options.ledger or not options.subject:
        raise ConfigurationError('what is learned from logs is charged: give --ledger, and '
                                 '--subject, the robot whose logs these are')
    if options.unit == 'log' and options.adjacency:
        raise ConfigurationError('--adjacency counts symbols, and --unit log protects a whole '
                                 'log: give one of them')
    if options.unit != 'log' and options.clip != CLIP.default:
        raise ConfigurationError('--clip is for --unit log: leave it out')
    charging = Charging.of(vars(options))
    graph, values = pruned_graph_of(options), vars(options)
    if options.unit == 'log' and not options.protect:
        values = {**values, 'adjacency': 1}  # not used
    # Moves of one step of the map are counted, and none between the regions that a symbol brings.
    values = {**values, 'period': options.period or graph.tick or 1.0, 'mechanism': 'exponential'}
    settings = LearnSettings(ReleaseSettings.of(graph, values, refuse_frames=True),
                             clip=options.clip if options.unit == 'log' else 0)
    settings.reading.check()
    output = chain_path(options.output)
    if not output.parent.is_dir():
        raise ConfigurationError(f'{printable(output.parent)} is no directory: make it first')
    check_apart(options.ledger, output.parent)
    logs, skipped = listed_logs(options.logs)
    for log in skipped:
        if log.state is not LogState.ARCHIVE:
            raise LogError(f'{printable(log.name)}: {log.reason}')
        tell('learn', f'{printable(log.name)} is skipped: it is an archive of routes, and no log')
    with Ledger(options.ledger) as ledger:
        if note := new_account(ledger, charging.subject):
            tell('learn', note)
        charging.keep_in(ledger)
        outcome = learn_from_logs(
            settings, logs, output, ledger=ledger, subject=charging.subject,
            subject_budget=charging.subject_budget, wait=float('inf'),
            on_wait=lambda: tell('learn', 'another process is releasing into this directory: '
                                 'waiting until it is done'))
        account = ledger.account(charging.subject)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    before = ', as before: nothing more is spent' if outcome.kind == 'already released' else ''
    console.print(f'{printable(outcome.files[0])}: learned from {len(logs)} logs, '
                  f'{outcome.length:,} symbols{before}; ε = {options.epsilon:g} for '
                  f'{settings.unit_text}')
    for sentence in filter(None, (outcome.reason, str(account), account.repeated_text)):
        console.print(sentence)
    console.print(f'what it gains: symdp calibrate {shell_word(outcome.files[0])}')
    return 0
