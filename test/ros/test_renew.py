# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Words that are renewed by real nodes: charged by the clock, and not seen in what goes out."""
import json
from random import Random

from harness import LATCHED, RELIABLE, wait_until
from long_runs import first_seed
import pytest
from std_msgs.msg import String
from strategies import sharp
from symdp_ros.ledger.ledger import Ledger
from test_fleet import levels
from test_sampling import SimulatedTime

RENEW = 0.0002  # hours: 0.72 s
HOW = {
    'message': {},
    'change': {'sampling': 'change'},
    'no state file': {'state_file': 'none'},
    'adaptive, late': {'policy': 'adaptive', 'delay': 3.0},
    'protect': {'protect': 0.25},  # a symbol every 0.3 s, a region every 0.1 s
    'protect, late': {'protect': 0.25, 'delay': 0.6},
    'zones': {'sampling': 'period', 'period': 0.1, 'zones_file': 'zones.yaml'}}


@pytest.fixture
def renewed(corridor, tmp_path):
    """Give a corridor with moves of .1 s, and how a renewed word is charged."""
    chain_file = corridor['chain_file']
    chain_file.write_text('tick: 0.1\n' + chain_file.read_text())
    return {'chain_file': chain_file, 'ledger_file': tmp_path / 'spent.ledger', 'subject': 'r1',
            'epsilon': 1.0, 'renew': RENEW}


def names_charged(given):
    """Return the names of the words that were charged; check the ledger."""
    with Ledger(given['ledger_file']) as ledger:
        names = [charge.content for charge in ledger.charges()]
        assert ledger.problems() == [] and len(names) == len(set(names))
        assert ledger.spent('r1') >= len(names)  # a word may begin meanwhile
    return names


class Listener:
    """What came on `private_region`, with times, which bound how many ticks were missed."""

    def __init__(self, world, interval):
        self.heard, self._interval = [], interval
        world.node.create_subscription(String, 'private_region', self._note, LATCHED)

    def _note(self, message, info):
        self.heard.append((info['source_timestamp'], message.data))

    def check(self, restarts=0):
        """
        Check that each region may follow the one before; in ticks that were missed, a robot moves.

        How late each was published says nothing of one tick. Of all: no more were missed than went
        by without a region. A node that starts again shows its last region once more.
        """
        assert self.heard
        times, regions = zip(*self.heard, strict=True)
        further = sum(max(abs(ord(there) - ord(here)) - 1, 0)  # moves that are not seen
                      for here, there in zip(regions, regions[1:], strict=False))
        missed = 0 if self._interval is None else (
            (times[-1] - times[0]) / (1e9 * self._interval) + 1 - (len(times) - 1 - restarts))
        assert further <= missed, regions


@pytest.mark.parametrize('how', sharp({how: how for how in HOW}, *{*HOW} - {
    'change', 'protect, late'}))
def test_words_are_charged_one_after_another_and_the_route_goes_on(world, renewed, tmp_path, how):
    given = dict(HOW[how])
    if 'zones_file' in given:
        given['zones_file'] = tmp_path / given['zones_file']
    keeps, random = given.get('state_file') != 'none', Random(1)
    listener = Listener(world, 0.1 if {'protect', 'period'} & given.keys() else None)
    charged = 0
    for _ in range(2 if keeps else 1):
        run = world.privatizer(**renewed, **given)
        publisher = world.publisher(qos=RELIABLE)
        begin = len(listener.heard)

        def move():
            publisher.publish(String(data=random.choice('abcd')))
            world.settle(0.02)  # `spin` returns with each region that comes, and 2,000 do a second

        wait_until(lambda: run.log.count('charged with') >= 3
                   and len(listener.heard) >= begin + 20, lambda: run.log, move)
        assert run.stop() == 0
        assert 'which runs 0.0002 h (renew). Visits add up' in run.log
        charged += run.log.count('charged with')
        world.node.destroy_publisher(publisher)
    assert len(names_charged(renewed)) == charged
    listener.check(restarts=1 if keeps else 0)


def test_after_the_last_word_that_the_budget_allows_nothing_is_published(world, renewed):
    run = world.privatizer(**renewed, protect=0.25, subject_budget=2.0, state_file='none')
    assert run.wait() == 1
    assert 'the word is over (renew), and the next one cannot begin: nothing more is' in run.log
    assert "subject_budget of 'r1' is 2: 2 of it is spent, 0 is left" in run.log
    assert len(names_charged(renewed)) == 2
    again = world.privatizer(**renewed, protect=0.25, wait=False)
    assert again.wait() == 1 and 'is left' in again.log and 'active: ' not in again.log
    assert len(names_charged(renewed)) == 2


def test_a_word_that_is_over_at_the_start_is_renewed_or_nothing_goes_out(world, renewed):
    run = world.privatizer(**renewed, protect=0.25, subject_budget=1.0)
    assert run.wait() == 1
    private = world.listen()
    again = world.privatizer(**renewed, protect=0.25, wait=False)
    assert again.wait() == 1
    assert 'is carried on' in again.log and 'cannot begin: nothing more is' in again.log
    assert private == [] and 'active: ' not in again.log
    with Ledger(renewed['ledger_file']) as ledger:
        ledger.set_budget('r1', ledger.spent('r1') + 1000)
    world.privatizer(**renewed, protect=0.25)
    world.wait_until(lambda: len(private) > 2, 'regions of the next word')
    assert len(names_charged(renewed)) >= 2


def test_in_a_fleet_the_others_go_on(world, renewed, tmp_path):
    robots = {'rich': {}, 'poor': {'subject_budget': 2.0}}
    (tmp_path / 'fleet.yaml').write_text(json.dumps({
        'ledger_file': str(renewed['ledger_file']), 'robots': robots, 'defaults': {
            'chain_file': str(renewed['chain_file']), 'epsilon': 1.0, 'protect': 0.25,
            'renew': RENEW}}))
    statuses, private = world.diagnostics(), world.listen('/rich/private_region')
    run = world.start('fleet', fleet=tmp_path / 'fleet.yaml')
    world.wait_until(lambda: levels(statuses).get('poor', (0, ''))[0] == 2, 'the end of one')
    assert 'subject_budget' in levels(statuses)['poor'][1]
    before = run.log.count("a new word of 'rich', charged"), len(private)
    world.wait_until(lambda: run.log.count("a new word of 'rich', charged") > before[0]
                     and len(private) > before[1], 'the next word of the other')
    assert levels(statuses)['rich'] == (0, 'active')
    assert run.stop() == 0
    with Ledger(renewed['ledger_file']) as ledger:
        assert ledger.spent('poor') == 2


def test_simulated_hours_count(world, renewed):
    given = renewed | {'renew': 24.0, 'use_sim_time': 'true', 'protect': 0.25}
    run = world.privatizer(**given)
    time, private = SimulatedTime(world), world.listen()
    time.jump(1.0, private)
    for day in range(1, 4):
        time.go_on(23 * 3600)
        time.pass_quietly(0)
        assert len(names_charged(given)) == day
        time.go_on(3600)
        time.stand_until(lambda day=day: len(names_charged(given)) == day + 1, 'another word')
    assert run.stop() == 0
    run = world.privatizer(**given)  # the word is of the same day
    time.jump(10.0, private)
    assert len(names_charged(given)) == 4
    time.go_on(24 * 3600)
    time.stand_until(lambda: len(names_charged(given)) == 5, 'another word')


def test_killed_at_any_moment_each_word_is_charged_once(world, renewed):
    random, names, said = Random(first_seed()), [], 0
    listener = Listener(world, 0.1)
    for _ in range(5):
        run = world.privatizer(**renewed, protect=0.25)
        assert ('is carried on' in run.log) == bool(names)
        begin, more = len(listener.heard), random.randint(1, 12)
        world.wait_until(lambda begin=begin, more=more: len(listener.heard) >= begin + more,
                         'some regions')
        run.kill()
        world.settle(0.2)
        said += run.log.count('charged with')
        names = names_charged(renewed)
        # What a process had charged, and could not say any more, is not charged by the next.
        assert said <= len(names)
    listener.check(restarts=4)


@pytest.mark.parametrize('given, sentence', [
    ({'renew': 24.0, 'ledger_file': '', 'subject': ''}, 'and renew need a ledger_file'),
    ({'renew': 1e-5}, 'renew is 1e-05 hours: it must be 0, or at least 0.0001')])
def test_what_cannot_be_kept_is_refused(starter, renewed, given, sentence):
    assert sentence in starter.refused('privatizer', **{
        name: value for name, value in {**renewed, **given, 'protect': 0.25}.items() if value})
