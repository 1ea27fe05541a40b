# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a long command."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import sys

_LONG = 5.0  # seconds


def announce(work: str, seconds: float) -> None:
    """Say on stderr how long some work takes, where that is long."""
    if seconds > _LONG:
        print(f'{work}: about {seconds:.0f} s (--seconds)', file=sys.stderr, flush=True)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """
    Give a function to call with a few words after each step.

    On a terminal it moves a bar on stderr, which disappears at the end; elsewhere it does nothing.

    :param total: how many steps there are.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = BarColumn(), TimeElapsedColumn(), TextColumn('{task.description}', markup=False)
    with Progress(*columns, console=console, transient=True,
                  disable=not console.is_terminal) as bars:
        task = bars.add_task('', total=total)
        yield lambda text: bars.update(task, advance=1, description=text)
