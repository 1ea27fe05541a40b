# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Words that are renewed: each is charged once, and what draws goes on as if nothing had happened.

Needs no ROS. `test_live_word` has the state machine of all that a node does.
"""
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from live_words import CHAIN, LIKELY, Log, Place
import pytest
from strategies import exp_bounds
from symdp_ros import BudgetError, Chain, OnlineMechanism, Privacy, StateFileError
from symdp_ros.cli.main import main
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.ledger.charging import Charging
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.live_account import LiveAccount
from symdp_ros.words.live_word import HOUR, LiveWord, Start
from symdp_ros.words.sampling_settings import SamplingSettings
from symdp_ros.words.state_file import StateFile

DAY = 24 * HOUR
BOOT = 100 * HOUR  # a time of the steady clock
ZONES = {'north': ['a', 'b'], 'south': ['c']}
HOW = {
    'paper': {'policy': 'paper'}, 'guided': {'policy': 'guided'},
    'adaptive': {'policy': 'adaptive'}, 'late': {'policy': 'adaptive', 'delay': 2},
    'several reports': {'policy': 'adaptive', 'reports': 3},
    'several late': {'policy': 'adaptive', 'reports': 3, 'delay': 2}}


class Paid:
    """An account that charges what it is asked to."""

    ledger_id, subject = 'the ledger', 'r1'

    def __init__(self):
        self.charged = []

    def charge(self, word, *, perhaps_charged):
        new = word.name not in self.charged
        self.charged += [word.name] if new else []
        return new

    def bounds(self, word):
        return 'any one visit of 30 s'

    def close(self):
        pass


def live(mechanism, *, account=None, **given):
    return LiveWord(mechanism, described={}, account=account or Paid(), renew=DAY, logger=Log(),
                    **given)


def charged_at_start(place, **given):
    """Return a word that began at `BOOT`."""
    word = place.word(renew=DAY, **given)
    word.begin(BOOT)
    return word


@pytest.mark.parametrize('how, zones', [(how, None) for how in HOW] + [
    (how, ZONES) for how in HOW if HOW[how]['policy'] == 'adaptive'])
def test_what_is_published_is_what_it_is_without_a_renewal(how, zones):
    """Draw by draw, with what is held back and believed; after a restart, too."""
    privacy, random = Privacy(2.0, 2, zones), Random(7)
    words = [live(OnlineMechanism(LIKELY, privacy, **HOW[how], random=Random(1)))
             for _ in range(2)]
    seen = [], []
    for word in words:
        word.begin(BOOT)
    for number in range(60):
        symbol = random.choice(['a', 'b', 'c', None])
        if number % 9 == 4:
            before = words[1].mechanism.state, words[1].last
            words[1].renew(BOOT + (number + 1) * DAY)
            assert before == (words[1].mechanism.state, words[1].last)
        for word, outputs in zip(words, seen, strict=True):
            outputs.append(word.draw(symbol))
            for _ in range(word.mechanism.ticks_left if number % 3 else 0):
                outputs.append(word.tick())
        if words[0].mechanism.posterior is not None:
            assert (words[0].mechanism.posterior == words[1].mechanism.posterior).all()
    assert seen[0] == seen[1] and words[0].mechanism.state == words[1].mechanism.state
    assert len(words[0]._account.charged) == 1 and len(words[1]._account.charged) == 8
    if HOW[how].get('reports', 1) == 1:  # else not all of them went out
        assert LIKELY.is_feasible([output for output in seen[1] if output is not None])


@pytest.mark.parametrize('how', ['paper', 'guided', 'adaptive', 'several reports'])
@pytest.mark.parametrize('k', [1, 2])
def test_what_both_words_tell_together(how, k):
    """
    For all pairs of sensitive words of 2 + 2 symbols, and all that can be drawn, exactly.

    Up to k changed symbols cost ε, in one word or over the border; k in each word cost 2ε.
    """
    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
    mechanism = OnlineMechanism(chain, Privacy(1.0, k), **HOW[how])
    word, inputs = live(mechanism), (*chain.states, None)
    word.begin(BOOT)
    paths, day = [], 0

    def draw_all(state, rows):
        nonlocal day
        if len(rows) == 4:
            paths.append(rows)
            return
        mechanism.restore(state)
        row = {symbol: mechanism.exact_current_distribution(symbol) for symbol in inputs}
        for signal in row[None]:
            mechanism.restore(state)
            mechanism.advance(signal)
            for _ in range(mechanism.ticks_left):
                mechanism.tick()
            if len(rows) == 1:  # between the second symbol and the third
                day += 1
                name = word.name
                word.renew(BOOT + day * DAY)
                assert word.name != name
            draw_all(mechanism.state,
                     [*rows, {symbol: row[symbol].get(signal, 0) for symbol in inputs}])

    draw_all(mechanism.state, [])
    bound = {times: exp_bounds(Fraction(times))[0] for times in (1, 2)}
    words = list(product(inputs, repeat=4))
    for rows in paths:
        # Words that differ where they may: each symbol by its most and least likely value.
        most = [max(row.values()) / min(row.values()) for row in rows]
        for places in product((False, True), repeat=4):
            changed = prod((m for m, differs in zip(most, places, strict=True) if differs),
                           start=Fraction(1))
            if sum(places) <= k:
                assert changed <= bound[1], 'k symbols, in one word or over the border'
            if sum(places[:2]) <= k and sum(places[2:]) <= k:
                assert changed <= bound[2], 'k symbols in each'
    sums = [sum(prod(row[symbol] for row, symbol in zip(rows, sensitive, strict=True))
                for rows in paths) for sensitive in words[::17]]
    assert set(sums) == {1}


def test_a_word_is_over_by_the_clock_alone_and_times_do_not_drift(place):
    word = charged_at_start(place)
    names = [word.name]
    assert word.renew(BOOT + DAY - 1) == 1 and word.name == names[0]
    for now, left in ((BOOT + DAY + 7, DAY - 7), (BOOT + 2 * DAY, DAY),
                      (BOOT + 7 * DAY + 5, DAY - 5)):  # days that were missed are not charged
        assert word.renew(now) == left
        names.append(word.name)
    word.close()
    assert place.charges() == names and len(set(names)) == 4


@pytest.mark.parametrize('same_process', [True, False])
@pytest.mark.parametrize('calendar', [0, 5 * HOUR], ids=['same boot', 'another boot'])
def test_a_word_that_ran_out_while_nothing_ran_is_renewed_at_the_start(place, new_process,
                                                                       same_process, calendar):
    word = charged_at_start(place)
    name, last = word.name, word.draw('a')
    word.close()
    for now, over in ((BOOT + DAY - 1, False), (BOOT + 3 * DAY - 2, True),
                      (BOOT + 3 * DAY - 1, False), (BOOT + 3 * DAY, True)):
        if not same_process:
            new_process()
        given = {} if same_process else {'calendar': calendar}
        word = place.word(renew=DAY, former=word if same_process else None, **given)
        here = now - given.get('calendar', 0)  # the steady clock began anew
        assert word.begin(here) is (Start.GOES_ON if same_process else Start.AFTER_RESTART)
        assert word.last == last and (word.name != name) == over
        assert word.renew(here) == DAY - (now - BOOT) % DAY
        name = word.name
        word.close()
    assert len(place.charges()) == 3


def test_a_renewal_between_two_draws_keeps_the_state_of_the_draw(place, new_process):
    """Of which `drawn_at` tells the time: the next process goes over the reports since."""
    word = charged_at_start(place, how=MechanismSettings('live', policy='adaptive', reports=3))
    word.draw('b', BOOT + 1)
    state = word.mechanism.state
    word.tick()
    word.renew(BOOT + DAY)
    assert word.mechanism.state != state
    word.close()
    new_process()
    word = place.word(renew=DAY, how=MechanismSettings('live', policy='adaptive', reports=3))
    assert word.mechanism.state == state and word.mechanism.ticks_left == 2
    assert word.drawn_at == BOOT + 1
    word.close()
    assert len(place.charges()) == 2


@pytest.mark.parametrize('step', ['reserve', 'charge', 'begin'])
@pytest.mark.parametrize('when', ['before', 'after'])
def test_whenever_it_is_killed_each_word_is_charged_once(
        place, new_process, monkeypatch, step, when):
    class Killed(BaseException):
        """The process ends here."""

    word = charged_at_start(place)
    first, last = word.name, word.draw('a')
    kind = Ledger if step == 'charge' else StateFile
    call = getattr(kind, step)

    def killed(*args, **given):
        if when == 'after':
            call(*args, **given)
        raise Killed

    for _ in range(2):
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(kind, step, killed)
            word.renew(BOOT + DAY)
        word.close()
        new_process()
        word = place.word(renew=DAY)
        if when == 'after' and step != 'reserve':  # there is nothing left to do
            break
        assert word.name == first
    assert word.begin(BOOT + DAY) is Start.AFTER_RESTART
    assert word.last == last and word.name != first
    word.close()
    assert place.charges() == [first, word.name]


def test_a_disk_that_is_full_at_the_renewal_has_one_word_charged(place, monkeypatch):
    word = charged_at_start(place)
    for _ in range(3):
        with monkeypatch.context() as patched, pytest.raises(StateFileError):
            patched.setattr(StateFile, '_write', lambda *_: (_ for _ in ()).throw(
                StateFileError('the disk is full')))
            word.renew(BOOT + DAY)
    first = word.name
    word.close()
    word = place.word(renew=DAY, former=word)
    assert word.begin(BOOT + DAY) is Start.GOES_ON and word.name != first
    word.close()
    assert place.charges() == [first, word.name]


@pytest.mark.parametrize('state_file', [True, False])
def test_a_budget_that_is_spent_ends_the_last_word(tmp_path, new_process, state_file):
    place = Place(tmp_path, budget=2.0, state_file=state_file)
    word = charged_at_start(place)
    word.renew(BOOT + DAY)
    name = word.name
    for _ in range(2):
        with pytest.raises(BudgetError, match='2 of it is spent'):
            word.renew(BOOT + 2 * DAY)
        assert word.name == name
    assert 'cannot begin: nothing more is published' in place.log[-1]
    word.close()
    for former in (word, None) if state_file else (word,):  # whoever starts it again
        if former is None:
            new_process()
        word = place.word(renew=DAY, former=former)
        with pytest.raises(BudgetError):
            word.begin(BOOT + 2 * DAY)
        word.close()
        with Ledger(place.ledger_file) as ledger:
            assert ledger.spent('r1') == 2
    with Ledger(place.ledger_file) as ledger:
        ledger.set_budget('r1', Fraction(3))
    place.budget = 0.0
    word = place.word(renew=DAY, former=word)
    word.begin(BOOT + 2 * DAY)
    word.close()
    assert len(place.charges()) == 3 and word.name not in (name, None)


def test_a_clock_that_is_set_back_gives_the_word_its_time_again(place, new_process):
    word = charged_at_start(place)
    assert word.renew(BOOT - HOUR) == DAY
    assert word.renew(BOOT + HOUR) == DAY - 2 * HOUR
    word.close()
    new_process()
    word = place.word(renew=DAY)
    assert word.begin(BOOT - 2 * HOUR) is Start.AFTER_RESTART
    assert word.renew(BOOT - 2 * HOUR) == DAY
    word.close()
    assert len(place.charges()) == 1


def test_while_no_time_is_known_a_word_is_not_over(place, new_process):
    """With use_sim_time, before anything came on /clock."""
    word = place.word(renew=DAY)
    word.begin(0)
    assert word.renew(0) == 1
    assert word.renew(BOOT) == DAY
    word.close()
    new_process()
    word = place.word(renew=DAY)
    word.begin(0)
    assert word.renew(0) == 1
    assert word.renew(BOOT + HOUR) == DAY - HOUR
    assert word.renew(BOOT + DAY) == DAY
    word.close()
    assert len(place.charges()) == 2


def test_renew_may_be_given_later_and_taken_away(place, new_process):
    word = place.word()
    word.begin(BOOT)
    word.close()
    for hours, charges in ((0, 1), (30 * HOUR, 1), (20 * HOUR, 2), (0, 2)):
        new_process()
        word = place.word(renew=hours)
        assert word.begin(BOOT + DAY) is Start.AFTER_RESTART
        word.close()
        assert len(place.charges()) == charges


def test_without_an_account_there_is_nothing_to_renew(tmp_path):
    place = Place(tmp_path, ledger=False)
    word = place.word(renew=DAY)
    word.begin(BOOT)
    name = word.name
    word.begin(BOOT + 2 * DAY)
    assert word.name == name
    word.close()


def test_what_a_charge_is_for_is_said(place):
    word = place.word(renew=DAY)
    word.begin(BOOT)
    word.close()
    [line] = [line for line in place.log if 'charged' in line]
    assert line == ("ledger: a new word of 'r1', charged with ε = 1 for any one symbol in it, "
                    'which runs 24 h (renew). Visits add up')


@pytest.mark.parametrize('k, sampling, bounds', [
    (1, SamplingSettings('period', period=31.0, protect=30.0), 'any one visit of 30 s'),
    (3, SamplingSettings('message'), 'any 3 symbols')])
def test_the_command_says_what_a_row_bounds(tmp_path, capsys, k, sampling, bounds):
    account = LiveAccount(tmp_path / 'ledger', Charging('r1'), sampling)
    word = live(OnlineMechanism(CHAIN, Privacy(1.0, k)), account=account)
    word.begin(BOOT)
    word.renew(BOOT + DAY)
    word.close()
    assert main(['ledger', str(tmp_path / 'ledger')]) == 0
    said = capsys.readouterr().out
    assert (f'live: a row bounds {bounds} in its word, however long that runs; two visits in it '
            'cost twice as much') in said
    assert 'in every one of them (the same visit every day), ε = 2' in said


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-3 * DAY, 5 * DAY), max_size=12), st.integers(1, 3 * DAY))
def test_words_are_never_more_than_time_has_passed(jumps, renew):
    """Whatever the clock does: of the time that passed forward, each word but one took its own."""
    account = Paid()
    word = LiveWord(OnlineMechanism(CHAIN, Privacy(1.0)), described={}, account=account,
                    renew=renew, logger=Log())
    now = begun = 1_000 * DAY
    word.begin(now)
    forward = 0
    for jump in jumps:
        now, forward = now + jump, forward + max(jump, 0)
        wait = word.renew(now)
        assert 0 < wait <= renew and word.begun_at <= now
    assert len(account.charged) <= 1 + forward // renew and begun
    assert len(set(account.charged)) == len(account.charged)
