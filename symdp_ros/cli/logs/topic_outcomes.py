# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of the topics of recordings, as tables."""
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from symdp_ros.cli.printed_tables import plain_table
from symdp_ros.errors import printable
from symdp_ros.logs import TopicOutcome

if TYPE_CHECKING:
    from rich.console import Console

#: The id of a log, and what becomes of its topics.
OfTopics: TypeAlias = tuple[str, tuple[TopicOutcome, ...]]


def print_topics(console: 'Console', topics: Iterable[OfTopics], coarse_stamps: float) -> None:
    """Print what becomes of the topics of each log: one table for the logs that are alike."""
    logs: dict[tuple[TopicOutcome, ...], list[str]] = {}
    for log_id, outcomes in topics:
        logs.setdefault(outcomes, []).append(log_id)
    for outcomes, names in logs.items():
        table = plain_table('topic', 'type', 'result', 'why, and what it shows')
        for topic in outcomes:
            short = topic._replace(type=topic.type.replace('/msg/', '/'))
            table.add_row(*(printable(text, 200) for text in short))
        console.print()
        console.print(f'{names[0]} and {len(names) - 1} more:' if len(names) > 1
                      else f'{names[0]}:', soft_wrap=True)
        console.print(table)
    if logs:
        exact = '' if coarse_stamps else ', and --coarse-stamps makes it less exact'
        console.print()
        console.print(f'ε does not cover kept topics: what they hold is copied. Their times start '
                      f'at zero, but their timing may show what the robot does{exact}',
                      soft_wrap=True)
