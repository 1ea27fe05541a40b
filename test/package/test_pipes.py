# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose reader ends before they do (`privatizer --help | head`) say nothing of it."""
import os
from pathlib import Path
import subprocess
import sys

import pytest
from symdp_ros.options import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = 'from symdp_ros.nodes.program import {0}; raise SystemExit({0}())'


@pytest.mark.parametrize('command', [
    *(['-c', _PROGRAM.format(node), '--help'] for node in PARAMETERS),
    *(['-m', 'symdp_ros.cli.main', *words] for words in (
        ['--help'], ['--version'],
        ['check', 'config/warehouse.chain.yaml', '--epsilon', '2']))],
    ids=lambda command: ' '.join(command[1:])[-30:])
def test_a_reader_that_has_ended(command):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, 'wb') as pipe:
        done = subprocess.run([sys.executable, *command], cwd=ROOT, stdout=pipe,
                              stderr=subprocess.PIPE, text=True)
    assert not done.stderr
