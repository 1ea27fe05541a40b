# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Fork a process that runs a node, again and again, with all that is imported and compiled in it.

Run by harness.py: reads lines of JSON. An object (see `become`) starts a node, and the answer is
the pid; to a pid, the answer is the exit status as in `subprocess.Popen`, or null while it runs.
A node that starts by itself imports for half a second; the tests of signals do that.
"""
import gc
from importlib import import_module
import json
import os
import signal
import sys

from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.core.online import POLICIES
from symdp_ros.nodes import NODES


def become(node, arguments, log, environment):
    """Run a node, as `python -m symdp_ros.nodes.NODE` with these arguments would."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(log, os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [node, *arguments]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(0))
    return import_module(f'symdp_ros.nodes.{node}').main()


def exit_status(pid):
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def main():
    for node in NODES:
        import_module(f'symdp_ros.nodes.{node}')
    for policy in POLICIES:
        OnlineMechanism(Chain({'a': ['a', 'b'], 'b': ['a']}, 'a'),
                        Privacy(1.0), policy=policy).step('a')
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            answer = exit_status(request)
        elif (answer := os.fork()) == 0:
            return become(**request)
        print(json.dumps(answer), flush=True)


if __name__ == '__main__':
    sys.exit(main())
