# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Foreign bytes in a process of their own.

What a library does with damaged bytes (abort, take all memory, never end) then happens to a
child, and this process reports it.
"""
from collections.abc import Callable
from importlib import import_module
import marshal
import os
import resource
import signal
import subprocess
import sys

from symdp_ros.core.errors import LogError

#: Bytes of memory that a child may take beyond what its libraries take when they are loaded.
MEMORY = 1 << 30
#: Seconds of processor time that a child may take before it answers, or between two `keep_on`.
SECONDS = 120

_MEMORY_PER_BYTE = 8
_SECONDS_PER_BYTE = 1e-6

_START = ('import marshal, sys; sys.path[:], name = marshal.load(sys.stdin.buffer); '
          'from symdp_ros.logs import child; child.main(name)')


def start(function: Callable, **options) -> subprocess.Popen:
    """
    Start a child that runs a function of a module, and give it the way to import the module.

    The function is called with a file to read from and one to write to: the ends of `stdin` and
    `stdout` here.
    """
    process = subprocess.Popen(
        [sys.executable, '-c', _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a library might quote there what it reads
        start_new_session=True,  # the parent decides what an interrupt means
        env={**os.environ, 'ARROW_DEFAULT_MEMORY_POOL': 'system', 'MALLOC_ARENA_MAX': '2'},
        **options)
    marshal.dump((sys.path, f'{function.__module__}:{function.__name__}'), process.stdin)
    process.stdin.flush()
    return process


def call(function: Callable, *arguments, size: int = 0):
    """
    Return what a function of a module returns; it runs in a process of its own.

    :param arguments: numbers, strings, bytes, None, and tuples, lists and dicts of these; so is
        what the function returns.
    :param size: bytes that are to be worked on: it may take so much more memory and time.
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


def ending(process: subprocess.Popen) -> str:
    """Return what is to be said of a child that ended before it had answered."""
    status = process.wait()
    how = 'with an error' if status >= 0 else f'by {signal.Signals(-status).name}'
    if status == -signal.SIGXCPU:
        how = 'after it had taken too long'
    return f'it cannot be read, as it is damaged: the process that read it ended {how}'


def problem_of(error: Exception) -> str:
    """Return what is to be said of an error at foreign bytes: nothing that quotes them."""
    if isinstance(error, LogError):
        return error.reason
    return f'it cannot be read, as it is damaged or cut off ({type(error).__name__})'


def keep_on(seconds: float = SECONDS) -> None:
    """Let this child live for some more seconds of processor time: it has made progress."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)


def main(name: str) -> None:
    """Run a function in this process, which is a child."""
    function = _function(name)
    # Whatever a library prints must not get between what is written.
    output = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)
    _limit(resource.RLIMIT_CORE, 0)
    keep_on()
    function(sys.stdin.buffer, output)
    output.close()
    os._exit(0)  # no library's way of ending can undo what has been said


def limit_memory(memory: int) -> None:
    """Limit the memory of this child to some bytes more than it has now: its libraries."""
    try:
        with open('/proc/self/statm') as file:
            pages = int(file.read().split()[0])
    except OSError:  # not on Linux: there is no limit
        return
    _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)


def _limit(kind, value):
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, hard))


def _function(name):
    module, _, function = name.partition(':')
    return getattr(import_module(module), function)


def _answer(source, target):
    name, arguments, memory, seconds = marshal.load(source)
    function = _function(name)
    keep_on(seconds)
    limit_memory(memory)
    try:
        answer = None, function(*arguments)
    except Exception as error:
        answer = problem_of(error), None
    target.write(marshal.dumps(answer))
