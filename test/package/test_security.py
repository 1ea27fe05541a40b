# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md: what it says of the project is so."""
from pathlib import Path
import re
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'SECURITY.md').read_text('utf-8')


def test_the_contact_is_that_of_the_package():
    maintainer = ElementTree.parse(ROOT / 'package.xml').getroot().find('maintainer')
    assert f'<{maintainer.get("email")}>' in PAGE


def test_the_files_that_it_names_are_there():
    named = re.findall(r'`([\w/]+\.py)`', PAGE)
    assert named
    for name in named:
        assert (ROOT / name).exists() or (ROOT / 'symdp_ros' / name).exists(), name


def test_every_figure_is_that_of_a_test():
    for row in re.findall(r'^\| (test/.*?) \|', PAGE, re.M):
        file, _, name = row.partition('::')
        assert f'def {name.partition("[")[0]}(' in (ROOT / file).read_text('utf-8'), row
