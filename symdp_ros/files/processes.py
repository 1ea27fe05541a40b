# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The same work for many values, in processes that end with this one, however it ends.

The pools of the standard library wait for ever where a process of theirs is ended as it answers.
Here each has a pipe of its own.
"""
from collections import deque
from collections.abc import Callable, Generator, Iterable
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, Pipe, wait
import os
from signal import pthread_sigmask, SIG_BLOCK, SIG_SETMASK, SIGINT
from threading import Thread
from typing import Any, TypeVar

from symdp_ros.errors import SymdpError

_Value = TypeVar('_Value')
_Result = TypeVar('_Result')

_AHEAD = 2  # values for each process that may be begun before their results are taken


def in_processes(work: Callable[[_Value], _Result], values: Iterable[_Value],
                 count: int) -> Generator[_Result, None, None]:
    """
    Yield `work(value)` for each value, in their order; a few are computed ahead.

    An interrupt is for this process alone; the others end with the generator.

    :param work: it, the values, the results and what it raises can be pickled.
    :param count: of processes; 1: it is done in this one.
    :raises SymdpError: one of them was ended.
    """
    if count == 1:
        yield from map(work, values)
        return
    coming, workers = iter(values), {}
    # Else the first process would start it, and that unblocks SIGINT.
    resource_tracker.ensure_running()
    try:
        before = pthread_sigmask(SIG_BLOCK, {SIGINT})  # new processes inherit the mask
        try:
            for _ in range(count):
                here, there = Pipe()
                process = get_context('spawn').Process(target=_serve, args=(there,))
                process.start()
                workers[here] = process
                there.close()
        finally:
            pthread_sigmask(SIG_SETMASK, before)
        for pipe in workers:
            pipe.send(work)
        yield from _results(coming, [*workers])
    except (EOFError, ConnectionError):
        raise SymdpError('a process of this command was ended, perhaps for want of memory: try '
                         'again with less at a time') from None
    finally:
        for pipe, process in workers.items():
            process.kill()
            process.join()
            pipe.close()


def _results(values: Any, idle: list[Connection]) -> Generator[Any, None, None]:
    """Yield the results in the order of the values; each process has one value at a time."""
    most = _AHEAD * len(idle)
    waiting = deque[list[Any]]()  # of each value that was begun, its answer once it is there
    busy: dict[Any, list[Any]] = {}
    while True:
        while idle and len(waiting) < most and (value := next(values, busy)) is not busy:
            pipe = idle.pop()
            waiting.append([])
            busy[pipe] = waiting[-1]
            pipe.send(value)
        if waiting and waiting[0]:
            [(done, result)] = waiting.popleft()
            if not done:
                raise result
            yield result
            continue
        if not busy:
            return
        pipes: list[Any] = wait([*busy])
        for pipe in pipes:
            busy.pop(pipe).append(pipe.recv())
            idle.append(pipe)


def _serve(pipe: Connection) -> None:
    """Compute what is asked for, until this process or the one that began it is ended."""
    Thread(target=_end_with_parent, daemon=True).start()
    work = pipe.recv()
    while True:
        value = pipe.recv()
        try:
            answer = True, work(value)
        except Exception as error:
            answer = False, error
        pipe.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
