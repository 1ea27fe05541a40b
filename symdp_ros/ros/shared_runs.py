# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Work that many ask for, one run after another: those who ask before a run begins share it."""
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
import threading


class SharedRuns:
    """
    Runs work on a thread of its own.

    However often it is asked for, at most one run for each key waits: what asks meanwhile is
    answered together with it.

    :param name: of the thread.
    """

    def __init__(self, name: str):
        self._thread = ThreadPoolExecutor(1, name)
        self._lock = threading.Lock()
        self._waiting = {}  # key → what answers those who asked for a run that has not begun

    def ask(self, key: Hashable, work: Callable[[], object],
            answer: Callable[[object], None]) -> None:
        """
        Ask for a run.

        :param key: calls with one key ask for the same.
        :param work: what is to be done; it must not raise.
        :param answer: called with what `work` returned, on the thread.
        """
        with self._lock:
            if key in self._waiting:
                self._waiting[key].append(answer)
                return
            self._waiting[key] = [answer]
        self._thread.submit(self._run, key, work)

    def close(self) -> None:
        """Wait until all runs that were asked for are done."""
        self._thread.shutdown(wait=True)

    def _run(self, key, work):
        with self._lock:
            answers = self._waiting.pop(key)
        result = work()
        for answer in answers:
            answer(result)
