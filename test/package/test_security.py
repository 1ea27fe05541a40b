# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md, and the page of long runs: what they say of the project is so."""
import os
from pathlib import Path
import re
import stat
from xml.etree import ElementTree

from in_process import run_symdp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE, LONG_RUNS = ((ROOT / name).read_text('utf-8')
                   for name in ('SECURITY.md', 'docs/evidence/long-runs.md'))


def test_the_contact_is_that_of_the_package():
    maintainer = ElementTree.parse(ROOT / 'package.xml').getroot().find('maintainer')
    assert f'<{maintainer.get("email")}>' in PAGE


def test_the_files_that_it_names_are_there():
    named = re.findall(r'`([\w/]+\.py)`', PAGE + LONG_RUNS)
    assert named
    for name in named:
        assert (ROOT / name).exists() or (ROOT / 'symdp_ros' / name).exists(), name


def test_every_figure_is_that_of_a_test():
    rows = re.findall(r'^\| (test/.*?) \|', LONG_RUNS, re.M)
    assert rows
    for row in rows:
        file, _, name = row.partition('::')
        assert f'def {name.partition("[")[0]}(' in (ROOT / file).read_text('utf-8'), row


def test_what_no_other_user_can_read(tmp_path):
    """Whatever the umask."""
    pytest.importorskip('pyarrow', reason='archives need pyarrow')
    (tmp_path / 'chain.yaml').write_text('initial_state: a\ntransitions: {a: [a, b], b: [a]}\n')
    (tmp_path / 'fleet' / 'r1').mkdir(parents=True)
    (tmp_path / 'fleet' / 'r1' / 'log.csv').write_text('stamp,symbol\n0,a\n1,b\n')
    before = os.umask(0)
    try:
        for command in (('table', 'fleet', '-o', 'true.table'), (
                'release', 'fleet/r1', '-o', 'out', '--chain', 'chain.yaml', '--epsilon', '1',
                '--adjacency', '1', '--ledger', 'spent.ledger', '--subject', 'r1')):
            done = run_symdp(*command, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / 'cache'))
            assert done.returncode == 0, done.stderr
    finally:
        os.umask(before)
    for name in ('true.table', 'spent.ledger', 'spent.ledger.mark', 'out/.symdp_ros.lock'):
        assert not stat.S_IMODE((tmp_path / name).stat().st_mode) & 0o077, name
    assert not any(stat.S_IMODE(folder.stat().st_mode) & 0o077
                   for folder in tmp_path.glob('cache/*'))
