# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Nothing but the draws depends on the regions of a live word: no time, no file, no line of the log.

What draws is made blind here: every symbol is unknown to it. Two runs with the same random bits
then give the same private word, and all else must be equal, byte by byte, whatever came in.
"""
import os
import random

from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
from live_words import CHAIN, LATE, LIVE, Log, made
import pytest
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.words import live_word
from symdp_ros.words.live_sampling import EveryChange, EveryMessage, EveryPeriod
from symdp_ros.words.live_word import LiveWord

PERIOD = 1000
KINDS = {'message': EveryMessage, 'change': EveryChange}
REPORTS = MechanismSettings('live', policy='adaptive', delay=1, reports=2)
REGIONS = (*CHAIN.states, None)
STEPS = st.lists(st.tuples(st.sampled_from(['read', 'read', 'tick', 'stop', 'restart', 'set']),
                           st.integers(0, 3 * PERIOD)), max_size=40)


class Blind:
    """A mechanism that is told of no symbol."""

    def __init__(self, mechanism):
        self._mechanism = mechanism

    def __getattr__(self, name):
        return getattr(self._mechanism, name)

    def step(self, symbol):
        return self._mechanism.step(None)


class Robot:
    """What a node does with a word and its sampling; all that can be seen of it is in `seen`."""

    def __init__(self, path, kind, how):
        self.path, self.kind, self.how = path, kind, how
        self.random, self.now = random.Random(1), 10**6
        self.log, self.seen = Log(), []
        self.begin_process()

    def begin_process(self):
        self.word = self.sampling = None
        live_word._PROCESS = os.urandom(8)
        self.start()

    def start(self):
        mechanism = Blind(made(CHAIN, 1.0, self.how).another(random=self.random))
        self.word = LiveWord(mechanism, described={}, state_file=self.path, clock='steady',
                             former=self.word, logger=self.log)
        if self.sampling is None and self.kind == 'period':
            self.sampling = EveryPeriod(self.draw, period=PERIOD, timeout=PERIOD,
                                        reports=self.how.reports)
            self.sampling.go_on = self.go_on
        elif self.sampling is None:
            self.sampling = KINDS[self.kind](self.draw, drop_unknown=False)
        begun = self.word.begin(self.now)
        self.seen += [begun, self.sampling.start(begun, self.now, self.word.drawn_at),
                      self.sampling.takes_latched]

    def draw(self, region, now):
        self.seen.append((self.word.draw(region, now), now))

    def go_on(self, reports, publishes):
        if self.word.mechanism.tables is not None:
            self.seen.append(self.word.tick() if publishes else self.word.skip(reports))

    def do(self, step, passed, regions):
        self.now += passed
        if step == 'read':
            for region in regions:
                self.sampling.read(region, self.now)
        elif step == 'tick' and self.kind == 'period':
            self.seen.append(self.sampling.tick(self.now))
        elif step == 'set':  # the clock, back
            self.now = max(1, self.now - 3 * passed)
        elif step in ('stop', 'restart'):
            self.word.close()
            self.start() if step == 'stop' else self.begin_process()
        self.seen.append(self.path.read_bytes())


def seen_of(path, monkeypatch, kind, how, steps, regions):
    """Return all that is seen of a run; `regions`: what is read in each step."""
    path.unlink(missing_ok=True)
    with monkeypatch.context() as patched:
        patched.setattr(os, 'urandom', random.Random(2).randbytes)  # names of words
        patched.setattr(live_word, '_PROCESS', b'')
        robot = Robot(path, kind, how)
        for step, read in zip(steps, regions, strict=True):
            robot.do(*step, read)
        robot.word.close()
    return [*robot.seen, *robot.log]


@pytest.mark.parametrize('kind, how', [
    ('message', LIVE), ('message', LATE), ('change', LIVE), ('period', LIVE), ('period', LATE),
    ('period', REPORTS)], ids=lambda value: value if isinstance(value, str) else
    f'{value.policy}-{value.reports}')
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_all_but_the_draws_is_the_same(tmp_path, monkeypatch, kind, how, data):
    steps, choose = data.draw(STEPS), random.Random(data.draw(st.integers(0, 2**32)))
    changes = [choose.random() < 0.5 for _ in steps]
    runs = []
    for _ in range(2):
        if kind == 'period':  # whether messages come is protected, too
            read = [choose.choices(REGIONS, k=choose.randrange(3)) for _ in steps]
        elif kind == 'message':
            read = [[choose.choice(REGIONS)] for _ in steps]
        else:  # of one timing: they change together
            read, last = [], 'a'
            for (step, _), changed in zip(steps, changes, strict=True):
                if changed and step == 'read':
                    last = choose.choice([region for region in REGIONS if region != last])
                read.append([last])
        runs.append(seen_of(tmp_path / 'word', monkeypatch, kind, how, steps, read))
    assert runs[0] == runs[1]
