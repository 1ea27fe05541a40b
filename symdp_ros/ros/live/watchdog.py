# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""End the process where the middleware hangs."""
from collections.abc import Iterator
from contextlib import contextmanager
import faulthandler

_STDERR = 2


@contextmanager
def ends_if_stuck(seconds: float) -> Iterator[None]:
    """
    End this process, with status 1 and the traceback of its threads, unless it is done in time.

    Fast DDS can wait for itself while it destroys a publisher (one of 50 nodes that were ended at
    the same moment), or the last node of a context while a discovery callback runs (its issue
    6513), and rclpy then holds the interpreter's lock: no code in Python runs any more, signals
    have no effect. What must not be lost is on the disk by then, and `respawn` works. Not to be
    nested.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
