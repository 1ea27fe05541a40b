# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What demos of one robot and of many show alike."""
from collections.abc import Sequence
import os
import time

from symdp_ros.errors import printable
from symdp_ros.ros.process.own_network import is_isolated


def visibility(domains: str) -> str:
    """Return a line that says who sees the demo's topics."""
    if not is_isolated():
        return f'{domains}, which other programs of this machine see'
    return (f'{domains}, which no other program sees; to watch it from another program, choose '
            'one: `ROS_DOMAIN_ID=7 symdp demo …`')


def watch(options, console, spin, picture) -> bool:
    """
    Draw a picture again and again until the demo has lasted long enough, or Ctrl-C is pressed.

    :param spin: receives messages for a moment.
    :param picture: a function of the title.
    :return: whether it has lasted long enough.
    """
    from rich.live import Live

    if not console.is_terminal:
        console.print(f'running for {options.duration:g} s; below is the last picture')
    begin = time.monotonic()
    try:
        with Live(console=console, refresh_per_second=8) as live:
            while (now := time.monotonic() - begin) < options.duration:
                spin()
                live.update(picture(f'{now:.0f} s of {options.duration:g} s (Ctrl-C: end now)'))
    except KeyboardInterrupt:
        return False
    return True


def heading(options, chain, robot: str = 'the robot') -> str:
    """Return, as markup, what is hidden, and what others see instead."""
    from rich.markup import escape

    name = escape(printable(os.path.basename(options.chain_file)))
    return (f'[bold]{name}[/], {len(chain)} places. [bold]Hidden: where {robot} is during any '
            f'{options.protect:g} s[/] (ε\u00a0=\u00a0{options.epsilon:g}).\n'
            'Seen instead: a private robot, which moves only as the map allows. Every '
            f'{options.period:g}\u00a0s it gets one noisy look at the true place.')


def share_wrong(pairs: Sequence[tuple[str, str]]) -> float:
    """Return how much of the time others saw a wrong place."""
    return sum(true != private for true, private in pairs) / max(1, len(pairs))
