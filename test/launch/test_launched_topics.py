# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""By launch_testing: each launch file that makes robots private publishes moves of the map."""
from itertools import cycle, pairwise
import unittest

import installed_launch  # first: it skips where there is no launch_testing
import launch_testing
import pytest
from std_msgs.msg import String
import yaml

MAP = 'warehouse.chain.yaml'
TRANSITIONS = yaml.safe_load((installed_launch.SHARE / 'config' / MAP).read_text())['transitions']
#: A way through the map, round and round.
WAY = 'gate', 'aisle_1', 'packing', 'charger'
GIVEN = {'chain_file': f'package://symdp_ros/config/{MAP}', 'epsilon': '2', 'protect': '0.5'}
FLEET = """
state_dir: state
defaults: {chain_file: package://symdp_ros/config/warehouse.chain.yaml, epsilon: 2,
           protect: 0.5}
robots:
  tb1: {private_region: /fleet/tb1/region}
  tb2: {private_region: /fleet/tb2/region}
"""


def fleet_file():
    file = installed_launch.new_folder() / 'fleet.yaml'
    file.write_text(FLEET)
    return str(file)


TWO = {'/tb1/region': '/fleet/tb1/region', '/tb2/region': '/fleet/tb2/region'}
NODES = '/tb1/privatizer', '/tb2/privatizer'
#: File → its arguments; the topics that a test publishes, and the private ones; the nodes.
FILES = {
    'privatizer.launch.py': (lambda: {**GIVEN, 'namespace': 'r1'},
                             {'/r1/region': '/r1/private_region'}, ('/r1/privatizer',)),
    'demo.launch.py': (lambda: {'period': '0.05', 'protect': '0.5'},
                       {None: '/demo/private_region'},
                       ('/demo/patrol', '/demo/privatizer')),
    'fleet.launch.py': (lambda: {'fleet': fleet_file()}, TWO, ('/fleet', *NODES)),
    'examples/two_robots.launch.xml': (lambda: {'protect': '0.5'}, TWO, NODES),
    'examples/two_robots.launch.yaml': (lambda: {'epsilon': '1.0', 'protect': '0.5'}, TWO, NODES),
}


@pytest.mark.launch_test
@launch_testing.parametrize('file', [*FILES])
def generate_test_description(file):
    return installed_launch.description(file, **FILES[file][0]())


class TestRunning(unittest.TestCase):

    def test_private_topics_have_moves_of_the_map(self, domain, file):
        _, topics, nodes = FILES[file]
        with installed_launch.observer(domain) as observer:
            private = [observer.listen(topic, String) for topic in topics.values()]
            observer.wait_for_nodes(*nodes)
            publishers = [observer.node.create_publisher(String, topic, 10)
                          for topic in topics if topic]
            observer.wait_until(lambda: all(publisher.get_subscription_count()
                                            for publisher in publishers), 'no one reads')
            regions = cycle(WAY)

            def enough():
                region = next(regions)
                for publisher in publishers:
                    publisher.publish(String(data=region))
                return all(len(messages) > 5 for messages in private)

            observer.wait_until(enough, lambda: f'messages: {[*map(len, private)]}')
        for messages in private:
            for before, after in pairwise(message.data for message in messages):
                self.assertIn(after, TRANSITIONS[before])


@launch_testing.post_shutdown_test()
class TestEnded(installed_launch.EndsWithStatus0):
    pass
