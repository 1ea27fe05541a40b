# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp ledger FILE`: show, verify, export, correct and recover what was spent."""
import csv
import json
from pathlib import Path
import re
import sys

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.logs.log_arguments import new_account
from symdp_ros.cli.printed_tables import plain_table
from symdp_ros.cli.progress import tell
from symdp_ros.core.naming import quoted
from symdp_ros.errors import ConfigurationError, printable, shell_word
from symdp_ros.ledger.accounts import accounting_text, SHOWN_DELTA, Unit
from symdp_ros.ledger.entry import as_text, rounded_up, written
from symdp_ros.maps.reports import as_fraction
from symdp_ros.options import (EXPORT, LEDGER_DELTA, RECOVER, REMAINING, STORED_ACCOUNTING,
                               SUBJECT_SHOWN, VERIFY)

_MOST_LISTED = 20  # subjects, of which every charge is printed
_NEAREST = 10      # to their budgets, shown of more subjects


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'ledger', help='show, verify and export what was spent; set budgets; recover',
        description='Verifies the ledger and the released files, and shows what each subject and '
                    'log has spent. Each charge shows its own ε and k, and its cost for the '
                    'subject: all costs of a subject count for the same number of changed '
                    f'symbols. Of more than {_MOST_LISTED} subjects, shows those that are nearest '
                    'to their budgets. Exit status 1 if anything is wrong.')
    parser.add_argument('file', metavar='FILE', help='the ledger')
    add_arguments(parser, [SUBJECT_SHOWN, REMAINING, EXPORT, LEDGER_DELTA, VERIFY])
    changes = parser.add_argument_group('changes', 'Each is written into the ledger as an entry.')
    changes.add_argument('--set-budget', metavar=('SUBJECT', 'EPSILON'), nargs=2, action='append',
                         default=[], help='give a subject another subject_budget; 0: no limit')
    add_arguments(changes, [STORED_ACCOUNTING])
    changes.add_argument('--spent-at-least', metavar=('SUBJECT', 'EPSILON'), nargs=2,
                         action='append', default=[],
                         help='count at least this much as spent, if the ledger has recorded less')
    add_arguments(changes, [RECOVER])
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the ledger; return 1 where it or its releases have a problem."""
    from symdp_ros.ledger.ledger import Ledger
    from symdp_ros.ledger.subjects import look_alike_texts

    budgets = [(subject, _amount(text)) for subject, text in options.set_budget]
    if options.accounting and not budgets:
        raise ConfigurationError('--accounting is stored with a budget: give --set-budget, too')
    if budgets and options.delta and options.accounting != 'zcdp':
        raise ConfigurationError('--delta is stored with --accounting zcdp: give both, or neither')
    least = {subject: _amount(text) for subject, text in options.spent_at_least}
    if options.verify and (budgets or least or options.recover or options.remaining
                           or options.export or options.subject):
        raise ConfigurationError('--verify is given alone: it changes and lists nothing')
    if options.recover:
        from symdp_ros.ledger.recovery import recover

        for sentence in recover(options.file, least):
            tell('ledger', sentence)
    with Ledger(options.file, create=False) as ledger:
        if options.verify:
            return _verify(ledger, Path(options.verify))
        for subject, amount in least.items():
            ledger.set_spent(subject, amount, 'set by the operator')
        for subject, amount in budgets:
            if note := new_account(ledger, subject):
                tell('ledger', note)
            ledger.set_budget(subject, amount, options.accounting or '', options.delta or 0.0)
            if amount and ledger.account(subject).counted > amount:
                tell('ledger', f'{quoted(subject)} has already spent more than this budget: '
                     'nothing more can be released')
        problems = ledger.problems()
        for note in look_alike_texts(ledger.subjects()):
            tell('ledger', note)
        files, charges = ledger.files.all(), ledger.count_charges()
        delta = None if options.delta is None else as_fraction(options.delta)
        accounts = _shown_accounts(ledger, options.subject)
        of_subject = {'subject': options.subject} if options.subject else {}
        if options.export:
            _export(_remaining(accounts, delta) if options.remaining else
                    _charges(ledger, ledger.charges(**of_subject), files), options.export)
        elif options.remaining:
            _print_remaining(accounts)
        elif len(accounts) > _MOST_LISTED:
            _print_summary(ledger, accounts)
        else:
            _print(ledger, ledger.entries(**of_subject), accounts, delta)
    problems += _file_problems(files)
    for problem in problems:
        tell('ledger', problem)
    if not options.export and not problems:
        print(f'verified; charges: {charges}, released files: {len(files)}')
    return 1 if problems else 0


def _verify(ledger, release):
    """Print which charge a release was made for; return 1 where it is none, or all is not well."""
    from symdp_ros.release.archives.places import MANIFEST
    from symdp_ros.release.outbox import digest_of

    problem = None
    try:
        digest = digest_of(release, release / MANIFEST)  # which an upload adds
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        raise ConfigurationError(f'{printable(release)} cannot be read: {problem}')
    problems, entries = ledger.problems(), {entry.number: entry for entry in ledger.charges()}
    files = ledger.files.all()
    numbers = sorted({file.number for file in files if not file.is_copy})
    charges = [entries[number] for number in dict.fromkeys(
        file.number for file in files if file.digest == digest) if number in entries]
    for entry in charges:
        end = next((number for number in numbers if number > entry.number), max(entries) + 1)
        alike = [other for number in range(entry.number, end) if (other := entries.get(number))
                 and (other.log_id, other.settings, other.content) == (
                     entry.log_id, entry.settings, entry.content)]
        whose = printable(entry.subject) if len(alike) == 1 else f'{len(alike)} subjects'
        print(f'{printable(release)} is the release of {printable(entry.log_id)}, charge '
              f'{entry.number}, made {printable(_made(entry))} UTC: ε = '
              f'{as_text(entry.loss.epsilon)} at k = {_k_text(entry.loss)} of {whose}\n'
              f'settings {entry.settings}: {json.dumps(entry.settings_described)}')
    if not charges:
        problems.append(f'{printable(release)} is no release of this ledger, or was changed since')
    for problem in problems:
        tell('ledger', problem)
    return 1 if problems else 0


def _amount(text):
    try:
        value = float(text)
        if 0 <= value < float('inf'):
            return as_fraction(value)
    except ValueError:
        pass
    raise ConfigurationError(f'{printable(text)} is no ε: give a finite number, at least 0')


def _console():
    from rich.console import Console

    return Console(highlight=False, markup=False)


def _print(ledger, entries, accounts, delta):
    console, of_subject = _console(), {}
    for entry in entries:
        if entry.kind != 'recovery':
            of_subject.setdefault(entry.subject, []).append(entry)
    for account in accounts:
        console.print(str(account), soft_wrap=True, style='bold')
        if account.repeated_text:
            console.print(account.repeated_text, soft_wrap=True)
        if account.spent():
            console.print(account.zcdp_text(delta), soft_wrap=True)
        own = of_subject.get(account.subject, [])
        if bounds := dict.fromkeys(entry.loss.bounds for entry in own
                                   if entry.kind == 'charge' and entry.log_id is None):
            console.print(f'live: a row bounds {" or ".join(bounds)} in its word, however long '
                          'that runs; two visits in it cost twice as much', soft_wrap=True)
        console.print(_table_of(ledger, own))
        console.print()
    recoveries = [entry for entry in entries if entry.kind == 'recovery']
    if recoveries:
        console.print(_table_of(ledger, recoveries))


def _shown_accounts(ledger, subject):
    if not subject:
        return ledger.accounts()
    if subject not in ledger.subjects():
        raise ConfigurationError(f'the ledger knows no subject {quoted(subject)}')
    return [ledger.account(subject)]


def _print_summary(ledger, accounts):
    """Print what many subjects have spent: the most of one, and who has least left."""
    console, file = _console(), shell_word(ledger.path)
    spent = {account.subject: account.counted for account in accounts}
    limited = [account for account in accounts if account.budget is not None]
    most = max(accounts, key=lambda account: spent[account.subject])
    console.print(f'{len(accounts):,} subjects, of which {len(limited):,} have a budget. The most '
                  f'that one has spent: {most}', soft_wrap=True)
    if limited:
        limited.sort(key=lambda account: account.budget - spent[account.subject])
        console.print('Nearest to their budgets:')
        _print_remaining(limited[:_NEAREST])
    console.print(f'All: symdp ledger {file} --remaining. The charges of one: symdp ledger {file} '
                  '--subject NAME', soft_wrap=True)
    if recoveries := ledger.entries(kind='recovery'):
        console.print(_table_of(ledger, recoveries))


def _table_of(ledger, entries):
    table = plain_table('>#', 'made (UTC)', 'log', '>symbols', '>ε', '>k', '>cost', 'mechanism')
    table.columns[1].no_wrap = True
    for entry in entries:
        first = str(entry.number), printable(_made(entry))
        if entry.kind == 'charge':
            described = entry.described
            # With auto, the policy is that of causal alone, which may not have been taken.
            shown = ('mechanism',) if described.get('mechanism') == 'auto' else (
                'mechanism', 'policy')
            mechanism = ' '.join(str(described[name]) for name in shown if name in described)
            if 'taken' in described:
                mechanism = f'{described["taken"]} (auto)'
            table.add_row(*first, 'live' if entry.log_id is None else printable(entry.log_id),
                          '' if entry.log_id is None else str(entry.symbols),
                          as_text(entry.loss.epsilon), _k_text(entry.loss),
                          as_text(ledger.cost(entry)), printable(mechanism))
        else:
            table.add_row(*first, '', '', '', '', '', printable(_change_text(entry), 2000))
    return table


def _made(entry):
    """Return when an entry was made, to the minute."""
    return entry.made[:16].replace('T', ' ')


def _k_text(loss):
    """Return k, and what it was in a short log."""
    short = loss.most_changes < loss.adjacency
    return f'{loss.most_changes} of {loss.adjacency}' if short else str(loss.adjacency)


def _print_remaining(accounts):
    table = plain_table('subject', '>budget', '>spent', '>left', 'counted for')
    for account in accounts:
        table.add_row(
            printable(account.subject),
            *('no limit' if amount is None else as_text(amount)
              for amount in (account.budget, account.counted, account.left)),
            ('nothing charged yet' if account.unit is None else str(account.unit))
            + ('' if account.delta is None else f'; {accounting_text(account.delta)}'))
    _console().print(table)


def _change_text(entry):
    """Describe an entry that is not a charge."""
    described, amount = entry.described, entry.amount
    if entry.kind == 'budget':
        delta = entry.described_amount('delta')
        return (f'budget: {as_text(amount) if amount else "no limit"}'
                + (f' ({accounting_text(delta)})' if delta is not None else ''))
    if entry.kind == 'spent':
        return f'also spent: {as_text(amount)} ({described.get("reason", "")})'
    if entry.kind == 'unit':
        return f'unit: {Unit.of(entry.loss)} ({described.get("reason", "")})'
    return 'recovered: ' + '; '.join(map(str, described.get('said', ())))


def _charges(ledger, charges, files):
    """Return the charges, for export."""
    paths = {}
    for file in files:
        paths.setdefault(file.number, []).append(str(file.path))
    return [{
        'number': charge.number, 'made': charge.made, 'subject': charge.subject,
        'log_id': charge.log_id, 'symbols': charge.symbols, 'epsilon': charge.epsilon,
        'adjacency': charge.adjacency, 'cost': written(ledger.cost(charge)),
        'unit': str(ledger.unit(charge)),
        'rho': written(ledger.unit(charge).rho(charge.loss)),
        'settings': {name: value for name, value in charge.described.items() if name != 'logs'},
        'logs': sorted(charge.logs or ()),
        'files': paths.get(charge.number, []),
    } for charge in charges]


def _remaining(accounts, delta):
    """Return what each subject has left, for export."""
    return [{
        'subject': account.subject, 'unit': '' if account.unit is None else str(account.unit),
        'budget': None if account.budget is None else written(account.budget),
        'accounting': 'pure' if account.delta is None else 'zcdp',
        'spent': written(account.counted),
        'left': None if account.left is None else written(account.left),
        'most_by_one_log': written(account.spent_by_one),
        'most_at_once': written(account.spent_at_once), 'by_all': written(account.spent_by_all),
        'pure': written(account.spent()), 'rho': written(rounded_up(account.rho)),
        'delta': written(at), 'zcdp': written(account.epsilon_at(at)),
    } for account in accounts for at in (delta or account.delta or SHOWN_DELTA,)]


def _export(rows, form):
    if form == 'json':
        json.dump(rows, sys.stdout, indent=2)
        print()
    elif rows:
        writer = csv.DictWriter(sys.stdout, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _cell(value) for name, value in row.items()})


def _cell(value):
    """
    Return a value as spreadsheets show it: what begins with = + - or @ is a formula to them.

    They take a ' before it for "this is text".
    """
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list):
        value = ' '.join(value)
    is_formula = (isinstance(value, str) and not re.fullmatch(r'-?[\d./]+', value)
                  and value.lstrip().startswith(tuple('=+-@＝＋－＠')))
    return f"'{value}" if is_formula else value


def _file_problems(files):
    from symdp_ros.release.outbox import holds

    for file in files:
        path = printable(file.path)
        if not file.visible:
            yield f'the release {path} is charged and not yet moved to its path: release again'
        elif file.path.exists() and not holds(file.path, file.digest):
            yield f'the release {path} is not what was released: it was changed since'
