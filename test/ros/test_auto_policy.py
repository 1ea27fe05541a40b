# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`policy: auto`, the default of nodes: chosen at configure, from public settings alone."""
from harness import RELIABLE, send, values_of
import pytest
from symdp_ros import Chain, Privacy
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.registry import LIVE

SAID = 'auto takes '


@pytest.fixture
def modes(tmp_path):
    """Give an alphabet, on which all policies are alike: the first is taken."""
    file = tmp_path / 'modes.chain.yaml'
    file.write_text('initial_state: a\nsymbols: [a, b, c]\n')
    return file


def test_a_node_takes_what_the_library_takes_and_says_so(world, chain_file, tmp_path):
    """And the word of the policy goes on after a restart: it takes the same again."""
    given = {'chain_file': chain_file, 'epsilon': 1.5, 'state_file': tmp_path / 'word'}
    run, private, statuses = world.privatizer(**given), world.listen(), world.diagnostics()
    taken = choose(Chain.from_yaml(chain_file), Privacy(1.5), MechanismSettings(LIVE))
    assert taken.policy == 'adaptive' and f'{SAID}"{taken.name}"' in run.log
    assert f'policy {taken.policy}; how it moves' in run.log
    statuses.clear()
    world.wait_until(lambda: statuses, 'a report')
    assert values_of(statuses[-1])['policy'] == taken.policy
    send(world.publisher(qos=RELIABLE), *'bca')
    world.wait_until(lambda: len(private) == 3, 'three regions')
    assert run.stop() == 0
    again = world.privatizer(**given)
    assert 'the word of the last run is carried on' in again.log and SAID in again.log
    assert again.stop() == 0
    other = world.privatizer(**given, policy='guided')
    assert 'it held a word of other settings: a new word begins' in other.log
    assert SAID not in other.log


@pytest.mark.parametrize('more', [{'delay': 2}, {'outputs': '[string, belief]'}])
def test_what_needs_adaptive_leaves_nothing_to_choose(world, chain_file, modes, more):
    for file in (chain_file, modes):
        run = world.privatizer('-r', '__node:=one', chain_file=file, epsilon=1.0, **more)
        assert 'policy adaptive' in run.log and SAID not in run.log
        assert run.stop() == 0
