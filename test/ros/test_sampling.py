# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes a symbol: each sampling mode, unknown regions, the node's clock."""
from harness import RECONFIGURE, RELIABLE, send, SURE, wait_until
import pytest
from rosgraph_msgs.msg import Clock
from symdp_ros import Chain


def test_unknown_regions_are_symbols_of_their_own(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE)
    private = world.listen()
    send(world.publisher(), *['none', '', 'cellar', 'A', 'b c', 'ä', 'x' * 10_000] * 40)
    world.wait_until(lambda: len(private) == 280, '280 symbols')
    assert Chain.from_yaml(chain_file).is_feasible(private)
    assert set(private) == set('abcd')  # uniform moves; misses one with probability < 1e-20
    assert 'cellar' not in run.log


def test_no_region_can_be_configured(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE, unknown_symbol='drop',
                     no_region="['lost']", symbol_map="['none=b']")
    private = world.listen()
    send(world.publisher(), 'none', 'lost', 'c')
    world.wait_until(lambda: private == ['b', 'c'], 'none as a name, lost as no region')


class SimulatedTime:
    """Publishes /clock, of which a node may miss a message, from second 0.2 on."""

    def __init__(self, world):
        self._world, self._seconds = world, 0
        self._publisher = world.publisher('/clock', Clock, RELIABLE)
        self._show()

    def _show(self):
        message = Clock()
        message.clock.sec, rest = divmod(round(self._seconds * 10) + 2, 10)
        message.clock.nanosec = rest * 100_000_000
        self._publisher.publish(message)
        self._world.spin(0.002)

    def pass_quietly(self, seconds):
        """Jump ahead and stay there for a while, whatever comes of it."""
        self._seconds += seconds
        for _ in range(40):
            self._show()
            self._world.spin(0.01)

    def jump(self, seconds, private):
        """Jump ahead, wait for a symbol, and stay there for a while for more of them."""
        count = len(private)
        self.go_on(seconds)
        self.stand_until(lambda: len(private) > count, 'a symbol')
        self.pass_quietly(0)

    def go_on(self, seconds):
        """Take a step of a multiple of 0.1 s, without showing it."""
        self._seconds += seconds

    def tick(self, private, ticks=1):
        """Go on, second by second, and wait for a symbol in each."""
        for _ in range(ticks):
            count = len(private)
            self._seconds += 1
            self.stand_until(lambda count=count: len(private) > count, 'the symbol of a tick')

    def stand_until(self, condition, what):
        """Show the same time until a condition comes true."""
        wait_until(condition, what, self._show)


def test_period_gives_one_symbol_a_tick_of_the_node_clock(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE, sampling='period', period=1.0,
                     use_sim_time='true')
    private = world.listen()
    time = SimulatedTime(world)
    publisher = world.publisher()
    send(publisher, 'a', 'c', 'b')  # the last known region counts
    ticks = 0
    while private[-12:] != ['b'] * 12 and ticks < 300:  # ticks may come before the regions
        time.tick(private)
        ticks += 1
    time.tick(private, 4)
    for _ in range(20):
        world.spin(0.01)
    assert len(private) == ticks + 4
    assert private[-5:] == ['b'] * 5  # held


def test_a_clock_of_coarse_steps_loses_no_tick(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE, sampling='period', period=1.0,
                     use_sim_time='true')
    private = world.listen()
    time = SimulatedTime(world)
    time.tick(private)  # from here on, a tick is at each second and 0.2, wherever it began
    count, passed = len(private), 0
    for step in range(1, 11):
        time.go_on(0.6)
        passed = step * 6 // 10
        time.stand_until(lambda: len(private) >= count + passed, f'{passed} symbols')
    assert len(private) == count + 6


def test_ticks_before_the_first_region_and_after_the_timeout_are_unknown(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE, sampling='period', period=1.0,
                     input_timeout=3.5, use_sim_time='true')
    private = world.listen()
    time = SimulatedTime(world)
    publisher = world.publisher()
    # Of uniform moves, all would stay in a with probability 2^-22 at most.
    time.tick(private, 22)
    assert Chain.from_yaml(chain_file).is_feasible(private)
    assert set(private) != {'a'}
    send(publisher, 'a')
    time.tick(private, 27)
    assert set(private[-22:]) != {'a'}
    for _ in range(200):  # a region every second: it is known all the time
        send(publisher, 'a')
        world.spin(0.02)
        time.tick(private)
        if private[-22:] == ['a'] * 22:
            return
    pytest.fail(f'the region is not known: {private}')


def test_a_clock_that_jumps_ahead_and_a_caller_who_starts_again_gain_no_symbol(world, chain_file):
    world.privatizer(chain_file=chain_file, epsilon=SURE, sampling='period', period=10.0,
                     use_sim_time='true')
    private = world.listen()
    time = SimulatedTime(world)
    time.pass_quietly(20)
    time.stand_until(lambda: private, 'the first tick')
    time.jump(1000, private)
    assert len(private) == 2, 'ticks that were missed are not made up for'
    for _ in range(3):
        assert world.change('privatizer', *RECONFIGURE)
        time.pass_quietly(3)  # 9 s in all
    assert len(private) == 2, 'a caller who starts the node again gains no symbol'
    time.pass_quietly(1)
    time.stand_until(lambda: len(private) == 3, 'the tick at its time')


def test_the_ticks_of_simulated_time_go_on_over_a_restart(world, chain_file):
    given = {'chain_file': chain_file, 'epsilon': SURE, 'sampling': 'period', 'period': 10.0,
             'use_sim_time': 'true'}
    run, private = world.privatizer(**given), world.listen()
    time = SimulatedTime(world)
    time.pass_quietly(20)
    time.stand_until(lambda: private, 'the first tick')
    for _ in range(2):
        run.kill()
        run, count = world.privatizer(**given), len(private)
        world.wait_until(lambda n=count: len(private) == n + 1, 'the last symbol, shown again')
        time.pass_quietly(4)
        assert len(private) == count + 1, 'two symbols less than a period apart'
    time.pass_quietly(2)
    time.stand_until(lambda: len(private) == count + 2, 'the tick at its time')


def test_several_private_regions_come_for_each_symbol(world, chain_file):
    """A move of the map each, and those whose time has passed are left out."""
    run = world.privatizer(chain_file=chain_file, epsilon=SURE, sampling='period', period=3.0,
                           report_period=1.0, use_sim_time='true')
    private, time = world.listen(), SimulatedTime(world)
    assert '3 private regions for each symbol, one every 1 s' in run.log
    assert 'policy adaptive' in run.log
    time.go_on(3)
    time.stand_until(lambda: private, 'the first symbol')
    send(world.publisher(), 'c')
    ticks = 0
    while 'c' not in private and ticks < 300:  # ticks may come before the region
        time.tick(private)
        ticks += 1
    time.tick(private, 3)
    assert len(private) == ticks + 4 and 'c' in private  # between symbols the likeliest moves
    assert Chain.from_yaml(chain_file).is_feasible(private)
    time.jump(300, private)
    assert len(private) == ticks + 5, 'regions whose time has passed are not published'


def test_missed_ticks_of_an_alphabet_end_no_node(world, tmp_path):
    (tmp_path / 'modes.chain.yaml').write_text('initial_state: a\nsymbols: [a, b, c]\n')
    run = world.privatizer(chain_file=tmp_path / 'modes.chain.yaml', epsilon=SURE,
                           policy='adaptive', sampling='period', period=1.0, use_sim_time='true')
    private, time = world.listen(), SimulatedTime(world)
    time.tick(private, 2)
    time.pass_quietly(50)
    time.tick(private, 2)
    assert run.stop() == 0
