# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops on the disk: one process compiles a loop, others that need it wait."""
from collections.abc import Callable
import fcntl
import os
import time
from typing import Any, BinaryIO

from numba.core.caching import FunctionCache
from symdp_ros.core.compiled.notice import COMPILING, loops_begin, step_begins

_LONGEST_WAIT = 60.0  # seconds; then it is compiled here as well
_LOOKS = 0.05         # seconds from one look to the next


class WaitingCache(FunctionCache):
    """
    What numba keeps of one function, for all processes.

    After an installation many nodes may start at once. The first one that needs a loop locks it
    until it is compiled. A lock ends with its process, and is not inherited by others.

    """

    #: Whether to wait: called where a function is not on the disk.
    waits = staticmethod(lambda: True)
    _locked: BinaryIO | None = None

    def __init__(self, function: Callable[..., Any]) -> None:
        """
        Find a directory for it.

        :raises RuntimeError: none can be written.
        """
        super().__init__(function)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is on the disk; None, and the lock is held, where it has to be compiled."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None and self.waits():
            self._lock()
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            if found is not None:
                self.unlock()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        self.unlock()

    def unlock(self) -> None:
        """Let others compile; nothing where it is not locked."""
        if self._locked is not None:
            self._locked.close()
            self._locked = None

    def _lock(self) -> None:
        until = time.monotonic() + _LONGEST_WAIT
        name = os.path.join(self.cache_path, self._impl.filename_base + '.lock')
        try:
            self._locked = open(name, 'wb')
            while not _is_locked(self._locked) and time.monotonic() < until:
                loops_begin(COMPILING)
                step_begins()
                time.sleep(_LOOKS)
        except OSError:  # some network drives know no locks
            self.unlock()


def _is_locked(file: BinaryIO) -> bool:
    """Lock a file, unless another process holds it."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
