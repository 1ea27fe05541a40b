# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a command tells its operator on stderr: notes, and the progress of long work."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import sys

from symdp_ros.errors import printable

_LONG = 5.0  # seconds


def tell(command: str, text: object) -> None:
    """Print what the operator of a command should know."""
    print(f'symdp {command}: {printable(text, 2000)}', file=sys.stderr, flush=True)


def announce(work: str, seconds: float) -> None:
    """Say on stderr how long some work takes, where that is long."""
    if seconds > _LONG:
        print(f'{work}: about {seconds:.0f} s (--seconds)', file=sys.stderr, flush=True)


@contextmanager
def progress(total: int | None, *, shown: bool = True) -> Iterator[Callable[..., None]]:
    """
    Give a function to call with a few words after each step, or after some steps.

    On a terminal it moves a bar on stderr, which disappears at the end; elsewhere it does nothing.

    :param total: how many steps there are; None: the function is told.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = BarColumn(), TimeElapsedColumn(), TextColumn('{task.description}', markup=False)
    with Progress(*columns, console=console, transient=True,
                  disable=not (shown and console.is_terminal)) as bars:
        task = bars.add_task('', total=total)
        yield lambda text='', steps=1, total=total: bars.update(
            task, advance=steps, total=total, description=text)
