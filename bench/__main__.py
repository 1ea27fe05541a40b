# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m bench`: measure every goal, print the table, write JSON."""
import argparse
import json
from pathlib import Path
import sys
import tempfile

from bench.measure import Effort
from bench.page import page, printed
from bench.scaling import draw_scaling
from bench.suite import ROWS, run


def main(arguments=None) -> int:
    """Run the suite; return 0 where every row that was asked for ran to its end."""
    options = _options(arguments)
    before = found = options.again and json.loads(Path(options.again).read_text(encoding='utf-8'))
    if not before or options.only:
        with tempfile.TemporaryDirectory(prefix='symdp_bench_') as directory:
            found = _measure(options, Path(directory))
        if before:
            found = _both(before, found)
        _write_json(found, Path(options.json))
    print(printed(found))
    if options.page and not found['interrupted']:
        _write_page(found, Path(options.page))
    if found['interrupted']:
        return 130
    return int(any(goal.get('missing', '').startswith('failed')
                   for goal in found['goals'].values()))


def _options(arguments):
    parser = argparse.ArgumentParser(
        prog='python -m bench',
        description='Measures every goal of speed side by side with what it is held against.')
    parser.add_argument('--quick', action='store_true', help='smaller sizes; under a minute')
    parser.add_argument('--only', metavar='ROW', nargs='+', help='these rows alone')
    parser.add_argument('--list', action='store_true', help='name the rows, and end')
    parser.add_argument('--json', metavar='FILE', default='build/benchmarks.json',
                        help='default: %(default)s')
    parser.add_argument('--page', metavar='FILE.md',
                        help='the page; its JSON and its figure go into a directory of its name')
    parser.add_argument('--again', metavar='FILE.json',
                        help='take these numbers, but of the rows of --only')
    options = parser.parse_args(arguments)
    if options.list or options.only:
        names = [row.name for row in ROWS]
        if options.list:
            parser.exit(message='\n'.join(names) + '\n')
        if wrong := set(options.only) - set(names):
            parser.error(f'no row is called {", ".join(sorted(wrong))}: see --list')
    return options


def _measure(options, directory):
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    command = 'make bench' + (' QUICK=1' if options.quick else '')
    if options.only:
        command = ' '.join(['python -m bench', *(['--quick'] * options.quick),
                            '--only', *options.only])
    return run(rows, Effort(options.quick, directory), command,
               scaling=not (options.only or options.quick))


def _both(before, found):
    """Return what was measured before, but for the goals that were measured now."""
    libraries = {**before['machine']['libraries'], **found['machine']['libraries']}
    return {**found, 'command': f'{before["command"]}, and afterwards {found["command"]}',
            'machine': {**found['machine'], 'libraries': libraries},
            'scaling': before['scaling'],
            'goals': {goal: before['goals'].get(goal, measured) if 'missing' in measured
                      else measured for goal, measured in found['goals'].items()}}


def _write_json(found, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')


def _write_page(found, path):
    beside = path.with_suffix('')
    _write_json(found, beside / 'numbers.json')
    if found['scaling']:
        draw_scaling(found['scaling'], beside / 'scaling.svg')
    path.write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    sys.exit(main())
