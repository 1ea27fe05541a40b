# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops on the disk: one process compiles a loop, others that need it wait."""
from collections.abc import Callable
import fcntl
from functools import cache
from hashlib import blake2b
import os
import sys
import time
from types import ModuleType
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

    What was compiled holds while all files stay that it was compiled from: numba looks at the file
    of the function alone, not at those of the functions that it calls.
    """

    _locked: BinaryIO | None = None

    def __init__(self, function: Callable[..., Any]) -> None:
        """
        Find a directory for it.

        :raises RuntimeError: none can be written.
        """
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._module = function.__module__

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is on the disk; None, and the lock is held, where it has to be compiled."""
        if self._module:  # now that all it calls is there
            self._cache_file._source_stamp = _stamp(self._module)
            self._module = ''
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
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


@cache
def _stamp(module: str) -> list[tuple[str, bytes]]:
    """Return the name and the digest of each file of one package that a module imports from."""
    package, found, left = module.partition('.')[0], dict[str, bytes](), [module]
    while left:
        name = left.pop()
        here = sys.modules.get(name)
        if name in found or here is None or not here.__file__:
            continue
        found[name] = _digest(here.__file__)
        for value in vars(here).values():
            origin = value.__name__ if isinstance(value, ModuleType) else (
                getattr(value, '__module__', None))
            if isinstance(origin, str) and origin.partition('.')[0] == package:
                left.append(origin)
    return sorted(found.items())


@cache
def _digest(file: str) -> bytes:
    """Return a digest of a file: its time is another one in each clone and installation."""
    with open(file, 'rb') as source:
        return blake2b(source.read(), digest_size=16).digest()


def _is_locked(file: BinaryIO) -> bool:
    """Lock a file, unless another process holds it."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
