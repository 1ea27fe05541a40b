# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp release`: privatize logs, or an archive of many routes, without ROS."""
from contextlib import ExitStack
from functools import partial
import os
from pathlib import Path

from symdp_ros import __version__
from symdp_ros.analysis.alternatives import single_moves
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.logs.log_arguments import (
    check_period, listed_logs, new_account, new_accounts)
from symdp_ros.cli.logs.topic_outcomes import OfTopics, print_topics
from symdp_ros.cli.maps.check import add_chain_arguments, pruned_graph_of
from symdp_ros.cli.printed_tables import plain_table
from symdp_ros.cli.progress import progress, tell
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.durable import make_directory
from symdp_ros.ledger.charging import Charging
from symdp_ros.maps.dead_ends import unreached
from symdp_ros.options import (ALLOW_UNKNOWN, DRY_RUN, KEEP, LOG_MECHANISM, OF_ARCHIVES, OF_LOGS,
                               OUTPUT, PRIVACY, PROTECT, RELEASE_LEDGER, STAMP_KEY, STAMP_UNIT,
                               SYMBOL_KEY, SYMBOL_MAP, warnings_of, ZONES_FILE)


_SHOWN = 3  # logs
_tell = partial(tell, 'release')


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'release', help='privatize logged patrols',
        usage='%(prog)s LOG [LOG ...] --map MAP --protect SECONDS --epsilon EPSILON -o DIR '
              '[more options]\n\n'
              'for example:\n'
              '  %(prog)s /data/patrols --map /maps/warehouse.geojson --initial-state 5 \\\n'
              '      --protect 30 --epsilon 1 -o /data/released --ledger /data/spent.ledger \\\n'
              '      --subject robot_1',
        description='Privatizes rosbag2 recordings (sqlite3, mcap), CSV (stamp,symbol) and JSON '
                    'Lines into DIR; or an archive of many routes (one Parquet file with the '
                    'columns route, position and symbol) into OUT.parquet, each route by itself. '
                    'A ledger adds up the ε of all releases; a log that was released before under '
                    'the same settings then costs nothing, and its release is written again (an '
                    'archive only while its release exists). Exit status 1 if any log was refused '
                    'or failed.')
    parser.add_argument('logs', metavar='LOG', nargs='+',
                        help='a log, or a directory of logs; or a single ARCHIVE.parquet. File '
                             'names are log ids, and public')
    add_arguments(parser, [OUTPUT])
    privacy = parser.add_argument_group('privacy')
    add_chain_arguments(privacy, '--map', '--chain')
    add_arguments(privacy, (PROTECT, *PRIVACY, ZONES_FILE, *LOG_MECHANISM))
    add_arguments(parser.add_argument_group('ledger'), RELEASE_LEDGER)
    add_arguments(parser.add_argument_group('before ε is spent'), (DRY_RUN, ALLOW_UNKNOWN))
    add_arguments(parser.add_argument_group('reading and writing'),
                  (SYMBOL_KEY, SYMBOL_MAP, STAMP_KEY, STAMP_UNIT, KEEP, *OF_LOGS))
    add_arguments(parser.add_argument_group('archives'), OF_ARCHIVES)
    parser.set_defaults(run=run)


def run(options) -> int:
    """Release the logs; return 0 where all were."""
    from rich.console import Console
    from symdp_ros.ledger.ledger import Ledger
    from symdp_ros.ledger.subjects import look_alike_texts
    from symdp_ros.release.archives.places import Remote, Upload
    from symdp_ros.release.settings import check_apart, ReleaseSettings

    output, archive = Path(options.output), _is_archive(options)
    charging = _charging(options, archive)
    check_period(options)
    for sentence in warnings_of({'epsilon': options.epsilon}, ()):
        _tell(sentence)
    settings = ReleaseSettings.of(pruned_graph_of(options), vars(options), archive=archive,
                                  refuse_frames=True)
    settings.check()
    for sentence in filter(None, (unreached(settings.chain), settings.pose_text)):
        _tell(sentence)
    logs, skipped = ([_archive(options, output)], ()) if archive else _logs(options, output)
    if options.ledger:
        check_apart(options.ledger, output)
    upload = Upload(Remote(options.upload), output) if options.upload else None
    if options.dry_run:
        from symdp_ros.cli.logs.dry_run import dry_run

        return dry_run(settings, logs, skipped, allow_unknown=options.allow_unknown,
                       ledger=options.ledger, charging=charging, on_message=_tell)
    directory = output.parent if archive else output
    make_directory(directory)
    choices: list[str] = []
    notes: list[str] = []
    topics: list[OfTopics] = []
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(options.ledger)) if options.ledger else None
        if ledger is not None and charging.subject:
            if note := new_account(ledger, charging.subject):
                _tell(note)
            charging.keep_in(ledger)
        is_first = ledger is not None and ledger.account(charging.subject).unit is None
        keeping = {**charging.limits(), 'ledger': ledger, 'wait': float('inf'),
                   'program': f'symdp_ros {__version__}', 'on_wait': lambda: _tell(
                       f'another process is releasing into {directory}: waiting until it is done')}
        report = _release_archive(options, settings, logs[0], choices.append, **keeping) \
            if archive else _release_logs(options, settings, logs, skipped, choices.append,
                                          topics, **keeping)
        account = ledger.account(charging.subject) if ledger and charging.subject else None
        if ledger and not charging.subject:
            choices += _charged(ledger, report, settings)
            notes = list(look_alike_texts(ledger.subjects()))
    _print(report, settings, account, choices, options.ledger)
    print_topics(Console(highlight=False, markup=False), topics, options.coarse_stamps)
    for note in notes:
        _tell(note)
    if account is not None and account.unit is not None and is_first:
        _tell(f'from now on, the ledger counts what {account.subject} spends for '
              f'{account.unit}. Releases that cannot be counted in this unit are refused')
    for problem in report.problems:
        _tell(problem)
    if upload is not None and report.ok:
        written = upload.put()
        print(f'{upload}: ' + ('uploaded' if written else 'it is there already'))
    return 0 if report.ok else 1


def _charging(options, archive):
    """Return whose ε is spent, after checking the options that say it, and all names."""
    if options.subject is not None and options.ledger is None \
            or options.subject is None and options.ledger is not None and not archive:
        raise ConfigurationError('--ledger and --subject belong together: the ledger keeps what '
                                 'each subject has spent')
    for name in ('subject', 'topic', 'field', 'level_field', 'map_frame', 'stamp_key',
                 'symbol_key', 'route_key', 'position_key', 'subject_key'):
        value = getattr(options, name) or ''
        if not value.isprintable():
            raise ConfigurationError(f'--{name.replace("_", "-")} {printable(value)} holds '
                                     'characters that cannot be printed: give a plain name')
    charging = Charging.of(vars(options))
    if options.ledger is None and charging.is_limited:
        raise ConfigurationError('--budget, --subject-budget, --accounting and --delta need a '
                                 '--ledger, which keeps what was spent')
    if archive and options.ledger and not options.subject and (
            charging.delta or charging.accounting not in ('', 'pure')):
        raise ConfigurationError('--accounting and --delta are for one --subject: give each '
                                 'subject of an archive its own with symdp ledger --set-budget')
    return charging


def _is_archive(options):
    """Return whether an archive is to be released, after checking the arguments for it."""
    archives = [name for name in options.logs if name.rstrip('/').lower().endswith('.parquet')
                or '://' in name
                or os.path.isdir(name) and options.output.endswith('.parquet')]
    if archives and len(options.logs) > 1:
        raise ConfigurationError(f'{archives[0]} is an archive: release it alone, with no '
                                 'other logs')
    if archives and not options.output.endswith('.parquet'):
        raise ConfigurationError(f'{archives[0]} is an archive: name its release as a file, '
                                 '-o OUT.parquet')
    if not archives and (folder := _dataset_in(options.logs)):
        raise ConfigurationError(f'{folder} is a directory of Parquet files, an archive: name its '
                                 'release -o OUT.parquet')
    if not archives and options.output.endswith('.parquet'):
        raise ConfigurationError(f'{options.output} would be the release of an archive: give one '
                                 'whose name ends in .parquet, or name a directory for releases '
                                 'of logs')
    for option in OF_LOGS if archives else OF_ARCHIVES:
        if (getattr(options, option.name) or '') != (option.default or ''):
            raise ConfigurationError(f'--{option.name.replace("_", "-")} is not for '
                                     f'{"archives" if archives else "logs"}: leave it out')
    return bool(archives)


def _dataset_in(names):
    """Return a directory with partitions (NAME=VALUE) that hold Parquet files; None: is none."""
    return next((name for name in names for _ in Path(name).glob('*=*/**/*.parquet')), None)


def _logs(options, output):
    """Return the logs, and those that were skipped, after checking where they are."""
    from symdp_ros.release.settings import check_directories_apart

    logs, skipped = listed_logs(options.logs)
    for name in filter(os.path.isdir, options.logs):
        check_directories_apart(name, output)
    return logs, skipped


def _release_logs(options, settings, logs, skipped, on_choice, topics, **keeping):
    """Release logs; note what becomes of their topics."""
    from symdp_ros.release.mechanisms import Mechanisms
    from symdp_ros.release.session import Releaser, Report

    outcomes = []
    try:
        with Releaser(settings, options.output, rewrite_missing=True,
                      allow_unknown=options.allow_unknown, for_operator=True,
                      mechanisms=Mechanisms(settings, on_choice=on_choice),
                      on_topics=lambda log, of_topics: topics.append((log.id, of_topics)),
                      **keeping) as releaser, progress(
                          len(logs), shown=len(logs) > 1) as advance:
            def on_outcome(outcome):
                outcomes.append(outcome)
                advance()

            return releaser.release_all(logs, on_outcome=on_outcome, skipped=skipped)
    except KeyboardInterrupt:
        _tell(f'interrupted after {len(outcomes)} of {len(logs)} logs: '
              f'{Report(tuple(outcomes))}. Of those under way some may be released, too. What is '
              'released stays; the same command goes on with the others')
        raise


def _archive(options, output):
    """Return the archive, after checking where it is."""
    from symdp_ros.logs import LogFile
    from symdp_ros.release.archives.places import place_of, Remote
    from symdp_ros.release.settings import check_directories_apart

    [path] = map(place_of, options.logs)
    remote = isinstance(path, Remote)
    archive = LogFile(path.name if remote else os.path.basename(os.path.realpath(path)), path)
    if not archive.id.isprintable():
        raise ConfigurationError(f'the name of the archive {printable(archive.id)} holds '
                                 'characters that cannot be printed: rename it')
    if not remote and path.is_dir():
        check_directories_apart(path, output)
    return archive


def _release_archive(options, settings, archive, on_choice, ledger, **keeping):
    """Release an archive."""
    from symdp_ros.release.archives.archive import release_archive

    def on_subjects(subjects):
        if note := new_accounts(ledger, subjects):
            _tell(note)

    with progress(None) as advance:
        return release_archive(
            settings, archive, Path(options.output), engine=options.engine,
            scheduler=options.scheduler, partial=options.partial,
            allow_unknown=options.allow_unknown, on_choice=on_choice,
            on_rows=lambda rows, total: advance(steps=rows, total=total),
            on_subjects=on_subjects, ledger=ledger, **keeping)


def _overlap(report, settings):
    """Return what a change costs that several logs show, by their stamps; '': none does."""
    from symdp_ros.ledger.entry import as_text
    from symdp_ros.ledger.overlap import most_at_once
    from symdp_ros.maps.reports import as_fraction
    from symdp_ros.release.draft import KINDS

    spans = {outcome.log_id: outcome.span for outcome in report.outcomes
             if outcome.span is not None and outcome.kind in KINDS[:2]}
    most, logs = most_at_once(spans, dict.fromkeys(spans, as_fraction(settings.privacy.epsilon)),
                              as_fraction(settings.sampling.protect))
    if len(logs) < 2:
        return ''
    few, more = logs[:_SHOWN], len(logs) - _SHOWN
    return (f'{", ".join(few)}{f" and {more} more" if more > 0 else ""} can show the same change, '
            f'by their stamps: it then costs ε = {as_text(most)}')


def _charged(ledger, report, settings):
    """Return in a sentence what the subjects of an archive are charged for it."""
    from symdp_ros.ledger.entry import as_text

    entries = [entry for outcome in report.outcomes if outcome.kind == 'released'
               for entry in ledger.charges(log_id=outcome.log_id, settings=settings.digest())]
    costs = sorted({entry.amount for entry in entries})
    whose = '1 subject is' if len(entries) == 1 else f'{len(entries):,} subjects are'
    return [f'{whose} charged for it, each ε = '
            + ' to '.join(map(as_text, dict.fromkeys((costs[0], costs[-1]))))] if entries else []


def _print(report, settings, account, choices, ledger):
    from rich.console import Console

    table = plain_table('log', '>symbols', 'result', 'release')
    for outcome in report.outcomes:
        table.add_row(outcome.log_id, '' if outcome.length is None else str(outcome.length),
                      outcome.kind,
                      outcome.place_and_reason or ', '.join(p.name for p in outcome.files))
    for log in report.skipped:
        table.add_row(log.name, '', 'skipped', log.reason)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f'{report}; {settings.privacy_text}', soft_wrap=True)
    console.print(settings.mechanism.text(settings.chain), soft_wrap=True)
    for sentence in filter(None, (_overlap(report, settings), *choices,
                                  single_moves(settings.chain))):
        console.print(sentence, soft_wrap=True)
    if account is not None:
        console.print(str(account), soft_wrap=True)
        if account.repeated_text:
            console.print(account.repeated_text, soft_wrap=True)
    elif ledger is None and any(outcome.kind == 'released' for outcome in report.outcomes):
        console.print('no --ledger: nothing was recorded. Anyone who sees another release of the '
                      'same logs gets the sum of their ε', soft_wrap=True)
