# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""By launch_testing: `log_release.launch.py` releases a log when its service is called."""
import unittest

import installed_launch  # first: it skips where there is no launch_testing
import launch_testing
import pytest
from std_srvs.srv import Trigger


@pytest.mark.launch_test
def generate_test_description():
    folder = installed_launch.new_folder()
    for name in 'logs', 'releases':
        (folder / name).mkdir()
    (folder / 'logs' / 'monday.csv').write_text(
        'stamp,symbol\n0,gate\n1,aisle_1\n2,packing\n3,aisle_1\n')
    launch_description, context = installed_launch.description(
        'log_release.launch.py', namespace='r1', epsilon='2', adjacency='1', mechanism='causal',
        subject='r1', chain_file='package://symdp_ros/config/warehouse.chain.yaml',
        log_dir=f'{folder}/logs', release_dir=f'{folder}/releases', ledger_file=f'{folder}/ledger')
    return launch_description, {**context, 'folder': folder}


class TestRunning(unittest.TestCase):

    def test_a_log_is_released(self, domain, folder):
        with installed_launch.observer(domain) as observer:
            client = observer.node.create_client(Trigger, '/r1/log_release/release')
            observer.wait_for_nodes('/r1/log_release')
            observer.wait_until(client.service_is_ready, 'no service')

            def released():
                call = client.call_async(Trigger.Request())
                answer = observer.wait_until(lambda: call.done() and call.result(), 'no answer')
                return None if answer.message.startswith('starting: ') else answer

            answer = observer.wait_until(released, 'it starts for too long')
        self.assertTrue(answer.success, answer.message)
        [file] = (folder / 'releases').glob('*.csv')
        self.assertEqual(len(file.read_text().splitlines()), 1 + 4)


@launch_testing.post_shutdown_test()
class TestEnded(installed_launch.EndsWithStatus0):
    pass
