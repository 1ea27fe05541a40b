# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`make test-often` runs files that are there."""
from pathlib import Path
import runpy

ROOT = Path(__file__).resolve().parents[2]


def test_all_that_it_runs_is_there():
    often = runpy.run_path(str(ROOT / 'test' / 'often.py'))
    assert [name for name in often['PROCESSES'] if not (ROOT / name).exists()] == []
