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

#: For the beginning of a script: `kill_at`.
KILL_AT = """
import os, signal, sys
FILES = {os.link, os.unlink, os.rename, os.fsync, os.mkdir, os.replace, os.rmdir, os.utime,
         os.write, os.pwrite, os.ftruncate}
def kill_at(moment, work, *folders):
    # Do some work, and return how many moments were left; this process is killed when there is
    # none. They are the calls of, and returns from, functions in folders of the package, and those
    # calls that change files.
    left = moment
    def count(frame, event, argument):
        nonlocal left
        if event == 'c_call':
            name = getattr(argument, '__name__', '')
            hit = argument in FILES or name in ('execute', 'executemany', 'writelines')
        else:
            file = frame.f_code.co_filename
            hit = event in ('call', 'return') and any(
                f'symdp_ros/{folder}/' in file for folder in folders)
        left -= hit
        if hit and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(count)
    work()
    sys.setprofile(None)
    return left
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
