# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Run tests that start processes again and again on a busy machine: often.py N [ARGUMENT …].

Half of the N rounds run in one suite, half in another one beside it, while a loop keeps each
processor busy. Printed at the end: which test failed how often. The arguments are pytest's; those
that name no test are added to a run of `PROCESSES`.
"""
from collections import Counter
from contextlib import ExitStack
import os
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
from threading import Thread
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
#: The folders and files whose tests start processes.
PROCESSES = ['test/ros', 'test/launch', 'test/cli/test_demo_fleet.py',
             'test/cli/test_demo_figure.py', 'test/cli/test_doctor.py',
             'test/cli/test_in_domain.py', 'test/cli/test_interrupted.py',
             'test/cli/test_isolate.py', 'test/cli/test_symdp.py', 'test/release/test_engines.py',
             'test/release/test_kill.py', 'test/ledger/test_kill_ledger.py']
_OPTIONS = ['-n', '4', '--maxschedchunk', '2', '-q', '--no-header', '-p', 'no:cacheprovider',
            '-m', 'not thorough']


def suite(rounds, arguments, report, outcomes, failures, stack):
    """Run a suite some times; count its outcomes and the tests that fail."""
    for number in rounds:
        report.unlink(missing_ok=True)
        done = subprocess.Popen(
            [sys.executable, '-m', 'pytest', *_OPTIONS, f'--junitxml={report}', *arguments],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        stack.callback(done.terminate)  # where this program is ended before
        output, _ = done.communicate()
        cases = ElementTree.parse(report).iter('testcase') if report.exists() else []
        failed = [f'{case.get("classname")}::{case.get("name")}' for case in cases
                  if case.find('failure') is not None or case.find('error') is not None]
        if done.returncode and not failed:
            failed = [f'pytest ended with status {done.returncode}']
        outcomes[not failed] += 1
        failures.update(failed)
        print(f'round {number}: {output.splitlines()[-1]}', flush=True)
        if failed:
            print(output, flush=True)


def main(count, *arguments) -> int:
    """Run all rounds; return 0 where every test passed in every round."""
    named = any(not argument.startswith('-') for argument in arguments)
    arguments = [*([] if named else PROCESSES), *arguments]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the busy loops end with it
    outcomes, failures = Counter(), Counter()
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        for _ in range(os.cpu_count()):
            loop = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
            stack.callback(lambda loop=loop: (loop.kill(), loop.wait()))
        suites = [Thread(target=suite, daemon=True, args=(
            range(first, int(count) + 1, 2), arguments, Path(folder, f'{first}.xml'), outcomes,
            failures, stack)) for first in (1, 2)]
        for thread in suites:
            thread.start()
        for thread in suites:
            thread.join()
    for name, times in failures.most_common():
        print(f'{times} of {count} failed: {name}')
    print(f'{outcomes[True]} of {count} rounds passed')
    return 0 if outcomes[True] == int(count) else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
