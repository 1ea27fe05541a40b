# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that are interrupted or killed."""
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time

from in_process import ROOT
from ledgers import held
import pytest
from symdp_ros.logs import write_log

PATIENCE = 90.0  # seconds


def start(output, *arguments):
    return subprocess.Popen([sys.executable, '-m', 'symdp_ros.cli.main', *arguments], cwd=ROOT,
                            stdout=output.open('w'), stderr=subprocess.STDOUT,
                            env={**os.environ, 'ROS_DOMAIN_ID': ''})  # the demo takes a free one


def wait_until(condition, output):
    until = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < until, output.read_text()[-1000:]
        time.sleep(0.01)
    return value


def command_line(process):
    try:
        return Path(f'/proc/{process}/cmdline').read_bytes()
    except FileNotFoundError:
        return b''


def test_ctrl_c_before_all_is_imported_ends_quietly():
    """A signal comes while the first module after `cli.program` is looked for."""
    found = subprocess.run(
        [sys.executable, '-c', 'import os, signal, sys\nfrom symdp_ros.cli.program import symdp\n'
         'class Interrupting:\n    def find_spec(self, *name):\n'
         '        os.kill(os.getpid(), signal.SIGINT)\n'
         'sys.meta_path.insert(0, Interrupting())\nsys.exit(symdp())'],
        cwd=ROOT, capture_output=True, timeout=PATIENCE)
    assert (found.returncode, found.stdout, found.stderr) == (130, b'', b'')


def test_a_release_that_is_interrupted_says_how_far_it_came_and_can_go_on(tmp_path):
    logs, releases, output = tmp_path / 'logs', tmp_path / 'releases', tmp_path / 'output'
    logs.mkdir()
    write_log(logs / '0.csv', ['dock', 'gate', 'dock'] * 10, format='csv')
    for number in range(1, 1000):
        (logs / f'{number}.csv').hardlink_to(logs / '0.csv')
    command = ['release', str(logs), '-o', str(releases), '--chain',
               'config/warehouse.chain.yaml', '--epsilon=1', '--adjacency=1', '--subject', 'r1',
               '--ledger', str(tmp_path / 'ledger')]
    process = start(output, *command)
    wait_until(lambda: any(releases.glob('*.csv')), output)
    with held(tmp_path / 'ledger'):  # the next charge waits
        process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    text = ' '.join(output.read_text().split())
    found = re.search(r'interrupted after (\d+) of 1000 logs: (\d+) released', text)
    assert found and found[1] == found[2], text
    kept = {file: file.read_bytes() for file in releases.glob('*.csv')}
    for log in sorted(logs.iterdir())[200:]:  # a hundred of those that are left are enough
        log.unlink()
    assert start(output, *command).wait(PATIENCE) == 0
    done = re.search(r'(\d+) released, (\d+) already released', output.read_text())
    assert len(kept) <= int(done[2]) and int(done[1]) + int(done[2]) == 200
    assert all(file.read_bytes() == content for file, content in kept.items())


def children(process):
    return Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()


def wait_for_ends(processes, output):
    # What the system keeps of a process that has ended has no command line.
    wait_until(lambda: not any(command_line(process) for process in processes), output)


def test_the_nodes_of_a_demo_that_is_killed_end(tmp_path):
    pytest.importorskip('rclpy', reason='rclpy is not installed: no demo')
    output = tmp_path / 'output'
    demo = start(output, 'demo', 'config/depot.geojson', '--duration', '500')
    nodes = wait_until(lambda: len(found := children(demo)) == 2 and found, output)
    demo.kill()
    demo.wait()
    wait_for_ends(nodes, output)


LONG = {'explore': ['explore', 'config/warehouse.chain.yaml', '--seconds', '9999', '-o'],
        'calibrate': ['calibrate', 'config/warehouse.chain.yaml', '--protect', '60', '--epsilon',
                      '2', '--walks', '2000', '--yaml']}


@pytest.fixture
def computing(request, tmp_path):
    """Return a command whose processes compute, those processes, and where it writes."""
    output = tmp_path / 'output'
    process = start(output, *LONG[request.param], str(tmp_path / 'made'))

    def workers():
        return [child for child in children(process) if b'spawn_main' in command_line(child)]

    try:
        yield process, wait_until(lambda: len(found := workers()) > 1 and found, output), output
    finally:
        process.kill()
        process.wait()
    assert not (tmp_path / 'made').exists()


@pytest.mark.parametrize('computing', LONG, indirect=True)
def test_an_interrupt_ends_a_command_that_computes_in_processes(computing):
    """At once, whatever they do; they once printed what they did, and it waited for ever."""
    process, workers, output = computing
    for worker in workers:  # a terminal sends it to all; it is for the command alone
        os.kill(int(worker), signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None and all(map(command_line, workers))
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    wait_for_ends(workers, output)
    assert 'Traceback' not in output.read_text()


@pytest.mark.parametrize(
    'computing', ['explore', pytest.param('calibrate', marks=pytest.mark.thorough)], indirect=True)
def test_a_command_says_that_a_process_of_it_was_ended(computing):
    process, workers, output = computing
    os.kill(int(workers[0]), signal.SIGKILL)
    assert process.wait(PATIENCE) == 1
    assert 'was ended, perhaps for want of memory' in output.read_text()
    assert 'Traceback' not in output.read_text()
    wait_for_ends(workers, output)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_interrupted_loses_no_message(number, monkeypatch):
    """Its handlers raise exceptions: within a callback, one kept the message from being noted."""
    pytest.importorskip('rclpy', reason='rclpy is not installed: no demo')
    from symdp_ros.demo.observer import Observer
    from symdp_ros.ros.process.free_domain import FreeDomain

    class Asked(Exception):
        pass

    def handler(number, frame):
        raise Asked

    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    domain, noted = FreeDomain(), []
    before = signal.signal(number, handler)
    try:
        with Observer({'region': domain.number}, ['robot']) as observer:
            def callback():
                signal.raise_signal(number)
                noted.append('a message')

            observer.nodes['region'].create_timer(0.0, callback)
            with pytest.raises(Asked):
                observer.spin(PATIENCE)
        assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, before)
        domain.close()
    assert noted == ['a message'], 'and nothing after the signal'
