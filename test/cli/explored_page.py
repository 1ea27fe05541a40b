# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A page of `symdp explore` on a small map, and what is in it."""
from contextlib import contextmanager
import json
import re

from in_process import run_symdp
import pytest

MAP = """\
initial_state: a
regions:
  a: {zone: west, polygon: [[0, 0], [4, 0], [4, 4], [0, 4]]}
  "b </script><b>": {zone: west, polygon: [[4, 0], [8, 0], [8, 4], [4, 4]]}
  c: {zone: east, polygon: [[4, 4], [8, 4], [8, 8], [4, 8]]}
  d: {zone: east, polygon: [[0, 4], [4, 4], [4, 8], [0, 8]]}
"""
OPTIONS = ('--self-loops', '--epsilon', '3', '--epsilon', '1', '--epsilon', '8', '--protect', '4',
           '--protect', '8', '--stay', '8', '--stay', '60')
WITHOUT_POSITIONS = {
    'name': 'p.yaml', 'options': ('--epsilon', '3', '--protect', '5'),
    'text': 'initial_state: a\ntransitions: {a: {a: 0.9, b: 0.1}, b: {a: 0.5, b: 0.5}}\n'}


@contextmanager
def in_short_time():
    """Few and short walks, in this process: others import for seconds (`test_exploration.py`)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('os.sched_getaffinity', lambda process: {0})
        patch.setattr('symdp_ros.analysis.visits._WALKS', 2)
        patch.setattr('symdp_ros.analysis.visits._LEAST_TICKS', 60)
        patch.setattr('symdp_ros.analysis.visits._FEWEST_WALKS', 2)
        patch.setattr('symdp_ros.analysis.visits._LEAST_WALKS', 2)
        patch.setattr('symdp_ros.analysis.exploration._LEAST_TICKS', 100)
        yield


def make_page(folder, *more, name='r&d <house>.regions.yaml', text=MAP, options=OPTIONS):
    """Return the path of a page, and the map's; made in this process."""
    file, written = folder / name, folder / 'report.html'
    file.write_text(text)
    run = run_symdp('explore', file, *options, '-o', written, *more)
    assert run.returncode == 0, run.stderr
    return written, file


def data_of(written):
    """Return what was put into a page."""
    text = written.read_text(encoding='utf-8')
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text,
                                re.S)[1])
