# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of work, one after another; requests made before a run begins share it."""
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
import threading
from typing import Any


class SharedRuns:
    """
    Runs work on a thread of its own.

    However often it is requested, at most one run for each key waits; requests made meanwhile get
    the answer of that run.

    :param name: of the thread.
    """

    def __init__(self, name: str):
        self._thread = ThreadPoolExecutor(1, name)
        self._lock = threading.Lock()
        self._waiting: dict[Hashable, list[Callable[[Any], object]]] = {}  # key → answers

    def ask(self, key: Hashable, work: Callable[[], Any],
            answer: Callable[[Any], object]) -> None:
        """
        Ask for a run.

        :param key: requests with the same key are for the same work.
        :param work: it must not raise.
        :param answer: called with what `work` returned, on the thread.
        """
        with self._lock:
            if key in self._waiting:
                self._waiting[key].append(answer)
                return
            self._waiting[key] = [answer]
        self._thread.submit(self._run, key, work)

    def close(self) -> None:
        """Wait until all requested runs are done."""
        self._thread.shutdown(wait=True)

    def _run(self, key, work):
        with self._lock:
            answers = self._waiting.pop(key)
        result = work()
        for answer in answers:
            answer(result)
