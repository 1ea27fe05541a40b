# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What killed processes leave in the shared memory of Fast DDS."""
import os
from pathlib import Path
import subprocess
import sys

from harness import ROOT
import pytest
from python_path import python_path
import rclpy
from symdp_ros.ros.process import own_network
from symdp_ros.ros.process.shared_memory import fresh_ports

if not own_network.may_isolate():
    pytest.skip('the kernel allows no network of its own', allow_module_level=True)

#: A listener in ROS domain 3, or one of ours: prints the locks of its ports, then what it hears.
LISTENER = """
import os, re, sys, rclpy
from contextlib import nullcontext
from std_msgs.msg import String
from symdp_ros.ros.process.shared_memory import fresh_ports
def locks():
    files = [os.readlink(f'/proc/self/fd/{name}') for name in os.listdir('/proc/self/fd')
             if os.path.lexists(f'/proc/self/fd/{name}')]
    return {file for file in files if re.search(r'_port[0-9]+_el$', file)}
rclpy.init(domain_id=3)
with fresh_ports(3) if sys.argv[1] == 'ours' else nullcontext():
    node = rclpy.create_node('listener')
node.create_subscription(String, 'text', lambda message: print(message.data, flush=True), 10)
print(*sorted(locks()), flush=True)
rclpy.spin(node)
"""
TALKER = """
import time, rclpy
from std_msgs.msg import String
rclpy.init(domain_id=3)
publisher = rclpy.create_node('talker').create_publisher(String, 'text', 10)
while True:
    publisher.publish(String(data='heard'))
    time.sleep(0.05)
"""
#: Starts listeners in turn, and kills each; a talker is there for the last one.
LISTENERS = """
import subprocess, sys
def start(*command):
    return subprocess.Popen([sys.executable, '-u', '-c', *command], text=True,
                            stdout=subprocess.PIPE)
def end(process):
    process.kill()
    process.communicate()
for kind in ('theirs', 'theirs', 'ours'):
    listener = start(sys.argv[1], kind)
    print(listener.stdout.readline().strip())
    end(listener)
listener, talker = start(sys.argv[1], 'ours'), start(sys.argv[2])
print(listener.stdout.readline().strip())
print(listener.stdout.readline().strip())
end(listener)
end(talker)
"""


def isolated(*command, **more):
    return subprocess.run([sys.executable, '-I', own_network.__file__, *command], text=True,
                          capture_output=True, timeout=120, cwd=ROOT, **more)


def test_a_port_of_a_killed_process_is_not_taken_over():
    """Who sends to it may never learn that it is another one: the next process would be deaf."""
    done = isolated(sys.executable, '-c', LISTENERS, LISTENER, TALKER)
    assert done.returncode == 0, done.stderr
    theirs, again, *ours, heard = (set(line.split()) for line in done.stdout.splitlines())
    assert theirs and theirs == again  # what Fast DDS does by itself
    assert ours[0] and ours[1] and not (theirs & ours[0] or (theirs | ours[0]) & ours[1])
    assert heard == {'heard'} and done.stderr == ''


#: Makes a world in the first ROS domain, whose ports are all empty; shared memory is its own.
WORLD = """
import sys
from pathlib import Path
from harness import world_in
for port in (7000, *range(7650, 7900)):
    Path(f'/dev/shm/fastrtps_port{port}').touch()
with world_in(Path(sys.argv[1])) as world:
    print(world.domain, world.node.get_node_names())
"""


def test_a_port_that_a_killed_process_has_left_empty_holds_up_no_test(tmp_path):
    done = subprocess.run(
        [sys.executable, '-I', own_network.__file__, sys.executable, '-c', WORLD, tmp_path],
        env={**os.environ, 'PYTHONPATH': python_path(Path(__file__).parent, ROOT)},
        capture_output=True, text=True, timeout=60)
    assert done.stdout == "1 ['observer']\n", done.stderr


@pytest.mark.parametrize('command', [
    'symdp_ros.cli.main doctor --domain 3', 'symdp_ros.nodes.privatizer --ros-args'])
def test_a_user_is_told_of_an_empty_port(command):
    process = subprocess.Popen(
        [sys.executable, '-I', own_network.__file__, 'sh', '-c',
         'for port in 7000 7410 8161; do : > /dev/shm/fastrtps_port$port; done; exec "$@"', 'sh',
         sys.executable, '-m', *command.split()], cwd=ROOT, text=True,
        env={**os.environ, 'ROS_DOMAIN_ID': '3'}, stderr=subprocess.PIPE)
    try:
        for port in 7000, 8161:
            assert process.stderr.readline().startswith(
                f'warning: /dev/shm/fastrtps_port{port} is empty: a process was killed')
    finally:
        process.kill()
        process.communicate()


def test_ports_that_are_full_or_of_other_domains_are_no_fault(tmp_path, capsys):
    for port, text in ((7000, 'full'), (7411, ''), (7650, '')):
        (tmp_path / f'fastrtps_port{port}').write_text(text)
    with fresh_ports(2, tmp_path):
        pass
    with fresh_ports(0, tmp_path / 'none'):
        pass
    assert capsys.readouterr().err == ''
    with fresh_ports(1, tmp_path):
        pass
    assert capsys.readouterr().err.endswith(f'remove the file: rm {tmp_path}/fastrtps_port7650\n')
    # A lock that nobody holds would say that a process was killed.
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        'fastrtps_port7000', 'fastrtps_port7411', 'fastrtps_port7650']


def test_ports_of_fast_dds_are_no_fault_under_other_middleware(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rclpy, 'get_rmw_implementation_identifier', lambda: 'rmw_cyclonedds_cpp')
    (tmp_path / 'fastrtps_port7000').write_text('')
    with fresh_ports(0, tmp_path):
        pass
    assert capsys.readouterr().err == ''
