# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m mutation`: change one operator or constant at a time; list what no test notices.

Every module is tried in a process that has imported and collected the tests named for it in
`modules.yaml`. A first run notes which lines each test reaches, and for how long it runs. Each
mutant then is a fork of that process: the changed function is put in place of the real one, and
the tests that reach it run, short ones first, until one fails. (A change outside functions is
imported afresh.) Loops run in NumPy: no text of theirs is in C.

What survives is a gap in the tests, or changes nothing that matters: `equivalent.yaml` says why.
"""
import argparse
import json
import os
from pathlib import Path
import sys
import traceback

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parent
FOUND = ROOT / 'build' / 'mutation'  # verdicts of the last run, one file for each module


def main() -> int:
    """Try the modules asked for; return 1 where an unexplained mutant survived, 2 for failures."""
    known = yaml.safe_load((HERE / 'modules.yaml').read_text(encoding='utf-8'))
    excused = yaml.safe_load((HERE / 'equivalent.yaml').read_text(encoding='utf-8')) or {}
    options = _options(known)
    rows = []
    for module in options.modules or known:
        if module not in known:
            print(f'{module}: not in mutation/modules.yaml', file=sys.stderr)
            return 2
        file = FOUND / f'{module.replace("/", ".")}.json'
        equivalent = [name for entry in excused.get(module, ()) for name in entry['mutants']]
        kept = {name: verdict for name, verdict in _verdicts(file).items() if options.again
                and (verdict == 'noticed' or name in equivalent)}
        if not options.show and not _in_a_process(module, known[module].split(), file, options,
                                                  kept):
            print(f'{module}: not tried', file=sys.stderr)
            return 2
        verdicts = _verdicts(file)
        rows.append(_report(module, verdicts, equivalent))
    print('\n| module | mutants | noticed | equivalent | survived | score |\n'
          '|---|---|---|---|---|---|')
    for module, total, noticed, same, left in [*rows, (
            'all', *(sum(row[i] for row in rows) for i in range(1, 5)))]:
        score = 100 * noticed / max(1, total - same)
        print(f'| {module} | {total} | {noticed} | {same} | {left} | {score:.1f} % |')
    return int(any(row[-1] for row in rows))


def _options(known) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='python -m mutation', description=__doc__.split('\n')[1])
    parser.add_argument('modules', nargs='*', help=f'default: all of {", ".join(known)}')
    parser.add_argument('--again', action='store_true',
                        help='only what survived last time, and has no reason: after tests were '
                             'added, or with more --seconds')
    parser.add_argument('--show', action='store_true', help='only print what was found last time')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--seconds', type=float, default=10.0,
                        help='processor time of the tests of a mutant (default: 10)')
    return parser.parse_args()


def _verdicts(file) -> dict:
    return json.loads(file.read_text(encoding='utf-8')) if file.exists() else {}


def _in_a_process(module, tests, file, options, kept) -> bool:
    """Try one module in a fork: what it imports goes with it."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            from mutation.trial import end_with_parent, try_module

            end_with_parent()
            os._exit(not try_module(ROOT, module, tests, file, options, kept))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _report(module, verdicts, equivalent):
    """Print what survived; return the row of a module."""
    survived = [name for name, verdict in verdicts.items() if verdict != 'noticed']
    for name in survived:
        if name not in equivalent:
            print(f'{module}: {verdicts[name]}: {name}')
    for name in equivalent:
        if verdicts.get(name, 'noticed') == 'noticed' and verdicts:
            print(f'{module}: in equivalent.yaml, but noticed or gone: {name}')
    left = sum(name not in equivalent for name in survived)
    return module, len(verdicts), len(verdicts) - len(survived), len(survived) - left, left


if __name__ == '__main__':
    sys.exit(main())
