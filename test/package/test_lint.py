# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The linters that ROS packages run, types, and licences: `make lint`, not `make test`."""
from pathlib import Path
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


@pytest.mark.parametrize('linter', ['ament_flake8', 'ament_pep257'])
def test_linter(linter):
    pytest.importorskip(linter, reason=f'{linter} is not installed')
    run('-c', f'import sys; from {linter}.main import main; sys.exit(main(argv=sys.argv[1:]))',
        *SOURCES)


def test_types():
    pytest.importorskip('mypy', reason='mypy is not installed')
    run('-m', 'mypy')


def test_licences():
    files = [file for source in map(Path, SOURCES)
             for file in ([source] if source.is_file() else source.rglob('*.py'))]
    assert len(files) > 200
    assert [file for file in files if not file.read_text().startswith(HEADER)] == []
