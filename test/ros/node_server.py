# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Nodes in processes of their own, forked from one that has imported all that they need.

Most of what a node does in a short test it does once: it imports, loads the libraries of messages,
and looks for the sources that its log names. `python node_server.py` has done that.
"""
import atexit
from contextlib import suppress
import ctypes
import gc
import importlib
import inspect
import json
import os
from pathlib import Path
import select
import signal
import subprocess
import sys
import threading

NODES = [f'symdp_ros.nodes.{name}' for name in ('fleet', 'log_release', 'patrol', 'privatizer')]
IMPORTED = [*NODES, 'numpy.ma', 'rclpy.action', 'yaml',
            'symdp_ros.core.offline.causal', 'symdp_ros.core.offline.exponential',
            *(f'symdp_ros.ros.outputs.{name}_output' for name in (
                'string', 'pose', 'markers', 'belief', 'custom'))]
#: One of each package that has a library.
MESSAGES = ['diagnostic_msgs.msg.DiagnosticArray', 'geometry_msgs.msg.PoseStamped',
            'lifecycle_msgs.srv.ChangeState', 'rcl_interfaces.msg.ParameterEvent',
            'rosgraph_msgs.msg.Clock', 'std_msgs.msg.String', 'std_srvs.srv.Trigger',
            'type_description_interfaces.srv.GetTypeDescription']
#: In the environment of a node that is to say what it does not hide: another process computes that
#: for half a second of the processor, or more.
TELLS_WHAT_REMAINS = 'SYMDP_TEST_TELLS_WHAT_REMAINS'
_PR_SET_PDEATHSIG = 1  # prctl(2)
_PATIENCE = 300.0  # seconds


class NodeServer:
    """Starts nodes, and knows which of them have ended."""

    def __init__(self, directory):
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=directory,
            env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'})  # none: it forks
        self._started, self._ended = None, {}  # the last process; process → exit status
        self._news, self._turn = threading.Condition(), threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        atexit.register(self._close)

    def start(self, name, arguments, log, environment) -> 'NodeProcess':
        """Start the node of this name; its output goes to the file `log`."""
        log.write_bytes(b'')
        with self._turn, self._news:
            self._started = None
            print(json.dumps([name, arguments, str(log), environment]), file=self._server.stdin,
                  flush=True)
            assert self._news.wait_for(lambda: self._started, _PATIENCE), (
                'no node was started: see stderr')
            return NodeProcess(self, self._started)

    def status(self, pid, seconds):
        """Return the exit status of a process, or None if it has not ended after some seconds."""
        with self._news:
            self._news.wait_for(lambda: pid in self._ended, seconds)
            return self._ended.get(pid)

    def _close(self):
        self._server.stdin.close()
        self._server.wait()

    def _read(self):
        for line in self._server.stdout:
            kind, *numbers = line.split()
            with self._news:
                if kind == 'started':
                    self._started = int(numbers[0])
                    self._ended.pop(self._started, None)  # numbers are used again
                else:
                    self._ended[int(numbers[0])] = int(numbers[1])
                self._news.notify_all()


class NodeProcess:
    """A process, with those methods of `subprocess.Popen` that tests need."""

    def __init__(self, server, pid):
        self._server, self.pid = server, pid

    @property
    def returncode(self):
        return self._server.status(self.pid, 0.0)

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        status = self._server.status(self.pid, timeout)
        if status is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return status

    def send_signal(self, number):
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def report_ended(*_):
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            status = os.waitstatus_to_exitcode(ended[1])
            os.write(1, f'ended {ended[0]} {status}\n'.encode())


def serve():
    """Start a process for each line; return the name of a node in each of them, else None."""
    signal.signal(signal.SIGCHLD, report_ended)
    gc.freeze()  # what is not looked at by the collector in a node need not be copied for it
    for line in lines():
        if not os.fork():
            name, *rest = json.loads(line)
            become(name, *rest)
            return name
    return None


def lines():
    """Yield what is asked for; a signal that comes just before a wait is seen after 0.2 s."""
    while True:
        if select.select([sys.stdin], [], [], 0.2)[0]:
            if not (line := sys.stdin.readline()):
                return
            yield line


def become(name, arguments, log, environment):
    """Make this the process of a node."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # it ends with the server
    os.setsid()
    os.write(1, f'started {os.getpid()}\n'.encode())
    for descriptor, file, flags in ((0, os.devnull, os.O_RDONLY),
                                    (1, log, os.O_WRONLY | os.O_APPEND)):
        os.dup2(os.open(file, flags), descriptor)
    os.dup2(1, 2)
    os.environ.clear()
    os.environ.update(environment)
    Privatizer = sys.modules['symdp_ros.nodes.privatizer'].Privatizer
    Privatizer.tells_what_remains = TELLS_WHAT_REMAINS in environment
    sys.argv = [name, *arguments]


def load():
    """Import and load what nodes do; find the sources of what is imported, as rclpy's log does."""
    for module in IMPORTED:
        importlib.import_module(module)
    for name in MESSAGES:
        package, _, kind = name.rpartition('.')
        getattr(importlib.import_module(package), kind).__class__.__import_type_support__()
    for module in NODES:
        inspect.getsourcelines(sys.modules[module])
    inspect.getframeinfo(inspect.currentframe())


def draw_once():
    """Import what the first draw of each policy imports."""
    from symdp_ros.core.chain import Chain
    from symdp_ros.core.mechanism_settings import MechanismSettings
    from symdp_ros.core.privacy import Privacy
    from symdp_ros.core.registry import LIVE, POLICIES

    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c', 'd'], 'c': ['c', 'a'], 'd': ['d', 'a']},
                  initial_state='a')
    for policy in POLICIES:
        MechanismSettings(LIVE, policy=policy).online(chain, Privacy(1.0)).step('b')


def leave(status):
    """End this process, a fork."""
    if 'liblttng-ust' in Path('/proc/self/maps').read_text():
        # LTTng, which traces some rclpy, cancels threads at the exit that a fork does not have.
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == '__main__':
    load()
    draw_once()
    if name := serve():
        leave(importlib.import_module(f'symdp_ros.nodes.{name}').main())
