# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp ledger FILE`: show, verify, export, correct and recover what was spent."""
import csv
import json
import sys

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.core.errors import ConfigurationError
from symdp_ros.core.printable import printable
from symdp_ros.options import EXPORT, RECOVER


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'ledger', help='show, verify and export what was spent; set budgets; recover',
        description='Verifies the ledger and the released files, and shows what each subject and '
                    'log has spent. Each charge shows its own ε and k, and its cost for the '
                    'subject: all costs of a subject count for the same number of changed '
                    'symbols. Exit status 1 if anything is wrong.')
    parser.add_argument('file', metavar='FILE', help='the ledger')
    add_arguments(parser, [EXPORT])
    changes = parser.add_argument_group('changes', 'Each is written into the ledger as an entry.')
    changes.add_argument('--set-budget', metavar=('SUBJECT', 'EPSILON'), nargs=2, action='append',
                         default=[], help='give a subject another subject_budget; 0: no limit')
    changes.add_argument('--spent-at-least', metavar=('SUBJECT', 'EPSILON'), nargs=2,
                         action='append', default=[],
                         help='count at least this much as spent, if the ledger has recorded less')
    add_arguments(changes, [RECOVER])
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the ledger; return 1 where it or its releases have a problem."""
    from symdp_ros.release.ledger import Ledger

    budgets = [(subject, _amount(text)) for subject, text in options.set_budget]
    least = {subject: _amount(text) for subject, text in options.spent_at_least}
    if options.recover:
        from symdp_ros.release.recovery import recover

        for sentence in recover(options.file, least):
            print(f'symdp ledger: {sentence}', file=sys.stderr)
    with Ledger(options.file, create=False) as ledger:
        for subject, amount in least.items():
            ledger.set_spent(subject, amount, 'set by the operator')
        for subject, amount in budgets:
            ledger.set_budget(subject, amount)
        entries, files = ledger.entries(), ledger.files()
        problems = ledger.problems()
        charges = [entry for entry in entries if entry.kind == 'charge']
        if options.export:
            _export(ledger, charges, files, options.export)
        else:
            _print(ledger, entries)
    problems += _file_problems(files)
    for problem in problems:
        print(f'symdp ledger: {problem}', file=sys.stderr)
    if not options.export and not problems:
        print(f'verified; charges: {len(charges)}, released files: {len(files)}')
    return 1 if problems else 0


def _amount(text):
    from symdp_ros.release.units import as_fraction

    try:
        value = float(text)
        if 0 <= value < float('inf'):
            return as_fraction(value)
    except ValueError:
        pass
    raise ConfigurationError(f'{printable(text)} is no ε: give a finite number, at least 0')


def _print(ledger, entries):
    from rich.console import Console
    from rich.table import Table
    from symdp_ros.release.units import as_text

    console = Console(highlight=False, markup=False)
    table = Table(box=None, pad_edge=False, header_style='bold')
    for column, justify in (('#', 'right'), ('made (UTC)', 'left'), ('subject', 'left'),
                            ('log', 'left'), ('symbols', 'right'), ('ε', 'right'), ('k', 'right'),
                            ('cost', 'right'), ('mechanism', 'left')):
        table.add_column(column, justify=justify, overflow='fold')
    for entry in entries:
        first = str(entry.number), printable(entry.made[:19]), printable(entry.subject)
        if entry.kind == 'charge':
            described = entry.described
            mechanism = ' '.join(str(described[name]) for name in ('mechanism', 'policy')
                                 if name in described)
            table.add_row(*first, 'live' if entry.log_id is None else printable(entry.log_id),
                          '' if entry.log_id is None else str(entry.length),
                          as_text(entry.loss.epsilon), str(entry.adjacency),
                          as_text(ledger.cost(entry)), printable(mechanism))
        else:
            table.add_row(*first, '', '', '', '', '', printable(_change_text(entry), 2000))
    console.print(table)
    for subject in ledger.subjects():
        console.print(str(ledger.account(subject)), soft_wrap=True)


def _change_text(entry):
    """Describe an entry that is not a charge."""
    from symdp_ros.release.units import as_text

    described, amount = entry.described, entry.amount
    if entry.kind == 'budget':
        return f'budget: {as_text(amount) if amount else "no limit"}'
    if entry.kind == 'spent':
        return f'also spent: {as_text(amount)} ({described.get("reason", "")})'
    if entry.kind == 'unit':
        return f'unit: {entry.loss.unit} ({described.get("reason", "")})'
    return 'recovered: ' + '; '.join(map(str, described.get('said', ())))


def _export(ledger, charges, files, form):
    from symdp_ros.release.accounts import written

    rows = [{
        'number': charge.number, 'made': charge.made, 'subject': charge.subject,
        'log_id': charge.log_id, 'symbols': charge.length, 'epsilon': charge.epsilon,
        'adjacency': charge.adjacency, 'cost': written(ledger.cost(charge)),
        'unit': str(ledger.account(charge.subject).unit), 'settings': charge.described,
        'files': [str(file.path) for file in files if file.number == charge.number],
    } for charge in charges]
    if form == 'json':
        json.dump(rows, sys.stdout, indent=2)
        print()
        return
    writer = csv.DictWriter(sys.stdout, ['number', 'made', 'subject', 'log_id', 'symbols',
                                         'epsilon', 'adjacency', 'cost', 'unit', 'settings',
                                         'files'])
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, 'settings': json.dumps(row['settings']),
                         'files': ' '.join(row['files'])})


def _file_problems(files):
    from symdp_ros.release.outbox import holds

    for file in files:
        path = printable(file.path)
        if not file.visible:
            yield f'the release {path} is charged and not yet moved to its path: release again'
        elif file.path.exists() and not holds(file.path, file.digest):
            yield f'the release {path} is not what was released: it was changed since'
