# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Reading files from elsewhere in a child process.

At damaged bytes a library may abort, take all memory or never end. That ends the child alone, and
this process reports it.
"""
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import BufferedReader, BufferedWriter
import marshal
import os
from pathlib import Path
import resource
import signal
import subprocess
import sys
from typing import Any, BinaryIO

from symdp_ros.errors import LogError

#: Bytes of memory that a child may take after its libraries are loaded.
MEMORY = 1 << 30
#: Seconds of processor time that a child may take before it answers, or between two `extend_time`.
SECONDS = 120

_MEMORY_PER_BYTE = 8
_SECONDS_PER_BYTE = 1e-6

_START = ('import marshal, sys; sys.path[:], name = marshal.load(sys.stdin.buffer); '
          'from symdp_ros.files import child; child.main(name)')


def start(function: Callable[[BinaryIO, BinaryIO], None]) -> subprocess.Popen[bytes]:
    """
    Start a child that runs a function of a module.

    The function is called with a file to read from and one to write to: the ends of `stdin` and
    `stdout` here.
    """
    process = subprocess.Popen(
        [sys.executable, '-c', _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a library might quote there what it reads
        start_new_session=True,  # the parent decides what an interrupt means
        env={**os.environ, 'ARROW_DEFAULT_MEMORY_POOL': 'system', 'MALLOC_ARENA_MAX': '2'})
    stdin, _ = pipes(process)
    marshal.dump((sys.path, f'{function.__module__}:{function.__name__}'), stdin)
    stdin.flush()
    return process


def pipes(process: subprocess.Popen[bytes]) -> tuple[BufferedWriter, BufferedReader]:
    """Return the standard input and output of a child."""
    assert isinstance(process.stdin, BufferedWriter)
    assert isinstance(process.stdout, BufferedReader)
    return process.stdin, process.stdout


def call(function: Callable[..., Any], *arguments: Any, size: int = 0) -> Any:
    """
    Return what a function of a module returns; it runs in a child.

    :param arguments: numbers, strings, bytes, None, and tuples, lists and dicts of these; so is
        what the function returns.
    :param size: of the data, in bytes: the limits of memory and time grow with it.
    :raises LogError: as the function does, or where the process ended otherwise.
    """
    with start(_answer) as process:
        try:
            output, _ = process.communicate(marshal.dumps(
                (f'{function.__module__}:{function.__name__}', arguments,
                 MEMORY + _MEMORY_PER_BYTE * size, SECONDS + _SECONDS_PER_BYTE * size)))
        except BaseException:
            process.kill()
            raise
    try:
        problem, result = marshal.loads(output)
    except (EOFError, ValueError, TypeError):
        problem = ending(process)
    if problem is not None:
        raise LogError(problem)
    return result


def ending(process: subprocess.Popen[bytes]) -> str:
    """Return a message about a child that ended before it had answered."""
    status = process.wait()
    how = 'with an error' if status >= 0 else f'by {signal.Signals(-status).name}'
    if status == -signal.SIGXCPU:
        how = 'after it had taken too long'
    return f'it cannot be read, as it is damaged: the process that read it ended {how}'


def problem_of(error: Exception) -> str:
    """Return a message about an error in reading; it quotes nothing of what was read."""
    if isinstance(error, LogError):
        return error.reason
    if isinstance(error, FileNotFoundError):
        return 'there is no such file'
    if isinstance(error, OSError) and error.strerror:
        return f'it cannot be read: {error.strerror}'
    return f'it cannot be read, as it is damaged or cut off ({type(error).__name__})'


def extend_time(seconds: float = SECONDS) -> None:
    """Give this child some more seconds of processor time: it has made progress."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)


def main(name: str) -> None:
    """Run a function in this process, which is a child."""
    function = _function(name)
    # What a library prints must not mix with the answers.
    output = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)
    _limit(resource.RLIMIT_CORE, 0)
    extend_time()
    function(sys.stdin.buffer, output)
    output.close()
    os._exit(0)  # without the exit functions of libraries, which may fail


def limit_memory(memory: int) -> None:
    """Limit the memory of this child to so many bytes more than it has now."""
    try:
        with open('/proc/self/statm') as file:
            pages = int(file.read().split()[0])
    except OSError:  # not on Linux: there is no limit
        return
    _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)


def available() -> int:
    """Return how many bytes of memory this machine, or the control group of this process, has."""
    limits = []
    with suppress(OSError, ValueError):  # not on Linux, or hidden: the other limits remain
        lines = dict(line.split(':') for line in Path('/proc/meminfo').read_text().splitlines())
        limits.append(int(lines['MemAvailable'].split()[0]) << 10)
    with suppress(OSError):
        for line in Path('/proc/self/cgroup').read_text().splitlines():
            group = Path('/sys/fs/cgroup', line.partition('::')[2].strip('/'))
            for folder in (group, *group.parents):
                with suppress(OSError, ValueError):  # 'max': no limit
                    most = int((folder / 'memory.max').read_text())
                    limits.append(most - int((folder / 'memory.current').read_text()))
    return max(min(limits, default=4 << 30), 0)


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, hard))


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(':')
    return getattr(import_module(module), function)


def _answer(source: BinaryIO, target: BinaryIO) -> None:
    name, arguments, memory, seconds = marshal.load(source)
    function = _function(name)
    extend_time(seconds)
    limit_memory(memory)
    answer: tuple[str | None, Any]
    try:
        answer = None, function(*arguments)
    except Exception as error:
        answer = problem_of(error), None
    target.write(marshal.dumps(answer))
