# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what is done before a word is drawn: `auto`, a node's tables, calibrate and explore."""
import subprocess
import sys
from time import perf_counter, process_time

from bench.chains import grid, PRIVACY, with_staying
from bench.measure import Figure, Row
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.registry import LIVE
import yaml


def _choice(effort):
    times = []
    for i in range(effort.rounds):
        chain = with_staying(grid(10, 10 + i))  # one that was not chosen for before
        begun = perf_counter()
        choose(chain, PRIVACY, MechanismSettings(), 100)
        times.append(perf_counter() - begun)
    yield Figure([1e3 * t for t in times])


def _prepared(width, height):
    def measure(effort):
        chain, times = with_staying(grid(width, height)), []
        for i in range(1 + effort.rounds):  # the first one loads what is not there
            begun = process_time()
            settings = choose(chain, PRIVACY, MechanismSettings(LIVE))
            settings.online(chain, PRIVACY).privatize([chain.initial_state] * 2)
            times.append(process_time() - begun)
        yield Figure(times[1:])
    return measure


def _command(width, height, *arguments):
    def measure(effort):
        chain = with_staying(grid(width, height))
        file, page = (effort.directory / f'{width}.{end}' for end in ('chain.yaml', 'html'))
        file.write_text(yaml.safe_dump({
            'initial_state': chain.initial_state,
            'transitions': {state: [*chain.successors(state)] for state in chain.states}}))
        times = []
        for _ in range(1 if width * height > 100 else 2):
            page.unlink(missing_ok=True)
            begun = perf_counter()
            subprocess.run([
                sys.executable, '-m', 'symdp_ros.cli.main', arguments[0], str(file),
                *arguments[1:], *(['-o', str(page)] if arguments[0] == 'explore' else [])],
                check=True, capture_output=True)
            times.append(perf_counter() - begun)
        yield Figure(times[-1:])
    return measure


ROWS = (
    Row('auto', _choice,
        'What `auto` takes for a log of 100 symbols, on grids of 100 states and more, each new.'),
    Row('prepared-200', _prepared(10, 20),
        'What a `privatizer` makes before it is configured: its choice, the tables and a first '
        'draw, in a process that has made one before. Grids, staying allowed.'),
    Row('prepared-2000', _prepared(40, 50), slow=True),
    Row('calibrate-100', _command(
        10, 10, 'calibrate', '--protect', '30', '--stay', '60', '--epsilon', '3'),
        'The command, as it is typed, with its start; of small maps the second call counts. A '
        'grid, staying allowed; 3 s is half of what it took when each policy was simulated.'),
    Row('calibrate-743', _command(1, 743, 'calibrate'), slow=True),
    Row('explore-100', _command(10, 10, 'explore'), slow=True),
    Row('explore-743', _command(1, 743, 'explore'), 'The same of a corridor of 743 places.',
        slow=True),
)
