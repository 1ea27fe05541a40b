# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many processes that do nearly the same: forked from one that has imported all."""
from contextlib import contextmanager
import json
import os
from pathlib import Path
import subprocess
import sys

SERVER = """
import json, os, sys, traceback
scope = {}
exec(sys.argv[1], scope)
for line in sys.stdin:
    if not (pid := os.fork()):
        try:
            print(scope['run'](*json.loads(line)), flush=True)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    print('#', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@contextmanager
def forked(script):
    """
    Give a function that runs the function `run` of a script in a process of its own.

    It takes arguments for `run`, and returns the exit status and what `run` returned, as text.
    """
    with subprocess.Popen(
            [sys.executable, '-c', SERVER, script], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'}) as server:  # no threads: it forks
        def run(*arguments):
            print(json.dumps(arguments, default=str), file=server.stdin, flush=True)
            lines = []
            while not (line := server.stdout.readline()).startswith('# '):
                assert line, 'the process has ended: see stderr'
                lines.append(line)
            return int(line[2:]), ''.join(lines).strip()

        yield run
