# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""By launch_testing: `belief.launch.py` publishes what a private topic lets anyone believe."""
import unittest

from diagnostic_msgs.msg import DiagnosticStatus
import installed_launch  # first: it skips where there is no launch_testing
import launch_testing
import pytest
from std_msgs.msg import String


@pytest.mark.launch_test
def generate_test_description():
    return installed_launch.description(
        'belief.launch.py', namespace='r1', epsilon='2', policy='guided',
        chain_file='package://symdp_ros/config/warehouse.chain.yaml',
        private_region='/fleet/r1')


class TestRunning(unittest.TestCase):

    def test_each_private_region_gives_a_belief(self, domain):
        with installed_launch.observer(domain) as observer:
            beliefs = observer.listen('/r1/region_belief', DiagnosticStatus)
            publisher = observer.node.create_publisher(String, '/fleet/r1', 10)
            observer.wait_for_nodes('/r1/belief')
            observer.wait_until(publisher.get_subscription_count, 'no one reads')
            observer.wait_until(lambda: observer.node.count_publishers('/r1/region_belief'),
                                'no belief')

            def answered():
                publisher.publish(String(data='gate'))
                return beliefs

            observer.wait_until(answered, 'no belief')
        probabilities = {value.key: float(value.value) for value in beliefs[0].values}
        self.assertAlmostEqual(sum(probabilities.values()), 1.0, places=3)
        self.assertIn('gate', probabilities)


@launch_testing.post_shutdown_test()
class TestEnded(installed_launch.EndsWithStatus0):
    pass
