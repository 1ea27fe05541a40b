# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The standard output of a program, whose reader may end before it (`… | head`)."""
import os
import sys


def open_closed_output() -> None:
    """Write into nothing where a program was started with a closed output (`… >&-`)."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, 'w')
    if sys.stderr is None:
        sys.stderr = open(os.devnull, 'w')


def close_output() -> None:
    """Write out what was printed; where nobody reads it, or a disk is full, give it up."""
    try:
        sys.stdout.flush()
    except OSError:  # the interpreter would print an error when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
