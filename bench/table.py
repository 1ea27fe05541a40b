# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a run: for a terminal, and for the page."""
from bench.goals import GOALS, in_unit
from bench.suite import verdict

HEAD = ('what', 'against', 'goal', 'measured (quartiles)', 'verdict', 'seconds')
_WIDE, _PIPED_WIDTH = 150, 180  # columns


def rows(found) -> list[tuple[str, ...]]:
    """
    Return a row for each goal that was asked for, in the order of `HEAD`.

    :param found: what `suite.run` returns, or JSON read again.
    """
    table = []
    for name, goal in GOALS.items():
        plain = found['goals'][name]
        if plain.get('missing') == 'not asked for':
            continue
        value = times = ''
        if 'missing' not in plain:
            lower, upper = (in_unit(value, goal.unit) for value in plain['quartiles'])
            times = ', '.join(f'{label} {in_seconds(value)}'
                              for label, value in plain['seconds'].items())
            value = f'{in_unit(plain["median"], goal.unit)} ({lower} to {upper})'
        table.append((goal.what, goal.against, str(goal), value, verdict(plain), times))
    return table


def in_seconds(value: float) -> str:
    """Return seconds in a unit that suits them."""
    for size, unit in ((1, 's'), (1e-3, 'ms'), (1e-6, 'µs')):
        if value >= size:
            return f'{value / size:.3g} {unit}'
    return f'{value / 1e-9:.3g} ns'


def print_table(found) -> None:
    """Print the table, and what stands around it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=_PIPED_WIDTH)
    wide = console.width >= _WIDE
    console.print(f'{machine_line(found)}\n')
    table = Table(box=None, pad_edge=False, header_style='bold')
    for column in HEAD[:None if wide else -1]:
        table.add_column(column, overflow='fold')
    for *cells, last, times in rows(found):
        colour = ('green' if last.startswith('met') else 'red' if last.startswith('not met')
                  else 'yellow')
        table.add_row(*(cell.replace('`', '') for cell in cells), Text(last, colour),
                      *([Text(times, 'dim')] if wide else []))
    console.print(table)
    console.print(counted(found))


def counted(found) -> str:
    """Return how many goals were met."""
    verdicts = [row[-2] for row in rows(found)]
    met = sum(verdict.startswith('met') for verdict in verdicts)
    missed = sum(verdict.startswith('not met') for verdict in verdicts)
    return f'{met} met, {missed} not met, {len(verdicts) - met - missed} not measured'


def machine_line(found) -> str:
    """Return on what, when and how often it was measured."""
    machine = found['machine']
    libraries = ', '.join(f'{name} {version}' for name, version in machine['libraries'].items())
    return (f'{machine["processor"]}, {machine["cores"]} cores, {machine["system"]}; Python '
            f'{machine["Python"]}, {libraries}; loops: {machine.get("loops", "compiled")}; '
            f'{found["date"]}; {found["rounds"]} rounds'
            + (' (quick: smaller sizes)' if found['quick'] else ''))
