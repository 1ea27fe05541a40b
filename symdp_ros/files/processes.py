# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The same work for many values, in processes that end with this one, however it ends."""
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
import os
from signal import pthread_sigmask, SIG_BLOCK, SIG_SETMASK, SIGINT
from threading import Thread
from typing import Any, TypeVar

from symdp_ros.errors import SymdpError

_Value = TypeVar('_Value')
_Result = TypeVar('_Result')

_work = list[Callable[[Any], Any]]()  # of a process that computes: one


def in_processes(work: Callable[[_Value], _Result], values: Iterable[_Value],
                 count: int) -> Generator[_Result, None, None]:
    """
    Yield `work(value)` for each value, in their order; a few are computed ahead.

    An interrupt is for this process alone; the others end with the generator.

    :param work: it and the values can be pickled.
    :param count: of processes; 1: it is done in this one.
    :raises SymdpError: one of them was ended.
    """
    if count == 1:
        yield from map(work, values)
        return
    values, others = iter(values), {*active_children()}
    # Work that is large goes with the start: in the queue, it could not be taken back.
    with ProcessPoolExecutor(count, get_context('spawn'), _begin, (work,)) as pool:
        try:
            before = pthread_sigmask(SIG_BLOCK, {SIGINT})  # as they inherit it
            try:
                waiting = deque(pool.submit(_compute, value)
                                for value in islice(values, 2 * count))
            finally:
                pthread_sigmask(SIG_SETMASK, before)
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(_compute, value) for value in islice(values, 1))
                yield result
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in {*active_children()} - others:
                process.terminate()
            if isinstance(error, (BrokenProcessPool, BrokenPipeError)):
                raise SymdpError('a process of this command was ended, perhaps for want of '
                                 'memory: try again with less at a time') from None
            raise


def _begin(work: Callable[[Any], Any]) -> None:
    """Take note of the work of this process; let it end with the one that began it."""
    _work.append(work)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _compute(value: Any) -> Any:
    [work] = _work
    return work(value)
