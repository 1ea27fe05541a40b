# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""
from collections import Counter
import fcntl
import gc
import os
from pathlib import Path
import pickle
import runpy
import shlex
import signal
import sys
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from hypothesis import HealthCheck, settings
import pytest

# Nothing is timed: other tests may keep the machine busy. A failing example is printed so that it
# can be replayed.
settings.register_profile('symdp_ros', deadline=None, print_blob=True,
                          max_examples=int(os.environ.get('SYMDP_TEST_EXAMPLES', '25')),
                          suppress_health_check=[HealthCheck.too_slow,
                                                 HealthCheck.function_scoped_fixture])
settings.load_profile('symdp_ros')

# Words that nodes keep, and their logs: none is met by another worker, nor left behind.
_ros_home = TemporaryDirectory(prefix='ros-home-')
os.environ['ROS_HOME'] = _ros_home.name

# Several tests run at a time: threads that wait for each other's matrices only take their time.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

# Started in the background, or by nohup, this process ignores some signals, and so would the
# programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Without the package, whose numpy starts threads.
own_network = SimpleNamespace(**runpy.run_path(
    str(Path(__file__).parents[1] / 'symdp_ros' / 'ros' / 'process' / 'own_network.py')))

#: These wait for processes and messages; last come those that are done in milliseconds.
_FIRST = ['ros', 'launch', 'cli', 'package', 'release', 'ledger', 'logs']


def pytest_configure(config):
    """
    Give these tests a network of their own, where the kernel allows it.

    No ROS domain, node or shared memory of another program, or of another worker, is met there.
    A test in a process of its own (harness.apart) goes without shared memory. There, on a busy
    machine, a port that nobody has read for a second counts as dead; in a storm, processes then do
    little but make ports anew, and a message is late by tens of seconds.
    """
    if (hasattr(config, 'workerinput')  # `pytest_xdist_setupnodes` has done it
            or getattr(config.option, 'numprocesses', None) or not own_network.may_isolate()):
        return
    own_network.isolate(shared_memory='SYMDP_TEST_APART' not in os.environ)
    os.environ[own_network.MARK] = '1'


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(specs):
    """Start each worker in a network of its own."""
    for spec in specs:
        spec.python = shlex.join([sys.executable, '-I', own_network.__file__, sys.executable])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    """Say by which signal, or with which status, a worker died."""
    if error:
        status = node.gateway._io.popen.wait(10)
        print(f'worker {node.gateway.id} ended with status {status}', file=sys.stderr, flush=True)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(module_path, parent):
    """
    Skip no more than the file that asks for it.

    Where launch_testing is installed, it imports each file in this hook: a file that skips itself
    there would take the whole folder with it.
    """
    try:
        return (yield)
    except pytest.skip.Exception:
        return pytest.Module.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage meanwhile; and later not among what all tests have made: it is much."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_report_header():
    """Say where tests can meet other programs."""
    if not own_network.may_isolate():
        return ('no network of its own for each worker: the kernel allows no user namespaces. ROS '
                'domains are locked, and looked at before and after each test')


def pytest_collection_modifyitems(items):
    """Begin with the slowest folders: several workers then end together."""
    items.sort(key=lambda item: _FIRST.index(item.path.parent.name)
               if item.path.parent.name in _FIRST else len(_FIRST))


def pytest_terminal_summary(terminalreporter):
    """Say in one line what was not tried, and how to try it."""
    skipped = {report.nodeid: report.longrepr[2].removeprefix('Skipped: ').partition(':')[0]
               for report in terminalreporter.stats.get('skipped', [])}
    if skipped:
        terminalreporter.line('Tests not tried: ' + ', '.join(
            f'{number} ({reason})' for reason, number in Counter(skipped.values()).most_common())
            + '. Packages of ROS are tried where a ROS 2 that has them is sourced: `make test` or '
            '`colcon test` there.')


@pytest.fixture(scope='module')
def single_signals():
    """Have no blocks in the policy adaptive: each signal is about one symbol."""
    from symdp_ros.core.online.adaptive import tables
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, 'LONGEST', 1)
        yield


@pytest.fixture(scope='session')
def made_once(request, tmp_path_factory):
    """
    Return a function that makes something for the tests of all workers: (name, make) → it.

    The first worker that asks calls `make` with a new folder, which stays until the tests end. The
    others wait for what that returned, and read it: it must be possible to pickle it.
    """
    base = tmp_path_factory.getbasetemp()
    if hasattr(request.config, 'workerinput'):
        base = base.parent  # of the folders of all workers

    def once(name, make):
        folder, result = base / f'once-{name}', base / f'once-{name}.pickle'
        with open(base / f'once-{name}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                folder.mkdir()
                result.write_bytes(pickle.dumps(make(folder)))
            return pickle.loads(result.read_bytes())

    return once
