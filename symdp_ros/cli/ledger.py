"""`symdp ledger FILE`: show, verify and export what was spent."""
import csv
import json
import sys


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'ledger', help='show, verify and export what was spent',
        description='Shows what each subject and log has spent, after verifying the ledger and '
                    'the released files. Exit status 1 where something is wrong.')
    parser.add_argument('file', metavar='FILE')
    parser.add_argument('--export', choices=('csv', 'json'),
                        help='print every charge in this format instead')
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the ledger; return 1 where it or its releases have a problem."""
    from symdp_ros.release.ledger import Ledger

    with Ledger(options.file, create=False) as ledger:
        charges, files = ledger.charges(), ledger.files()
        problems = ledger.problems()
        if options.export:
            _export(charges, files, options.export)
        else:
            _print(ledger, charges)
        problems += _file_problems(files)
    for problem in problems:
        print(f'symdp ledger: {problem}', file=sys.stderr)
    if not options.export and not problems:
        print(f'verified; charges: {len(charges)}, released files: {len(files)}')
    return 1 if problems else 0


def _print(ledger, charges):
    from rich.console import Console
    from rich.table import Table

    from symdp_ros.release.ledger import as_text

    console = Console(highlight=False, markup=False)
    table = Table(box=None, pad_edge=False, header_style='bold')
    for column, justify in (('#', 'right'), ('made (UTC)', 'left'), ('subject', 'left'),
                            ('log', 'left'), ('symbols', 'right'), ('ε', 'right'), ('k', 'right'),
                            ('mechanism', 'left')):
        table.add_column(column, justify=justify, overflow='fold')
    for charge in charges:
        described = json.loads(charge.description)
        mechanism = described['mechanism'] + (
            f' {described["policy"]}' if 'policy' in described else '')
        table.add_row(str(charge.number), charge.made[:19], charge.subject,
                      charge.log_id or 'live', str(sum(charge.lengths)) if charge.log_id else '',
                      charge.epsilon, str(described['adjacency']), mechanism)
    console.print(table)
    for subject in sorted({charge.subject for charge in charges}):
        console.print(f'{subject} has spent ε = {as_text(ledger.spent(subject))}')


def _export(charges, files, form):
    rows = [{
        'number': charge.number, 'made': charge.made, 'subject': charge.subject,
        'log_id': charge.log_id, 'symbols': sum(charge.lengths), 'epsilon': charge.epsilon,
        'settings': json.loads(charge.description),
        'files': [str(file.path) for file in files if file.number == charge.number],
    } for charge in charges]
    if form == 'json':
        json.dump(rows, sys.stdout, indent=2)
        print()
        return
    writer = csv.DictWriter(sys.stdout, ['number', 'made', 'subject', 'log_id', 'symbols',
                                         'epsilon', 'settings', 'files'])
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, 'settings': json.dumps(row['settings']),
                         'files': ' '.join(row['files'])})


def _file_problems(files):
    from symdp_ros.release.outbox import holds

    for file in files:
        if not file.visible:
            yield f'the release {file.path} is charged and not yet in its place: release again'
        elif file.path.exists() and not holds(file.path, file.digest):
            yield f'the release {file.path} is not what was released: it was changed since'
