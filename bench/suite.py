# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Running the rows: what was measured, on what machine, as one plain structure."""
from collections.abc import Iterable
from datetime import date
from importlib import metadata
import os
import platform
from statistics import median
import sys
from time import perf_counter
import traceback

from bench import batch, choosing, ledger, offline, online, parquet, peers, processes
from bench.goals import GOALS
from bench.measure import Effort, NotMeasured, quartiles_of, Row
from bench.scaling import curves
from symdp_ros.core.offline import passes

ROWS = (*online.ROWS, *choosing.ROWS, *peers.ROWS, *offline.ROWS, *batch.ROWS, *parquet.ROWS,
        *ledger.ROWS, *processes.ROWS)

_LIBRARIES = ('numpy', 'scipy', 'pyarrow', 'cryptography', 'opendp', 'diffprivlib',
              'dynamax', 'jax', 'pynini', 'rclpy')


def run(rows: Iterable[Row], effort: Effort, command: str, *, scaling: bool = True) -> dict:
    """
    Measure the rows; say on stderr how it goes.

    An interrupt (Ctrl-C) ends the run, not what it found: what is missing then says so. A row
    that fails says so, with its traceback on stderr.

    :return: what `benchmarks.json` holds.
    """
    rows = list(rows)
    found = {'date': date.today().isoformat(), 'command': command, 'quick': effort.quick,
             'rounds': effort.rounds, 'seconds_a_timing': effort.seconds, 'machine': machine(),
             'goals': {}, 'scaling': {}, 'interrupted': False}
    missing = dict.fromkeys(GOALS, 'not asked for')
    missing |= {goal: 'interrupted' for row in rows for goal in row.goals}
    started = perf_counter()
    try:
        for i, row in enumerate(rows, 1):
            begun = perf_counter()
            try:
                if row.slow and effort.quick:
                    raise NotMeasured('takes too long for the quick run')
                for figure in row.measure(effort):
                    goal = figure.goal or row.name
                    found['goals'][goal] = as_plain(figure, GOALS[goal])
            except NotMeasured as why:
                missing |= dict.fromkeys(row.goals, str(why))
            except Exception as error:
                traceback.print_exc()
                missing |= dict.fromkeys(row.goals, f'failed: {type(error).__name__}')
            _tell(f'{i} of {len(rows)}: {row.name}, {perf_counter() - begun:.1f} s')
        if scaling:
            _tell('scaling')
            found['scaling'] = curves(effort)
    except KeyboardInterrupt:
        found['interrupted'] = True
    _tell(f'{perf_counter() - started:.0f} s in all')
    found['goals'] = {goal: found['goals'].get(goal) or {'missing': missing[goal]}
                      for goal in GOALS}
    return found


def as_plain(figure, goal) -> dict:
    """Return a figure as JSON holds it, with what follows from it."""
    values = [*map(float, figure.values)]
    value = median(values)
    plain = {'values': values, 'median': value, 'quartiles': list(quartiles_of(values)),
             'unit': goal.unit, 'goal': str(goal), 'met': goal.is_met(value),
             'seconds': dict(figure.seconds)}
    return plain | {name: getattr(figure, name) for name in ('note', 'estimate')
                    if getattr(figure, name)}


def verdict(goal) -> str:
    """Return the verdict on what JSON holds for a goal."""
    if 'missing' in goal:
        return f'not measured: {goal["missing"]}'
    return ('met' if goal['met'] else 'not met') + (
        f' (an estimate {goal["estimate"]})' if 'estimate' in goal else '')


def machine() -> dict:
    """Return what the figures depend on; neither names of hosts nor paths."""
    versions = {}
    for library in _LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return {'processor': _processor(), 'cores': len(os.sched_getaffinity(0)),
            'system': f'{platform.system()} {platform.machine()}',
            'Python': platform.python_version(), 'libraries': versions,
            'loops': 'NumPy' if passes.compiled is None else 'compiled'}


def _processor():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as lines:
            models = [line.partition(':')[2].strip() for line in lines if 'model name' in line]
        return models[0]
    except (OSError, IndexError):
        return platform.processor() or 'unknown'


def _tell(text):
    print(f'bench: {text}', file=sys.stderr, flush=True)
