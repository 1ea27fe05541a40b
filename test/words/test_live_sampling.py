# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which regions become symbols of the word, over stops, restarts and clocks. Needs no ROS."""
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest
from symdp_ros.words import live_sampling
from symdp_ros.words.live_sampling import EveryChange, EveryMessage, EveryPeriod, steady_clock_name
from symdp_ros.words.live_word import Start

PERIOD = 1000


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    """Give the steady clock, which stands still but where a test sets it: the one item."""
    now = [0]
    monkeypatch.setattr(live_sampling, 'monotonic_ns', lambda: now[0])
    return now


class Drawn(list):
    """The symbols that a sampling draws, and when; it is started where `start` tells how."""

    def __init__(self, kind, start=None, **given):
        super().__init__()
        self.times = []
        self.sampling = kind(self.draw, **given)
        self.gone_on = [[]]  # after each symbol: (reports, whether they are published)
        self.sampling.go_on = self.go_on
        if start is not None:
            self.sampling.start(start, 0)

    def draw(self, region, now):
        self.append(region)
        self.times.append(now)
        self.gone_on.append([])

    def go_on(self, reports, publishes):
        self.gone_on[-1].append((reports, publishes))

    def read(self, *regions):
        for region in regions:
            self.sampling.read(region, -1)


def test_every_message_is_one_symbol():
    drawn = Drawn(EveryMessage, drop_unknown=False)
    assert drawn.sampling.start(Start.NEW, 0) is None
    drawn.read('a', 'a', None, 'b')
    assert drawn == ['a', 'a', None, 'b']


@pytest.mark.parametrize('kind', [EveryMessage, EveryChange])
def test_latched_messages_enter_the_first_word_alone(kind):
    drawn = Drawn(kind, Start.NEW, drop_unknown=False)
    assert drawn.sampling.takes_latched
    drawn.sampling.start(Start.GOES_ON, 0)
    assert drawn.sampling.takes_latched, 'nothing was read yet'
    drawn.read('a')
    drawn.sampling.start(Start.GOES_ON, 0)
    assert not drawn.sampling.takes_latched
    drawn.sampling.start(Start.NEW, 0)
    assert not drawn.sampling.takes_latched, 'the last word may show it'
    for start in (Start.AFTER_RESTART, Start.ANOTHER):
        drawn = Drawn(kind, start, drop_unknown=False)
        assert not drawn.sampling.takes_latched
    drawn = Drawn(kind, Start.NEW, drop_unknown=False, waits=True)
    assert not drawn.sampling.takes_latched


@pytest.mark.parametrize('drop, expected', [(False, ['a', None, 'a', 'b']), (True, ['a', 'b'])])
def test_every_change_is_one_symbol(drop, expected):
    drawn = Drawn(EveryChange, Start.NEW, drop_unknown=drop)
    drawn.read('a', 'a', None, None, 'a', 'b', 'b')
    assert drawn == expected


def test_a_first_region_that_is_unknown_is_a_change():
    drawn = Drawn(EveryChange, Start.NEW, drop_unknown=False)
    drawn.read(None, None)
    assert drawn == [None]


def test_a_stay_is_drawn_once_however_often_the_node_is_stopped():
    drawn = Drawn(EveryChange, Start.NEW, drop_unknown=False)
    for _ in range(40):
        drawn.read('a')
        drawn.sampling.start(Start.GOES_ON, 0)
    assert drawn == ['a']
    drawn.read('b')
    assert drawn == ['a', 'b']


@pytest.mark.parametrize('start', [Start.AFTER_RESTART, Start.ANOTHER])
@pytest.mark.parametrize('drop, expected', [(False, ['a', 'b']), (True, ['b'])])
def test_after_a_restart_the_first_region_is_not_drawn(drop, expected, start):
    drawn = Drawn(EveryChange, start, drop_unknown=drop)
    drawn.read(None, None, 'a', 'a')
    drawn.sampling.start(Start.GOES_ON, 0)
    drawn.read('a', 'b')
    assert drawn == expected


def test_another_word_of_the_process_waits_for_the_next_change():
    drawn = Drawn(EveryChange, Start.NEW, drop_unknown=False)
    drawn.read('a')
    drawn.sampling.start(Start.NEW, 0)
    drawn.read('a, as another map calls it', 'b')
    assert drawn == ['a', 'b']
    drawn = Drawn(EveryChange, Start.NEW, drop_unknown=False, waits=True)
    drawn.read('a', 'a', 'b')
    assert drawn == ['b']


def period(start=Start.NEW, **given):
    return Drawn(EveryPeriod, start, period=PERIOD, **given)


def test_every_tick_is_one_symbol_of_the_region_that_was_read_last():
    drawn = period(None)
    assert drawn.sampling.start(Start.NEW, 5000) == PERIOD
    drawn.sampling.tick(6000)
    drawn.sampling.read('a', 6100)
    drawn.sampling.read('b', 6200)
    drawn.sampling.tick(7000)
    drawn.sampling.tick(8000)
    drawn.sampling.read(None, 8100)
    drawn.sampling.tick(9000)
    assert drawn == [None, 'b', 'b', None]


def test_a_region_is_unknown_after_the_timeout_and_after_a_stop():
    drawn = period(timeout=1500)
    drawn.sampling.read('a', 900)
    for tick in (1000, 2000, 3000, 4000):
        drawn.sampling.tick(tick)
    assert drawn == ['a', 'a', None, None]
    drawn.sampling.read('a', 4500)
    drawn.sampling.start(Start.GOES_ON, 4600)
    drawn.sampling.tick(5000)
    assert drawn[-1] is None


def test_a_late_tick_draws_the_region_of_its_instant():
    drawn = period()
    drawn.sampling.read('a', 900)
    drawn.sampling.read('b', 1000)
    drawn.sampling.read('c', 1800)
    assert drawn.sampling.tick(1900) == 100
    assert drawn.sampling.tick(2000) == PERIOD
    assert drawn == ['a', 'c'] and drawn.times == [1000, 2000]


def test_ticks_that_are_always_late_lose_none():
    """As those of a timer, and of a clock whose steps are no divisors of the period."""
    drawn, now, wait = period(), 0, PERIOD
    for i in range(1, 101):
        now += wait + 20 + i * 37 % 600
        wait = drawn.sampling.tick(now)
    assert drawn.times == [PERIOD * i for i in range(1, 101)]


def test_instants_that_were_missed_are_not_made_up_for():
    drawn = period()
    for time, region in (900, 'a'), (2100, 'b'), (4100, 'c'):
        drawn.sampling.read(region, time)
    assert drawn.sampling.tick(4900) == 100
    drawn.sampling.tick(9900)
    assert drawn == ['b', 'c'] and drawn.times == [4000, 9000]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3 * PERIOD)), max_size=30))
def test_each_symbol_is_the_region_at_its_instant(steps):
    drawn, now, read = period(), 0, []
    for is_tick, passed in steps:
        now += passed
        if is_tick:
            drawn.sampling.tick(now)
        else:
            read.append(now)
            drawn.sampling.read(str(now), now)
    assert drawn == [str(max(earlier)) if (earlier := [t for t in read if t < time]) else None
                     for time in drawn.times]
    assert all(time % PERIOD == 0 for time in drawn.times)


def test_a_region_that_is_looked_up_is_that_of_the_tick():
    drawn, look = period(), iter('abc').__next__
    assert drawn.sampling.tick(1900, look) == PERIOD
    assert drawn.sampling.tick(2000, look) == 900 and drawn == ['a']
    drawn.sampling.tick(2900, look)
    assert drawn == ['a', 'b'] and drawn.times == [1900, 2900]


@pytest.mark.parametrize('start', [Start.GOES_ON, Start.AFTER_RESTART])
@pytest.mark.parametrize('now, wait', [(1001, 999), (1999, 1), (2000, 1000), (5300, 700)])
def test_ticks_keep_their_times_over_a_stop_and_a_restart(start, now, wait):
    drawn = period()
    drawn.sampling.tick(1000)
    if start is Start.AFTER_RESTART:
        drawn = period(None)
    assert drawn.sampling.start(start, now, 1000) == wait


def test_a_simulation_that_begins_anew_ticks_from_its_beginning():
    drawn = period(None)
    assert drawn.sampling.start(Start.AFTER_RESTART, 0, 100_000) == PERIOD
    assert drawn.sampling.tick(300) == PERIOD and drawn.sampling.tick(1300) == PERIOD
    assert drawn.times == [1300]


def test_where_the_last_time_is_not_known_a_whole_period_passes():
    drawn = period(None)
    assert drawn.sampling.start(Start.AFTER_RESTART, 5300, -1) == PERIOD
    assert drawn.sampling.tick(5400) == 900 and drawn == []


def test_a_new_word_keeps_the_distance_too():
    drawn = period()
    drawn.sampling.tick(1000)
    assert drawn.sampling.start(Start.NEW, 1200) == 800


def test_a_clock_that_is_set_back_delays_by_a_period():
    drawn = period()
    drawn.sampling.tick(100_000)
    assert drawn.sampling.tick(99_500) == 1500, 'less than a period: wait for it'
    assert drawn.sampling.tick(2000) == PERIOD
    assert drawn.sampling.tick(2500) == 500
    assert drawn.sampling.tick(3000) == PERIOD
    assert drawn.times == [100_000, 3000]
    assert drawn.sampling.start(Start.GOES_ON, 0) == PERIOD, 'no time on /clock yet'


@given(st.lists(st.tuples(st.sampled_from(['tick', 'stop', 'restart']),
                          st.integers(0, 5 * PERIOD)), max_size=30))
def test_two_symbols_are_never_less_than_a_period_apart(steps):
    """Whatever calls `tick`, and however early."""
    drawn, now, all_times = period(None), 1, []
    drawn.sampling.start(Start.NEW, now)
    for step, passed in steps:
        now += passed
        if step == 'tick':
            drawn.sampling.tick(now)
        elif step == 'stop':
            drawn.sampling.start(Start.GOES_ON, now)
        else:
            all_times += drawn.times
            drawn = period(None)
            drawn.sampling.start(Start.AFTER_RESTART, now, max(all_times, default=-1))
    all_times += drawn.times
    assert all(b - a >= PERIOD for a, b in zip(all_times, all_times[1:], strict=False))


def test_reports_come_between_symbols():
    drawn, now, wait, waits = period(None, reports=4), 0, PERIOD // 4, []
    assert drawn.sampling.start(Start.NEW, now) == wait
    for _ in range(11):
        now += wait
        wait = drawn.sampling.tick(now)
        waits.append(wait)
    assert waits == [250] * 11
    assert drawn.times == [1000, 2000] and drawn.gone_on == [[], *[[(1, True)] * 3] * 2]


def test_reports_whose_time_has_passed_are_gone_over_in_silence():
    drawn = period(reports=4)
    assert drawn.sampling.tick(1000) == 250
    assert drawn.sampling.tick(1800) == 200  # the third: two were missed
    assert drawn.sampling.tick(4300) == 200  # the symbol of 4000 is late, a report after it is due
    assert drawn.gone_on[1:] == [[(2, False), (1, True), (8, False)], []]
    assert drawn.times == [1000, 4000]
    drawn.sampling.start(Start.GOES_ON, 4550)  # one was missed while the node did not listen
    assert drawn.sampling.tick(4750) == 250 and drawn.gone_on[2] == [(2, False), (1, True)]


def test_after_a_restart_what_was_missed_is_gone_over_within_bounds():
    drawn = period(None, reports=4)
    assert drawn.sampling.start(Start.AFTER_RESTART, 10**9 + 100, 1000) == 150
    drawn.sampling.tick(10**9 + 250)
    assert drawn.times == [10**9]
    [(missed, publishes)] = drawn.gone_on[0]
    assert not publishes and 1000 <= missed < 1004 and missed % 4 == 3


@pytest.mark.parametrize('reports', [1, 4])
def test_making_up_takes_no_longer_than_half_of_what_was_missed(steady, reports):
    """Else a node whose reports take longer than their time would miss more with each one."""
    drawn, now, missed = period(reports=reports), 1000, []

    def go_on(count, publishes):
        steady[0] += 2 * PERIOD * count // reports
        missed.append(0 if publishes else count)

    drawn.sampling.go_on, drawn.sampling.draw = go_on, lambda region, at: None
    for _ in range(200):
        begun = steady[0]
        now += drawn.sampling.tick(now)
        steady[0] += 3 * PERIOD
        now = max(now, now + steady[0] - begun)
    assert max(missed[20:]) < 4 * reports, missed


@given(st.integers(1, 7), st.lists(st.tuples(
    st.sampled_from(['tick', 'stop', 'restart']), st.integers(0, 3 * PERIOD)), max_size=30))
def test_with_reports_each_comes_at_its_instant(reports, steps):
    """The period is no multiple of most numbers of reports."""
    drawn, now, all_times = period(None, reports=reports), 1, []
    drawn.sampling.start(Start.NEW, now)
    for step, passed in steps:
        now += passed
        if step == 'tick':
            count = len(drawn)
            wait = drawn.sampling.tick(now)
            last = max(drawn.times + all_times, default=None)
            if last is not None:
                assert 0 <= now - last < PERIOD
                gone = sum(missed for missed, _ in drawn.gone_on[-1])
                due = (now - last) * reports // PERIOD
                assert gone == (0 if len(drawn) > count else due)
                assert (now + wait - last) * reports // PERIOD == due + 1
                assert (now + wait - 1 - last) * reports // PERIOD == due
        elif step == 'stop':
            drawn.sampling.start(Start.GOES_ON, now)
        else:
            all_times += drawn.times
            drawn = period(None, reports=reports)
            drawn.sampling.start(Start.AFTER_RESTART, now, max(all_times, default=-1))
    all_times += drawn.times
    assert all(b - a >= PERIOD and (b - a) % PERIOD == 0 for a, b in pairwise(all_times))


def test_the_steady_clock_has_one_name_until_the_machine_starts_again():
    assert steady_clock_name() == steady_clock_name() != ''
