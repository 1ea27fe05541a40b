# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The package as setup.py installs it, away from the repository."""
from importlib.metadata import distribution, PackageNotFoundError
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tarfile

import pytest
from python_path import python_path
from symdp_ros.core.offline import passes

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


#: Fails where a loop in C is not there, or is there, as its argument says; prints some words.
LOOPS = """
import sys
from random import Random
from symdp_ros import Chain, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.core import loops
from symdp_ros.core.offline import passes
from symdp_ros.core.online import in_c
compiled = loops.loops, passes.compiled, in_c.compiled
assert {module is None for module in compiled} == {sys.argv[1] == 'without'}
chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
for kind, policy in ((OfflineMechanism, 'guided'), (OnlineMechanism, 'guided'),
                     (OnlineMechanism, 'adaptive')):
    mechanism = kind(chain, Privacy(1.0), policy=policy, random=Random(1))
    print(mechanism.privatize(['a', 'b', None, 'c'] * 9),
          mechanism.privatize_many([0, 1, 2, 2] * 9, [0, 4, 36]))
"""


def install(source, target, *commands, **environment):
    """Install a copy of what an installation is made of, after other commands of setup.py."""
    for name in ('symdp_ros', 'launch', 'config', 'resource'):
        shutil.copytree(ROOT / name, source / name,
                        ignore=shutil.ignore_patterns('__pycache__', '*.so'))
    for name in ('setup.py', 'setup.cfg', 'package.xml', 'README.md', 'MANIFEST.in'):
        shutil.copy(ROOT / name, source)
    here = ['--install-dir', str(target)]
    subprocess.run([sys.executable, 'setup.py', '-q', *commands, 'install_lib', '--no-compile',
                    *here, 'install_data', *here],
                   check=True, cwd=source, env={**os.environ, **environment})
    shutil.rmtree(source)


@pytest.fixture(scope='module')
def installed(made_once):
    """
    Return the folder of an installation, beside a source distribution.

    Libraries are those of the tests.

    A loop in C that does not compile without a warning is left out, and LOOPS misses it. They are
    optimized less than elsewhere: in a sixth of the time, and enough to warn of unset variables.
    """
    def make(folder):
        compiler = folder / 'compiler'
        compiler.write_text('#!/bin/sh\nexec cc -Wall -Wextra -Werror "$@" -Og\n')
        compiler.chmod(0o755)
        install(folder / 'source', folder / 'target', 'sdist', '--dist-dir', str(folder),
                CC=str(compiler))
        return folder / 'target'

    return made_once('installed', make)


def run(installed, directory, *arguments):
    done = subprocess.run([sys.executable, *arguments], cwd=directory, capture_output=True,
                          text=True, env={**os.environ, 'PYTHONPATH': python_path(installed)})
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


def test_without_a_compiler_it_is_installed_and_draws_the_same(installed, tmp_path):
    install(tmp_path / 'source', tmp_path / 'target', CC='false')
    assert not [*(tmp_path / 'target').rglob('*.so')]
    without = run(tmp_path / 'target', tmp_path, '-c', LOOPS, 'without')
    if passes.compiled is not None:  # else there is no compiler here
        assert run(installed, tmp_path, '-c', LOOPS, 'with') == without


def test_a_source_distribution_holds_the_loops(installed):
    [archive] = installed.parent.glob('*.tar.gz')
    with tarfile.open(archive) as files:
        names = [name.partition('/')[2] for name in files.getnames()]
    loops = [str(file.relative_to(ROOT)) for file in (ROOT / 'symdp_ros').rglob('*.[ch]')]
    assert len(loops) > 4 and {*loops} <= {*names}


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
