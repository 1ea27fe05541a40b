# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tables that `symdp` prints."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def plain_table(*columns: str) -> 'Table':
    """Return a table without lines, whose cells are folded; '>name': a column of numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style='bold')
    for column in columns:
        table.add_column(column.removeprefix('>'), overflow='fold',
                         justify='right' if column.startswith('>') else 'left')
    return table


def ruled_table(*columns: str, padding: int = 1) -> 'Table':
    """Return a table with lines, whose cells are not folded; '>name': a column of numbers."""
    from rich.table import Table

    table = Table(padding=(0, padding))
    for column in columns:
        table.add_column(column.removeprefix('>'), no_wrap=True,
                         justify='right' if column.startswith('>') else 'left')
    return table
