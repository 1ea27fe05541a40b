# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The children that read files (`symdp_ros.files.child`), forked from one that has imported all.

They are real processes, children of this one, and run the same code. Those that `symdp` starts in
other tests are not forked: they import all by themselves.
"""
import ctypes
from functools import cache
import os
from pathlib import Path
import socket
import subprocess
import sys
import threading

import pytest
from symdp_ros.files import child

# Each child is a grandchild, whose parent ends at once: then the process of the tests adopts it.
SERVER = """
import os, socket, sys
import symdp_ros.logs.recordings.with_rosbags, symdp_ros.logs.recordings.serialized
import symdp_ros.release.archives.reading
symdp_ros.logs.recordings.serialized.is_standard('')  # this makes the classes of all messages
try:
    import pyarrow.compute, pyarrow.parquet
except ImportError:
    pass
with socket.socket(fileno=int(sys.argv[2])) as server:
    while (received := socket.recv_fds(server, 5000, 2))[0]:
        if not (parent := os.fork()):
            if pid := os.fork():
                server.send(str(pid).encode())
                os._exit(0)
            os.setsid()
            os.chdir(received[0])
            for number, file in enumerate((*received[1], os.open(os.devnull, os.O_WRONLY))):
                os.dup2(file, number)
                os.close(file)
            server.close()
            exec(sys.argv[1])
        for file in received[1]:
            os.close(file)
        os.waitpid(parent, 0)
        server.send(b'.')
"""
_PR_SET_CHILD_SUBREAPER = 36
_TURN = threading.Lock()


@cache
def _server():
    here, there = socket.socketpair(type=socket.SOCK_SEQPACKET)
    with there:
        process = subprocess.Popen(
            [sys.executable, '-c', SERVER, child._START, str(there.fileno())],
            pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, 'ARROW_DEFAULT_MEMORY_POOL': 'system', 'MALLOC_ARENA_MAX': '2',
                 'OPENBLAS_NUM_THREADS': '1'})  # no threads: it forks
    return process, here, ctypes.CDLL(None).prctl


class _Popen(subprocess.Popen):
    def _execute_child(self, arguments, *more):
        if arguments[-1] != child._START:
            return super()._execute_child(arguments, *more)
        pipes = more[9:15]  # stdin: to read, to write; stdout: to read, to write; of stderr
        with _TURN:
            _, server, prctl = _server()
            prctl(_PR_SET_CHILD_SUBREAPER, 1)
            socket.send_fds(server, [os.getcwdb()], [pipes[0], pipes[3]])
            self.pid = int(server.recv(20))
            assert server.recv(20) == b'.'
            prctl(_PR_SET_CHILD_SUBREAPER, 0)
        self._child_created = True
        self._close_pipe_fds(*pipes)


def fork_children():
    """Let this process fork them."""
    subprocess.Popen = _Popen


@pytest.fixture(scope='module', autouse=True)
def forked_children(real=subprocess.Popen):
    fork_children()
    yield
    subprocess.Popen = real
