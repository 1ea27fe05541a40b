# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md, and the page of long runs: what they say of the project is so."""
from pathlib import Path
import re
from xml.etree import ElementTree

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
