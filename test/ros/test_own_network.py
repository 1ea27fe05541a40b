# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A network of its own: what is seen of it, and in it."""
import ctypes
from itertools import islice, takewhile
import os
from pathlib import Path
import subprocess
import sys

from harness import ROOT, wait_until
import pytest
from symdp_ros.ros.process import own_network

if not own_network.may_isolate():
    pytest.skip('the kernel allows no network of its own', allow_module_level=True)

#: A node `hidden` in ROS domain 50: prints the other nodes that it sees, until its input ends.
NODE = """
import sys, threading, rclpy
rclpy.init(domain_id=50)
node = rclpy.create_node('hidden', enable_rosout=False)
threading.Thread(target=lambda: (sys.stdin.read(), rclpy.shutdown()), daemon=True).start()
while rclpy.ok():
    rclpy.spin_once(node, timeout_sec=0.1)
    print(len(node.get_node_names()) - 1, flush=True)
"""


def start(*command, **more):
    return subprocess.Popen([*command, sys.executable, '-u', '-c', NODE], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)


def counts(process):
    """Let a node end; return how many others it has seen, each time."""
    return [int(line) for line in process.communicate()[0].split()]


def test_nodes_of_one_domain_do_not_meet():
    isolated = [sys.executable, '-I', own_network.__file__]
    apart = [start(*isolated), start(*isolated)]
    # In the network of this test: these meet.
    together = [start(), start()]
    wait_until(lambda: any(together[0].stdout.readline() == '1\n' for _ in range(50)),
               'nodes of one network meet')
    for process in apart * 20:  # by now those have met: each of these looks 20 times more
        assert process.stdout.readline() == '0\n'
    assert {*counts(apart[0]), *counts(apart[1])} == {0}
    assert max(counts(together[0]) + counts(together[1])) <= 1


def in_child(work, user=0):
    """Run a function in a child process of a user; return whether it was true."""
    child = os.fork()
    if child == 0:
        try:
            if user:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE: as a program of that user
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize('user', [0, 65534])
def test_nothing_but_loopback_and_no_more_rights(user):
    if user and os.geteuid():
        pytest.skip('only root can become another user')
    Path('/dev/shm/symdp_ros_test').touch()

    def work():
        rights = capabilities()
        own_network.isolate()
        lines = Path('/proc/net/dev').read_text().splitlines()[2:]
        return ([line.split(':')[0].strip() for line in lines] == ['lo']
                and not list(Path('/dev/shm').iterdir()) and os.geteuid() == (user or os.geteuid())
                and capabilities() == rights)

    try:
        if user and not in_child(own_network.may_isolate, user):
            pytest.skip('the kernel allows it to root only')
        assert in_child(work, user)
        assert Path('/dev/shm/symdp_ros_test').exists()
    finally:
        Path('/dev/shm/symdp_ros_test').unlink()


def test_nodes_without_shared_memory_meet_over_the_network():
    def work():
        own_network.isolate(shared_memory=False)
        nodes = [start(stderr=subprocess.STDOUT), start(stderr=subprocess.STDOUT)]
        printed = list(takewhile(lambda line: line != '1\n', islice(nodes[0].stdout, 300)))
        for node in nodes:
            node.communicate()
        return len(printed) < 300 and 'SHM Transport is not supported' in ''.join(printed)

    assert in_child(work)


def capabilities():
    return [line for line in Path('/proc/self/status').read_text().splitlines()
            if line.startswith(('CapPrm', 'CapEff'))]


@pytest.mark.parametrize('robots', ['1', pytest.param('2', marks=pytest.mark.thorough)])
def test_a_demo_is_seen_where_it_is_asked_for(world, robots):
    """Its sentence: ROS_DOMAIN_ID shows it in that domain. Else it is hidden: test_symdp.py."""
    private = {'1': '/symdp_demo/private_region', '2': '/robot_1/private_region'}[robots]
    environment = {**os.environ, 'COLUMNS': '120', 'ROS_DOMAIN_ID': str(world.domain)}
    environment.pop(own_network.MARK)
    demo = subprocess.Popen(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'demo', 'config/depot.geojson',
         '--duration', '60', '--robots', robots], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE)
    world.wait_until(lambda: world.node.count_publishers(private) == 1, 'the private topic')
    assert os.stat(f'/proc/{demo.pid}/ns/net').st_ino == os.stat('/proc/self/ns/net').st_ino
    said = ''
    while 'other programs of this machine see' not in ' '.join(said.split()):
        said += (more := demo.stdout.readline())  # who is interrupted before says nothing
        assert more, said
    demo.send_signal(2)
    demo.communicate()
