# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The linters that ROS packages run, types, and licences: `make lint`, not `make test`."""
import ast
from collections import Counter
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.linter
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / name) for name in ('symdp_ros', 'launch', 'bench', 'mutation', 'studies',
                                         'test', 'setup.py')]
HEADER = ('# SPDX-FileCopyrightText: 2026 The symdp_ros authors\n'
          '# SPDX-License-Identifier: Apache-2.0\n')


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


#: ament_lint_cmake has nothing to look at. ament_copyright knows no SPDX lines in sources.
@pytest.mark.parametrize('linter, files', [
    ('ament_flake8', SOURCES), ('ament_pep257', SOURCES),
    ('ament_copyright', ['LICENSE', 'CONTRIBUTING.md']), ('ament_xmllint', ['launch', 'test'])])
def test_linter(linter, files):
    lint(linter, *files)


def test_package_xml():
    """Against the schema that it names."""
    try:
        lint('ament_xmllint', 'package.xml')
    except AssertionError as error:
        if 'Failed to locate the main schema resource' in str(error):
            pytest.skip('the schema of package.xml cannot be fetched')
        raise


def lint(linter, *files):
    pytest.importorskip(linter, reason=f'{linter} is not installed')
    if linter == 'ament_xmllint' and not shutil.which('xmllint'):
        pytest.skip('xmllint is not installed')
    run('-c', f'import sys; from {linter}.main import main; sys.exit(main(argv=sys.argv[1:]))',
        *files)


def test_types():
    pytest.importorskip('mypy', reason='mypy is not installed')
    run('-m', 'mypy')


def python_files():
    return [file for source in map(Path, SOURCES)
            for file in ([source] if source.is_file() else source.rglob('*.py'))]


def test_no_constant_gets_two_values():
    """The second one would take the place of the first one in all other modules."""
    for file in python_files():
        names = Counter(name.id for line in ast.parse(file.read_text()).body
                        if isinstance(line, ast.Assign)
                        for target in line.targets for name in ast.walk(target)
                        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))
        assert {name for name, count in names.items() if count > 1} == set(), file


def test_licences():
    files = python_files()
    assert len(files) > 200
    assert [file for file in files if not file.read_text().startswith(HEADER)] == []
    for file in (ROOT / 'symdp_ros').rglob('*.[ch]'):
        lines = file.read_text().splitlines()
        assert [line[3:] for line in lines[:2]] == [line[2:] for line in HEADER.splitlines()]
        assert max(map(len, lines)) <= 99, file
