"""`symdp release LOG… -o DIR`: privatize logs, without ROS."""
from contextlib import ExitStack
from pathlib import Path

from symdp_ros.cli.check import add_chain_arguments, chain_of
from symdp_ros.core.errors import ConfigurationError
from symdp_ros.core.online import POLICIES
from symdp_ros.core.privacy import Privacy

MECHANISMS = ('exponential', 'permute_and_flip', 'causal', 'auto')


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'release', help='privatize logged patrols',
        description='Privatizes rosbag2 recordings (sqlite3, mcap), CSV (stamp,symbol) and JSON '
                    'Lines into DIR. With a ledger, repeated releases add up, and a log that was '
                    'released before under the same settings is handed out again at no cost. '
                    'Exit status 1 where any log was refused or failed.')
    parser.add_argument('logs', metavar='LOG', nargs='+',
                        help='a log, or a directory of logs; its file name is its id, and public')
    parser.add_argument('-o', '--output', metavar='DIR', required=True,
                        help='where releases go; made where it is missing')
    chain = parser.add_argument_group('privacy')
    add_chain_arguments(chain, '--chain')
    chain.add_argument('--epsilon', type=float, required=True, help='ε ≥ 0: smaller is more private')
    chain.add_argument('--adjacency', type=int, default=1, help='k ≥ 1; default: 1')
    chain.add_argument('--mechanism', choices=MECHANISMS, default='exponential',
                       help='auto: as errs least, from chain, ε, k and length alone; default: '
                            'exponential')
    chain.add_argument('--policy', choices=POLICIES, default='guided',
                       help='of causal; default: guided')
    ledger = parser.add_argument_group('ledger')
    ledger.add_argument('--ledger', metavar='FILE', help='made where it is missing; not in DIR')
    ledger.add_argument('--subject', metavar='NAME', help='whose logs these are: one robot')
    ledger.add_argument('--budget', type=float, default=0.0,
                        help='the total ε that one log may ever spend; default: no limit')
    ledger.add_argument('--subject-budget', type=float, default=0.0,
                        help='the total ε that the subject may ever spend; default: no limit')
    reading = parser.add_argument_group('reading and writing')
    reading.add_argument('--topic', default='region', help='of recordings; default: region')
    reading.add_argument('--message-type', metavar='TYPE', help='default: the recorded one')
    reading.add_argument('--field', default='data', help='dotted path; default: data')
    reading.add_argument('--stamp-key', default='stamp', help='CSV column or JSON key')
    reading.add_argument('--symbol-key', default='symbol', help='CSV column or JSON key')
    reading.add_argument('--symbol-map', metavar='VALUE=STATE', action='append', default=[],
                         help='may be given several times')
    reading.add_argument('--sampling', choices=('message', 'change', 'period'), default='message',
                         help='what a symbol is; default: message')
    reading.add_argument('--period', type=float, default=1.0, help='seconds; default: 1')
    reading.add_argument('--input-timeout', type=float, default=0.0,
                         help='with period: seconds until a region is unknown; default: never')
    reading.add_argument('--unknown-symbol', choices=('uniform', 'drop', 'split', 'hold'),
                         default='uniform',
                         help='unknown regions are symbols drawn uniformly (default), are dropped '
                              '(their number is then public), split the log (where is then '
                              'public), or hold the last region (ε covers the held word)')
    reading.add_argument('--format', choices=('csv', 'jsonl', 'sqlite3', 'mcap'), default='csv',
                         help='of releases; default: csv')
    reading.add_argument('--keep-names', action='store_true',
                         help='name releases after logs, not by number: names tell what they tell')
    parser.set_defaults(run=run)


def run(options) -> int:
    """Release the logs; return 0 where all were."""
    from symdp_ros.release.engine import Releaser, ReleaseSettings, check_apart
    from symdp_ros.release.ledger import Ledger

    if (options.ledger is None) != (options.subject is None):
        raise ConfigurationError('--ledger and --subject belong together: the ledger keeps what '
                                 'each subject has spent')
    if options.ledger is None and (options.budget or options.subject_budget):
        raise ConfigurationError('a budget needs a --ledger to keep it in')
    for name in ('budget', 'subject_budget'):
        if not 0 <= getattr(options, name) < float('inf'):
            raise ConfigurationError(f'{name} must be a finite number, at least 0')
    chain = chain_of(options)
    same = ('mechanism', 'policy', 'topic', 'message_type', 'field', 'stamp_key', 'symbol_key',
            'sampling', 'period', 'input_timeout', 'unknown_symbol', 'format', 'keep_names')
    settings = ReleaseSettings(
        chain, Privacy(options.epsilon, options.adjacency),
        symbol_map=tuple(options.symbol_map),
        **{name: getattr(options, name) for name in same})
    logs, skipped = _logs(options.logs)
    output = Path(options.output)
    if options.ledger:
        check_apart(options.ledger, output)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f'{output} cannot be made: {error.strerror}') from None
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(options.ledger)) if options.ledger else None
        releaser = stack.enter_context(Releaser(
            settings, output, ledger=ledger, subject=options.subject or '', budget=options.budget,
            subject_budget=options.subject_budget, hand_out_again=True))
        report = _with_progress(releaser, logs, skipped)
        spent = ledger.spent(options.subject) if ledger else None
    _print(report, options, spent)
    return 0 if report.ok else 1


def _logs(names):
    """Return the logs that the arguments name, and what was skipped as still being recorded."""
    from symdp_ros.logs import LogFile, list_logs

    logs, skipped = [], []
    for name in names:
        path = Path(name)
        if path.is_dir() and not (path / 'metadata.yaml').exists():
            listing = list_logs(path)
            logs += listing.logs
            skipped += listing.skipped
        else:
            logs.append(LogFile(path.resolve().name, path))
    seen = set()
    for log in logs:
        if not log.id.isprintable():
            raise ConfigurationError(f'the name of the log {log.id!a} holds characters that cannot '
                                     'be printed: rename it')
        if log.id in seen:
            raise ConfigurationError(f'two logs have the id {log.id!r}: a ledger could not tell '
                                     'them apart; rename one')
        seen.add(log.id)
    return logs, tuple(skipped)


def _with_progress(releaser, logs, skipped):
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal or len(logs) < 2) as progress:
        bar = progress.add_task('releasing', total=len(logs))
        return releaser.release_all(logs, tell=lambda outcome: progress.advance(bar),
                                    skipped=skipped)


def _print(report, options, spent):
    from rich.console import Console
    from rich.table import Table

    from symdp_ros.release.ledger import as_text

    table = Table(box=None, pad_edge=False, header_style='bold')
    for column, justify in (('log', 'left'), ('symbols', 'right'), ('result', 'left'),
                            ('release', 'left')):
        table.add_column(column, justify=justify, overflow='fold')
    for outcome in report.outcomes:
        table.add_row(outcome.log_id, '' if outcome.length is None else str(outcome.length),
                      outcome.kind, outcome.reason or ', '.join(p.name for p in outcome.files))
    for name, reason in report.skipped:
        table.add_row(name, '', 'skipped', reason)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f'{report.counted()}; ε = {options.epsilon:g} and k = {options.adjacency} for each log')
    if spent is not None:
        limit = f' of {options.subject_budget:g}' if options.subject_budget else ''
        console.print(f'{options.subject} has spent ε = {as_text(spent)}{limit} in all')
