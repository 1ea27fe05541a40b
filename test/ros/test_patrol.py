# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `patrol` in a process of its own."""
from harness import LATCHED
from std_msgs.msg import String
from symdp_ros import Chain


def walked(world, **parameters):
    run = world.start('patrol', **parameters)
    regions = world.listen('region', String, LATCHED)
    world.wait_until(lambda: len(regions) >= 20, '20 regions')
    return run, regions[:20]


def test_it_walks_the_chain_and_says_where_it_publishes(world, chain_file):
    run, regions = walked(world, chain_file=chain_file, period=0.01, count=20,
                          wait_for_subscribers=1)
    assert Chain.from_yaml(chain_file).is_feasible(regions)
    assert ('walks four.chain.yaml: publishes /region (std_msgs/msg/String) every 0.01 s; waits '
            'until 1 subscribe') in run.log
    assert run.stop() == 0


def test_a_seed_repeats_a_walk(world, chain_file):
    parameters = {'chain_file': chain_file, 'period': 0.01, 'count': 20, 'seed': 7}
    walks = []
    for _ in range(2):
        run, regions = walked(world, **parameters)
        walks.append(regions)
        assert run.stop() == 0
    assert walks[0] == walks[1]


def test_what_is_wrong_is_said_in_a_sentence(starter, chain_file):
    assert 'period is 0.0: it must be at least 0.0001' in starter.refused(
        'patrol', chain_file=chain_file, period=0.0)
