# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A word survives a restart, without any setting."""
from harness import RELIABLE, send, send_until, SURE, values_of
import numpy as np
import pytest
from symdp_ros import Chain
from symdp_ros.core.online.adaptive.turns import INSIDE
from symdp_ros.words.state_file import StateFile

FIRST_SLOT = 76  # bytes before it in a state file


def test_after_a_kill_the_same_feasible_word_goes_on(world, ring):
    private = world.listen()
    for round_ in range(3):
        run = world.privatizer(chain_file=ring, epsilon=1.0)
        assert ('is carried on' in run.log) == (round_ > 0)
        publisher, count = world.publisher(qos=RELIABLE), len(private) + 10
        send_until(world, publisher, 'anything', lambda count=count: len(private) >= count)
        run.kill()
        world.node.destroy_publisher(publisher)
        world.settle(0.2)
    # What was drawn and not delivered when the process was killed is lost to the listener, but for
    # the last symbol, which is shown again; the word goes on from there, and never back.
    places = [int(symbol[1:]) for symbol in private]
    steps = [(there - here) % 50 for here, there in zip(places, places[1:], strict=False)]
    assert len(private) >= 30 and sum(step != 1 for step in steps) <= 2
    assert all(0 <= step <= 12 for step in steps)


@pytest.mark.parametrize('policy', ['guided', 'adaptive'])
def test_a_stop_and_a_start_carry_the_word_on_exactly(world, chain_file, policy):
    private, expected = world.listen(), ''
    for word in ('bc', 'cab', 'd'):
        run = world.privatizer(chain_file=chain_file, epsilon=SURE,
                               policy=policy)
        assert f'policy {policy}' in run.log
        assert ('how it moves: not given: ' in run.log) == (policy == 'adaptive')
        # Not latched: a word that goes on does not ask for what was published before.
        publisher = world.publisher(qos=RELIABLE)
        send(publisher, *word)
        # After a restart, the last symbol is shown again.
        expected += expected[-1:] + word
        world.wait_until(lambda n=len(expected): len(private) == n, 'the symbols')
        assert run.stop() == 0
        world.node.destroy_publisher(publisher)
    # From c the word went on with c, a, b; a new one would have gone on from a.
    assert ''.join(private) == expected == 'bcccabbd'


def test_a_word_that_hides_visits_goes_on_over_kills(world, ring):
    private = world.listen()
    for round_ in range(3):
        run = world.privatizer(chain_file=ring, epsilon=1.0, protect=0.25)
        assert 'k = 1' in run.log and '3 private regions for each symbol' in run.log
        assert ('is carried on' in run.log) == (round_ > 0)
        world.wait_until(lambda count=len(private) + 10: len(private) >= count, 'ten regions')
        run.kill()
        world.settle(0.2)
    places = [int(region[1:]) for region in private]
    # Each region of the ring leads one on or stays; what was lost with a process was as well.
    assert all((there - here) % 50 <= 25 for here, there in zip(places, places[1:], strict=False))


def numbers_kept(state_file, copy):
    """Return the last numbers of the state that a file keeps: of each symbol, what was drawn."""
    copy.write_bytes(state_file.read_bytes())
    settings = copy.read_bytes()[FIRST_SLOT:FIRST_SLOT + 32]
    file = StateFile(copy, settings, 3)
    state = file.stored.state
    file.close()
    return np.frombuffer(state[len(state) % 4:], '<u4')[-3:].tolist()


def test_a_word_goes_on_after_kills_within_blocks(world, tmp_path):
    """What of a block was not drawn for is left out; each message still gives one region."""
    file, private, sent, drawn = tmp_path / 'stays.chain.yaml', world.listen(), 0, 0
    file.write_text('initial_state: b\ntransitions:\n  a: {a: 0.9, b: 0.1}\n'
                    '  b: {a: 0.05, b: 0.9, c: 0.05}\n  c: {b: 0.1, c: 0.9}\n')
    given = {'chain_file': file, 'epsilon': 1.0, 'policy': 'adaptive', 'delay': 3,
             'state_file': tmp_path / 'word'}
    for round_ in range(4):
        run = world.privatizer(**given)
        assert ('is carried on' in run.log) == (round_ > 0)
        if round_:
            world.wait_until(lambda: len(private) == sent - 2, 'the last region again')
            again = private.pop()
            assert again == private[-1]
        publisher, begun, inside = world.publisher(qos=RELIABLE), sent, False
        # Within a block: its symbols so far have no numbers.
        while sent < begun + 6 or not inside:
            send(publisher, 'b')
            sent += 1
            world.wait_until(lambda: len(private) == max(0, sent - 3), 'the region of then')
            if sent > 3:
                kept = numbers_kept(given['state_file'], tmp_path / 'copy')
                inside, drawn = kept[-1] == 0, drawn + (INSIDE in kept)
        run.kill()
        world.node.destroy_publisher(publisher)
        world.settle()
        assert len(private) == sent - 3
    assert drawn, 'signals about several symbols'
    assert Chain.from_yaml(file).is_feasible(private)


def test_a_late_reader_sees_the_last_symbol_after_a_restart(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    private = world.listen()
    send(world.publisher(), *'bc')
    world.wait_until(lambda: len(private) == 2, 'the symbols')
    assert run.stop() == 0
    for _ in range(2):
        run = world.privatizer(chain_file=chain_file, epsilon=SURE)
        statuses, late = world.diagnostics(), world.listen()
        world.wait_until(lambda late=late, statuses=statuses: late == ['c'] and statuses,
                         'the last symbol, and a report')
        assert values_of(statuses[-1])['published'] == '0', 'it is not a new symbol'
        assert run.stop() == 0


def test_another_robot_cannot_carry_on_a_word(world, chain_file, tmp_path):
    given = {'chain_file': chain_file, 'epsilon': 1.0, 'state_file': tmp_path / 'word'}
    for robot in 'r1', 'r2', 'r1':
        run = world.privatizer('-r', f'__ns:=/{robot}', **given)
        assert 'is carried on' not in run.log
        assert run.stop() == 0
    assert 'it held a word of other settings: a new word begins' in run.log
    assert 'is carried on' in world.privatizer('-r', '__ns:=/r1', **given).log


def test_other_settings_are_said_at_the_start(world, chain_file):
    assert world.privatizer(chain_file=chain_file, epsilon=1.0).stop() == 0
    run = world.privatizer(chain_file=chain_file, epsilon=2.0)
    assert 'it held a word of other settings: a new word begins' in run.log
    assert run.stop() == 0
    for trust, same in ((0.5, False), (0.5, True), (0.6, False)):
        run = world.privatizer(chain_file=chain_file, epsilon=2.0,
                               policy='adaptive', trust=trust)
        assert ('it held a word of other settings: a new word begins' in run.log) == (not same)
        assert run.stop() == 0
