# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The package as setup.py installs it, away from the repository."""
from importlib.metadata import distribution, PackageNotFoundError
import os
from pathlib import Path
import shutil
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What needs ROS, or another library that is not installed, names one of these.
FOREIGN = ('rclpy', 'ros2cli', 'rosbag2_py', 'dask', 'distributed', 'pyarrow', 'matplotlib',
           'rich', 'launch', 'launch_ros')

IMPORT_ALL = f"""
import importlib, pkgutil, symdp_ros
for module in pkgutil.walk_packages(symdp_ros.__path__, 'symdp_ros.'):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.partition('.')[0] not in {FOREIGN}:
            raise
print(symdp_ros.__file__)
"""

COMMANDS = """
import os, sys
os.sched_getaffinity = lambda process: {0}  # else explore starts processes, for seconds
from symdp_ros.analysis import visits
from symdp_ros.cli.main import main
visits._WALKS, visits._LEAST_WALKS, visits._LEAST_TICKS = 4, 2, 60
for command in ('check CHAIN',
                'release logs --epsilon 2 --adjacency 1 -o released --ledger spent.ledger '
                '--subject robot --mechanism causal --chain CHAIN', 'ledger spent.ledger',
                'explore -o page.html --epsilon 1 --protect 0.5 CHAIN'):
    assert main([sys.argv[1] if part == 'CHAIN' else part for part in command.split()]) == 0
"""


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Return the folder that holds an installation; libraries are those of the tests."""
    source, target = (tmp_path_factory.mktemp(name) for name in ('source', 'target'))
    for name in ('symdp_ros', 'launch', 'config', 'resource'):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns('__pycache__'))
    for name in ('setup.py', 'setup.cfg', 'package.xml', 'README.md'):
        shutil.copy(ROOT / name, source)
    here = ['--install-dir', str(target)]
    subprocess.run([sys.executable, 'setup.py', '-q', 'install_lib', *here, 'install_data', *here],
                   check=True, cwd=source)
    shutil.rmtree(source)
    for compiled in (ROOT / 'symdp_ros').rglob('*.nb?'):  # so that nothing is compiled
        place = target / compiled.relative_to(ROOT)
        place.parent.mkdir(exist_ok=True)
        shutil.copy(compiled, place)
    return target


def run(installed, directory, *arguments):
    done = subprocess.run([sys.executable, *arguments], cwd=directory, capture_output=True,
                          text=True, env={**os.environ, 'PYTHONPATH': str(installed)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_module_needs_a_file_of_the_repository(installed, tmp_path):
    found = Path(run(installed, tmp_path, '-c', IMPORT_ALL).splitlines()[-1])
    assert found == installed / 'symdp_ros' / '__init__.py'
    assert (found.parent / 'py.typed').is_file()
    assert (found.parent / 'figures' / 'explorer.html').is_file()
    assert not {'bench', 'mutation', 'studies', 'test'} & {
        file.name for file in installed.iterdir()}


def test_the_commands_work_away_from_the_repository(installed, tmp_path):
    chain = str(next(installed.rglob('warehouse.chain.yaml')))
    (tmp_path / 'logs').mkdir()
    (tmp_path / 'logs' / 'monday.csv').write_text(
        'stamp,symbol\n0,gate\n1,aisle_1\n2,packing\n3,aisle_1\n')
    text = run(installed, tmp_path, '-c', COMMANDS, chain)
    [released] = (tmp_path / 'released').glob('*.csv')
    assert len(released.read_text().splitlines()) == 5
    assert 'states' in text and 'causal' in text.partition('robot')[2]


def test_the_folder_that_holds_the_clone_hides_nothing(tmp_path):
    """There, the folder `symdp_ros` could be taken for the package."""
    try:
        distribution('symdp_ros')
    except PackageNotFoundError:
        pytest.skip('symdp_ros is not installed, only on the path')
    (tmp_path / 'symdp_ros').symlink_to(ROOT)
    # colcon installs into a folder of PYTHONPATH; the clone itself there is no installation.
    folders = [folder for folder in os.environ.get('PYTHONPATH', '').split(os.pathsep)
               if folder and Path(folder).resolve() != ROOT]
    done = subprocess.run([sys.executable, '-c', 'from symdp_ros import Chain; print(Chain)'],
                          cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(folders)})
    assert done.returncode == 0, done.stderr
