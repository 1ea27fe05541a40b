# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Readers whose QoS does not suit a node's publishers, while these go."""
from diagnostic_msgs.msg import DiagnosticArray
from harness import apart, LATCHED
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from symdp_ros.nodes.privatizer import Privatizer


@apart
def test_a_reader_that_does_not_suit_ends_no_node(world, chain_file):
    """An event of a publisher that is gone when the executor comes to it raised, or crashed it."""
    node = Privatizer(context=world.context, parameter_overrides=[
        Parameter('chain_file', value=str(chain_file)), Parameter('epsilon', value=2.0),
        Parameter('adjacency', value=1)])
    executor = EventsExecutor(context=world.context)
    executor.add_node(node)
    assert node.autostart()
    for _ in range(50):  # it learns of all publishers
        executor.spin_once(timeout_sec=0.01)
    # Reports are not kept for it.
    world.node.create_subscription(DiagnosticArray, '/diagnostics', lambda _: None, LATCHED)
    world.wait_until(lambda: node.count_subscribers('/diagnostics') == 1, 'the reader')
    world.settle()
    node.stop()
    for _ in range(50):
        executor.spin_once(timeout_sec=0.01)
    executor.remove_node(node)
    node.destroy_node()
    executor.shutdown()
