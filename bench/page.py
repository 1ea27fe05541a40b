# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the benchmarks, and its table, whose numbers all come from JSON."""
from pathlib import Path

from bench.goals import GOALS, in_unit
from bench.suite import ROWS, verdict
from studies.common import filled, table
import yaml

HEAD = ('what', 'against', 'goal', 'measured (quartiles)', 'verdict', 'seconds')


def rows(found) -> list[tuple[str, ...]]:
    """
    Return a row for each goal that was asked for, in the order of `HEAD`.

    :param found: what `suite.run` returns, or JSON read again.
    """
    lines = []
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
        lines.append((goal.what, goal.against, str(goal), value, verdict(plain), times))
    return lines


def in_seconds(value: float) -> str:
    """Return seconds in a unit that suits them."""
    for size, unit in ((1, 's'), (1e-3, 'ms'), (1e-6, 'µs')):
        if value >= size:
            return f'{value / size:.3g} {unit}'
    return f'{value / 1e-9:.3g} ns'


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


def printed(found) -> str:
    """Return the table with the times, and what stands around it."""
    return f'{machine_line(found)}\n\n{table(HEAD, rows(found))}\n\n{counted(found)}'


def page(found) -> str:
    """Return `benchmarks.md` for what JSON holds."""
    text, _, scaling = filled(__file__, {**globals(), **found, 'found': found}).partition(
        '\n---\n')
    return f'{text}\n\n{scaling}' if found['scaling'] else f'{text}\n'


def unmet(found) -> str:
    """Return the section on goals that are not met, or nothing."""
    why = yaml.safe_load(Path(__file__).with_name('why_not.yaml').read_text(encoding='utf-8'))
    lines = [f'- {goal.what}, against {goal.against}: {why.get(name, "not looked into")}.'
             for name, goal in GOALS.items() if not found['goals'][name].get('met', True)]
    return '\n## Why not met\n\n' + '\n'.join(lines) + '\n' if lines else ''


def how(found) -> str:
    """Return what was compared in each row that says so, and what is to be said of this run."""
    lines = []
    for row in ROWS:
        if row.how:
            named = '; '.join(dict.fromkeys(GOALS[goal].what for goal in row.goals))
            notes = [note for goal in row.goals if (note := found['goals'][goal].get('note'))]
            lines.append(' '.join([f'- **{named}.**', row.how, *dict.fromkeys(notes)]))
    return '\n'.join(lines)
