# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp topics`, `symdp echo` and `symdp call`, over DDS, beside a privatizer and a service."""
import os
import subprocess
import sys
from threading import Thread

from in_process import run_symdp, run_until
import pytest

pytest.importorskip('rclpy', reason='rclpy is not installed')

#: The escape is of a control character, which must not reach the terminal as one.
ANSWER = '{"code": "ok", "logs": ["ε\\u009b2J"]}'


def symdp(world, command, *arguments, seconds):
    return run_symdp(command, *arguments, '--domain', world.domain, '--seconds', seconds)


def test_beside_a_privatizer(world):
    """At ε = 50 the private region is the true one, but for one time in e^50."""
    from std_msgs.msg import String

    node = world.privatizer('-r', '__ns:=/tb1', chain_file='config/depot.geojson', epsilon=50.0,
                            initial_state="'5'", self_loops=True)
    world.publisher('/tb1/region').publish(String(data='5'))

    def says(command, *arguments, texts):
        run = run_until(world, texts, command, *arguments, '--domain', world.domain,
                        '--seconds', 1)
        assert (run.returncode, run.stderr) == (0, '')
        return run.stdout

    assert says('echo', '/tb1/private_region', texts=['5']) == '5\n'
    assert 'rcl_interfaces' not in says('topics', texts=[
        'topic   /tb1/private_region std_msgs/msg/String /tb1/privatizer\n',
        'service /tb1/privatizer/change_state lifecycle_msgs/srv/ChangeState /tb1/privatizer\n'])
    for expected in (0, 'done\n'), (1, 'refused: its state has no such transition'):
        run = symdp(world, 'call', '/tb1/privatizer/change_state', 'deactivate', seconds=60)
        assert run.returncode == expected[0] and run.stdout.startswith(expected[1])
    assert 'ERROR' not in node.log, 'the node notes nothing of who calls'


def test_answers_of_triggers(world):
    """What a node answers cannot steer the terminal."""
    from std_srvs.srv import Trigger

    for name, success, message in (('good', True, 'two\x1b[2J'), ('bad', False, '')):
        def answer(_, response, success=success, message=message):
            response.success, response.message = success, message
            return response

        world.node.create_service(Trigger, f'/{name}', answer)
    runs = []

    def call(name):
        caller = Thread(target=lambda: runs.append(symdp(world, 'call', name, seconds=60)))
        caller.start()
        world.wait_until(lambda: not caller.is_alive(), f'{name} is answered')
        return runs.pop()

    good, bad = call('good'), call('/bad')
    assert good.returncode == 0 and '\x1b' not in good.stdout and good.stdout.startswith('two')
    assert (bad.returncode, bad.stdout) == (1, 'refused\n')


@pytest.mark.parametrize('raw, expected', [
    ([], '{\n  "code": "ok",\n  "logs": [\n    "ε\\x9b2J"\n  ]\n}\n'), (['--raw'], ANSWER + '\n')],
    ids=['readable', 'raw'])
def test_an_answer_in_json_on_a_terminal(world, raw, expected):
    """In several lines, unless it is asked for as it came."""
    from std_srvs.srv import Trigger

    def answer(_, response):
        response.success, response.message = True, ANSWER
        return response

    world.node.create_service(Trigger, '/json', answer)
    terminal, theirs = os.openpty()
    with subprocess.Popen([sys.executable, '-m', 'symdp_ros.cli.main', 'call', '/json', *raw,
                           '--domain', str(world.domain), '--seconds', '60'],
                          stdout=theirs) as process:
        os.close(theirs)
        world.wait_until(lambda: process.poll() is not None, 'the end of the call')
    shown = os.read(terminal, 65_536).decode().replace('\r\n', '\n')
    os.close(terminal)
    assert (process.returncode, shown) == (0, expected)


@pytest.mark.parametrize('command, name, problem', [
    ('call', '/nobody', 'nobody offers /nobody in ROS domain'),
    ('call', 'no name', 'no name cannot be called'),
    ('echo', '/nobody', 'nobody publishes /nobody in ROS domain')])
def test_what_is_not_there(world, command, name, problem):
    run = symdp(world, command, name, seconds=1)
    assert run.returncode == 1 and problem in run.stderr and run.stdout == ''
