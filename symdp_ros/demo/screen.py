# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What demos of one robot and of many show alike."""
import os
import time

from symdp_ros.analysis.alternatives import single_moves
from symdp_ros.errors import printable
from symdp_ros.ros.process.own_network import is_isolated


def visibility() -> str:
    """Return a line that says who sees the demo's topics."""
    if not is_isolated():
        return 'other programs of this machine see the demo in that domain'
    return ('no other program of this machine sees the demo; to look on, start it by '
            '`ROS_DOMAIN_ID=7 symdp demo …`')


def watch(options, console, spin, table) -> bool:
    """
    Draw a table again and again until the demo has lasted long enough, or Ctrl-C is pressed.

    :param spin: receives messages for a moment.
    :param table: a function of the title.
    :return: whether it has lasted long enough.
    """
    from rich.live import Live

    begin = time.monotonic()
    try:
        with Live(console=console, refresh_per_second=8) as live:
            while (now := time.monotonic() - begin) < options.duration:
                spin()
                live.update(table(f'{now:.1f} s of {options.duration:g} s (Ctrl-C: end now)'))
    except KeyboardInterrupt:
        return False
    return True


def heading(options, chain, more) -> str:
    """Return a line about the map and the settings, as markup."""
    from rich.markup import escape

    single = single_moves(chain)
    name = escape(printable(os.path.basename(options.chain_file)))
    return (f'[bold]{name}[/]: {len(chain)} states, {chain.edge_count} moves, from state '
            f'{escape(chain.initial_state)}; '
            f'ε = {options.epsilon:g}, k = {options.adjacency}, policy {options.policy}; {more}'
            + (f'\n{single}' if single else ''))


def wrong(true, others) -> int:
    """Return how many symbols differ from the true ones, of those that both words have."""
    return sum(s != o for s, o in zip(true, others, strict=False))
