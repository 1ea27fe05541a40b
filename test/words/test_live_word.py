# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The word that a live node publishes: charged once, carried on, drawn once for each occasion.

Needs no ROS. The state machine at the end does what the node does at each transition, on a disk
that may be full, in a process that may be killed at any step.
"""
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
import errno
import gc
from math import tanh
import os
from pathlib import Path
import shutil
from tempfile import TemporaryDirectory
import weakref

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, RuleBasedStateMachine
from live_words import CHAIN, LATE, LIKELY, LIVE, Place
import pytest
from refusals import refused
from symdp_ros import BudgetError, Chain, OnlineMechanism, Privacy, StateFileError
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.ledger.charging import Charging
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.live_account import LiveAccount
from symdp_ros.words import live_word
from symdp_ros.words.live_sampling import EveryChange, EveryMessage, EveryPeriod
from symdp_ros.words.live_word import LiveWord, Start
from symdp_ros.words.sampling_settings import SamplingSettings
from symdp_ros.words.state_file import StateFile

OTHER_CHAIN = Chain({'a': ['a', 'b', 'c'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')


def fail(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def damage(state_file):
    """Change a bit in each of its two slots."""
    content = bytearray(state_file.read_bytes())
    for slot in (76, 76 + 1024):
        content[slot] ^= 1
    state_file.write_bytes(content)


def test_words_are_counted_symbol_by_symbol(place):
    """With accounting: zcdp, k·x·tanh(x/2) for each word; it is stored with the budget."""
    charging = Charging('r1', subject_budget=5.0, accounting='zcdp', delta=1e-6)
    for _ in range(2):
        account = LiveAccount(place.ledger_file, charging)
        word = LiveWord(OnlineMechanism(CHAIN, Privacy(1.0, 4)), described={}, account=account,
                        logger=place.log)
        word.begin()
        word.close()
    with Ledger(place.ledger_file) as ledger:
        assert ledger.account('r1').rho == pytest.approx(2 * 4 * 0.25 * tanh(0.125), rel=1e-12)
        assert ledger.account('r1').budget_text == 'subject_budget: 5 (zcdp, δ = 1e-06)'
    with refused(BudgetError, 'is 5 (zcdp, δ = 1e-06) in the ledger, not 5 (pure'):
        LiveAccount(place.ledger_file, replace(charging, accounting='pure', delta=0.0))


def test_a_word_is_charged_once_over_every_stop(place, new_process):
    word = place.word()
    assert place.charges() == []
    assert word.begin() is Start.NEW
    outputs = [word.draw('a')]
    assert word.begin() is Start.GOES_ON
    word.close()
    word = place.word(former=word)
    assert word.begin() is Start.GOES_ON
    outputs.append(word.draw('b'))
    word.close()
    new_process()
    word = place.word()
    assert word.last == outputs[-1]
    assert word.begin() is Start.AFTER_RESTART
    outputs.append(word.draw('b'))
    assert word.begin() is Start.GOES_ON
    word.close()
    assert CHAIN.is_feasible(outputs)
    assert place.charges() == [word.name]


@pytest.mark.parametrize('same_process', [True, False])
def test_the_charge_of_a_word_that_goes_on_is_made_where_the_ledger_lacks_it(
        place, new_process, same_process):
    """Ledger and mark are restored from a backup that is older than the word."""
    Ledger(place.ledger_file).close()
    backup = place.ledger_file.with_name('backup')
    shutil.copyfile(place.ledger_file, backup)
    with place.begun() as word:
        name, output = word.name, word.draw('a')
    for file in place.ledger_file.parent.glob('ledger*'):
        file.unlink()
    shutil.copyfile(backup, place.ledger_file)
    assert place.charges() == []
    if not same_process:
        new_process()
    place.budget = 1.0
    for _ in range(3):  # once
        word = place.word(former=word if same_process else None)
        assert (word.name, word.last) == (name, output)
        assert word.begin() is (Start.GOES_ON if same_process else Start.AFTER_RESTART)
        word.close()
        assert place.charges() == [name]
        if not same_process:
            new_process()
    [said] = [line for line in place.log if 'lacked the charge' in line]
    assert 'restored from a backup' in said


def test_a_word_whose_charge_is_lost_and_cannot_be_made_does_not_go_on(place, new_process):
    Ledger(place.ledger_file).close()
    backup = place.ledger_file.read_bytes()
    with place.begun(epsilon=2.0) as word:
        pass
    for file in place.ledger_file.parent.glob('ledger*'):
        file.unlink()
    place.ledger_file.write_bytes(backup)
    new_process()
    place.budget = 1.0
    word = place.word(epsilon=2.0)
    for _ in range(2):
        with pytest.raises(BudgetError):
            word.begin()
    word.close()


@pytest.mark.parametrize('state_file', [True, False])
def test_what_was_not_activated_after_a_restart_still_is_after_a_restart(tmp_path, new_process,
                                                                         state_file):
    place = Place(tmp_path, state_file=state_file)
    with place.begun() as word:
        word.draw('a')
    new_process()
    word = place.word()
    word.close()
    word = place.word(former=word)  # cleaned up and configured, never activated
    assert word.begin() is (Start.AFTER_RESTART if state_file else Start.ANOTHER)
    word.close()


def test_another_process_that_went_on_with_the_word_is_noticed(place, new_process):
    """A standby on the same state file: what it read is not known here."""
    with place.begun() as mine:
        mine.draw('a')
    new_process()
    with place.begun() as other:
        last = other.draw('b')
    new_process()
    mine = place.word(former=mine)
    assert mine.begin() is Start.AFTER_RESTART and mine.last == last
    mine.close()
    assert len(place.charges()) == 1


@pytest.mark.parametrize('lost', ['removed', 'emptied', 'damaged'])
def test_within_a_process_the_word_goes_on_without_its_file(place, lost):
    with place.begun() as word:
        last = word.draw('a')
    if lost == 'removed':
        place.state_file.unlink()
    elif lost == 'emptied':
        place.state_file.write_bytes(b'')
    else:
        damage(place.state_file)
    word = place.word(former=word)
    assert word.begin() is Start.GOES_ON and word.last == last
    word.close()
    assert len(place.charges()) == 1


@pytest.mark.parametrize('delay', [0, 3])
@pytest.mark.parametrize('same_process', [True, False])
def test_an_adaptive_word_goes_on_exactly(place, new_process, delay, same_process):
    """As one that nobody stopped: what was held back leaves later, and nothing is forgotten."""
    settings = MechanismSettings('live', policy='adaptive', trust=0.3, delay=delay)
    privacy, former, state, outputs = Privacy(2.0), None, b'', []

    def begun(former, how=settings):
        word = LiveWord(how.online(LIKELY, privacy), logger=place.log, former=former,
                        described=how.described(LIKELY, privacy), state_file=place.state_file)
        return word, word.begin()

    for number, part in enumerate(('ab', 'c', 'abcaab', 'cab')):
        word, start = begun(former if same_process else None)
        assert start is (Start.NEW if not number else
                         Start.GOES_ON if same_process else Start.AFTER_RESTART)
        if number:
            assert word.mechanism.state == state and word.last == (outputs or [None])[-1]
        for symbol in part:
            output = word.draw(symbol)
            outputs += [] if output is None else [output]
        assert word.last == (outputs or [None])[-1]
        former, state = word, word.mechanism.state
        word.close()
        if not same_process:
            new_process()
    assert len(outputs) == len('abcabcaabcab') - delay and LIKELY.is_feasible(outputs)
    if not same_process:
        for other in (replace(settings, delay=1), replace(settings, trust=0.5)):
            word, start = begun(None, other)
            assert start is Start.ANOTHER
            word.close()
            new_process()


@pytest.mark.parametrize('how', ['in two places', 'of another version'])
def test_a_damaged_word_is_followed_by_a_charged_one(place, new_process, how):
    """So is one in a state that the mechanism does not know."""
    with place.begun() as word:
        word.draw('b')
        if how == 'of another version':
            word._state_file.store(b'of another version', 1)
    if how == 'in two places':
        damage(place.state_file)
    new_process()
    other = place.word()
    assert other.begin() is Start.ANOTHER and other.last is None
    assert 'it held a damaged word: a new word begins' in place.log[-1]
    other.close()
    assert place.charges() == [word.name, other.name]


def test_a_word_that_is_kept_keeps_no_tables(place):
    """A fleet remembers the words of all robots that it ever had."""
    with place.begun() as word:
        word.draw('b')
        tables = weakref.ref(word.mechanism)
    gc.collect()
    assert tables() is None
    assert place.word(former=word).begin() is Start.GOES_ON


@pytest.mark.parametrize('given', [
    {'chain': OTHER_CHAIN}, {'epsilon': 2.0}, {'how': LATE},
    {'sampling': SamplingSettings('change')},
    {'sampling': SamplingSettings('period', period=2.0)},
    # Renamed: the stay that its first message tells may be drawn already.
    {'topics': '/zone and /private_region'}], ids=str)
def test_other_settings_are_another_word(place, new_process, given):
    for between, start in ((lambda: None, Start.NEW), (new_process, Start.ANOTHER)):
        with place.begun() as word:
            pass
        between()
        other = place.word(**given, former=word)
        assert other.begin() is start
        assert 'it held a word of other settings: a new word begins' in place.log[-1]
        other.close()
    assert len(place.charges()) == len(set(place.charges())) == 4


def test_without_a_file_another_process_may_have_drawn(tmp_path):
    assert Place(tmp_path, state_file=False).word().begin() is Start.ANOTHER


def test_the_time_of_the_last_symbol_is_kept(place, new_process):
    with place.begun(clock='boot 1') as word:
        word.draw('a', 123)
        word.begin()  # deactivated and activated: the file still tells of that symbol
    new_process()
    for clock, time in (('boot 1', 123), ('boot 2', -1)):
        word = place.word(clock=clock)
        assert word.drawn_at == time
        word.close()


@pytest.mark.parametrize('step', ['pwrite', 'fsync'])
def test_nothing_is_charged_where_the_disk_is_full(place, new_process, monkeypatch, step):
    Ledger(place.ledger_file).close()
    for _ in range(5):
        word = place.word()
        with monkeypatch.context() as patched:
            patched.setattr(os, step, fail)
            with pytest.raises(StateFileError, match='No space left'):
                word.begin()
            with pytest.raises(StateFileError, match='No space left'):
                word.begin()
        word.close()
        new_process()
    assert place.charges() == []
    assert not any('begins' in line or 'charged' in line for line in place.log)


def test_a_disk_that_fills_up_after_the_charge_is_not_charged_again(place, new_process,
                                                                    monkeypatch):
    former = None
    for again in range(6):
        word = place.word(former=former)
        with monkeypatch.context() as patched:
            patched.setattr(StateFile, 'begin', fail)
            for _ in range(2):
                with pytest.raises(OSError):
                    word.begin()
        word.close()
        former = word if again % 2 else None
        if former is None:
            new_process()
    word = place.word()
    assert word.begin() is Start.NEW
    word.close()
    assert place.charges() == [word.name]
    assert sum('charged with' in line for line in place.log) == 1
    assert sum('a new word begins' in line for line in place.log) == 1


def test_a_refused_charge_leaves_the_word_that_was_there(tmp_path, new_process):
    place = Place(tmp_path, budget=1.0)
    with place.begun() as word:
        last = word.draw('b')
    new_process()
    word = place.word(epsilon=0.5)
    with pytest.raises(BudgetError):
        word.begin()
    word.close()
    assert sum('a new word begins' in line for line in place.log) == 1
    new_process()
    word = place.word()
    assert word.begin() is Start.AFTER_RESTART and word.last == last
    word.close()


def test_a_symbol_that_cannot_be_stored_does_not_go_out(place, monkeypatch):
    with place.begun() as word:
        word.draw('a')
        monkeypatch.setattr(os, 'pwrite', fail)
        with pytest.raises(StateFileError, match='cannot be written: No space left'):
            word.draw('b')


class Killed(BaseException):
    """The process ends here."""


PERIOD = 1000
RENEW = 5 * PERIOD
LATCHED = 3  # messages that the publisher keeps
KILLS = st.none() | st.tuples(st.sampled_from(['reserve', 'charge', 'begin']),
                              st.sampled_from(['before', 'after']))


class Node(RuleBasedStateMachine):
    """
    What the node does with word and sampling, in a world of its own.

    Whatever the callers and the operator do: no occasion (message, stay, tick) is drawn twice in
    one charged word, nor in two words of one process; no word is drawn from that was not charged;
    nothing is charged twice; no caller can make a word begin, but time can; what is published is
    feasible, over every renewal.
    """

    def __init__(self):
        super().__init__()
        # In memory, where there is such a place: what is flushed needs no disk.
        self.directory = TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
        self.now, self.region, self.stay, self.messages = 10, None, 0, 0
        self.latched, self.occasion = [], None
        self.chain, self.begun_chain = CHAIN, None
        self.word = self.sampling = self.tick_at = None
        self.drawn, self.published, self.last_time = set(), {}, -PERIOD
        self.renew_at, self.names, self.first, self.over = None, set(), {}, None
        self.count = Counter()  # of the symbols of each word
        self.allowed = 1  # charges
        self.full, self.kill_at = False, None
        self.patched = pytest.MonkeyPatch()
        for kind, name in ((StateFile, 'reserve'), (StateFile, 'begin'), (Ledger, 'charge')):
            self.patched.setattr(kind, name, self.step(name, getattr(kind, name)))
        write = StateFile._write
        self.patched.setattr(StateFile, '_write', lambda file, *given: (
            self.check_disk(), write(file, *given)))

    def check_disk(self):
        if self.full:
            raise StateFileError('the disk is full')

    def step(self, name, call):
        """Return a call before or after which the process may be killed."""
        def called(*args, **given):
            if self.kill_at == (name, 'before'):
                raise Killed
            result = call(*args, **given)
            if name == 'begin' and self.over is not None and self.over != args[1]:
                self.first[args[1]] = self.first.get(self.over, self.over)
            if self.kill_at == (name, 'after'):
                raise Killed
            return result

        return called

    @initialize(sampling=st.sampled_from(['message', 'change', 'period']), drop=st.booleans(),
                files=st.sampled_from([(True, True), (True, True), (True, False), (False, True),
                                       (False, False)]), how=st.sampled_from([LIVE, LATE]),
                renew=st.sampled_from([0, RENEW]))
    def set_up(self, sampling, drop, files, how, renew):
        state_file, ledger = files
        self.renew = renew if ledger else 0
        self.how = how
        self.kind, self.drop = sampling, drop and sampling != 'period'
        self.place = Place(Path(self.directory.name), state_file=state_file, ledger=ledger)
        if ledger:
            Ledger(self.place.ledger_file).close()
        self.start_process()

    def teardown(self):
        if self.word is not None:
            self.word.close()
        self.patched.undo()
        self.directory.cleanup()

    def start_process(self):
        self.patched.setattr(live_word, '_PROCESS', os.urandom(8))
        self.state, self.word, self.sampling, self.tick_at = 'unconfigured', None, None, None
        self.kill_at = self.renew_at = self.over = None

    def kill(self):
        if self.word is not None:
            self.word.close()
        self.start_process()
        if self.place.state_file is None:
            self.begun_chain = None
            self.allowed += 1

    def draw(self, region, now):
        try:
            output = self.word.draw(region, now)
        except StateFileError:
            raise Killed from None
        self.names.add(self.word.name)
        name = self.first.get(self.word.name, self.word.name)  # of the words that go on
        if self.kind == 'period':
            assert now - self.last_time >= PERIOD, 'two draws less than a period apart'
            self.last_time = now
        else:
            assert self.occasion not in self.drawn, 'an occasion was drawn twice'
            self.drawn.add(self.occasion)
        published = self.published.setdefault(name, (self.chain_in_use, []))[1]
        published += [] if output is None else [output]
        self.count[name] += 1
        assert len(published) == max(0, self.count[name] - self.how.delay), 'one was lost'

    def deliver(self, message):
        number, stay, region = message
        self.occasion = stay if self.kind == 'change' else number
        self.sampling.read(region, self.now)

    @rule(region=st.sampled_from(['a', 'b', 'c', None]), again=st.booleans())
    def publish(self, region, again):
        """Publish the region, or once more the one that the robot is in."""
        region = self.region if again else region
        self.messages += 1
        if region != self.region and not (region is None and self.drop):
            self.stay, self.region = self.stay + 1, region
        self.latched = [*self.latched, (self.messages, self.stay, region)][-LATCHED:]
        if self.state == 'active':
            with suppress(Killed):
                self.deliver(self.latched[-1])
                return
            self.kill()

    @rule(passed=st.integers(1, 3 * PERIOD))
    def pass_time(self, passed):
        self.now += passed
        if self.renew_at is not None and self.now >= self.renew_at:
            self.let_renew(None)
        if self.tick_at is not None and self.now >= self.tick_at:
            self.tick()

    @precondition(lambda self: self.renew_at is not None)
    @rule(kill_at=KILLS)
    def let_renew(self, kill_at):
        """Fire the timer, in time or not."""
        self.kill_at = kill_at
        try:
            with self.renewing():
                self.renew_at = self.now + self.word.renew(self.now)
        except (Killed, StateFileError):
            self.kill()
        self.kill_at = None

    @contextmanager
    def renewing(self):
        """Note which word goes on in which."""
        former, published = self.word.name, self.word.last
        self.over = former if self.word._start is not None else None
        yield
        if self.over and self.word.name != former:
            self.first[self.word.name] = self.first.get(former, former)
            assert self.word.last == published
        self.over = None

    @precondition(lambda self: self.tick_at is not None)
    @rule()
    def tick(self):
        """Fire the timer, in time or not."""
        try:
            self.tick_at = self.now + self.sampling.tick(self.now)
        except Killed:
            self.kill()

    @precondition(lambda self: self.state == 'unconfigured')
    @rule()
    def configure(self):
        former = self.word
        if self.place.state_file is None and self.chain is not self.begun_chain:
            self.begun_chain = None  # nothing has the word on the map before any more
        word = self.place.word(self.chain, former=former,
                               sampling=SamplingSettings(self.kind), how=self.how,
                               renew=self.renew)
        self.word, self.chain_in_use, self.state = word, self.chain, 'inactive'
        if self.sampling is None:
            self.sampling = {
                'message': lambda: EveryMessage(self.draw, drop_unknown=self.drop),
                'change': lambda: EveryChange(self.draw, drop_unknown=self.drop),
                'period': lambda: EveryPeriod(self.draw, period=PERIOD)}[self.kind]()

    @precondition(lambda self: self.state == 'inactive')
    @rule(kill_at=KILLS)
    def activate(self, kill_at):
        self.kill_at = kill_at
        try:
            with self.renewing():
                start = self.word.begin(self.now)
        except StateFileError:
            return
        except Killed:
            if kill_at == ('begin', 'after'):
                self.begun_chain = self.chain_in_use
            self.kill()
            return
        finally:
            self.kill_at = None
        self.renew_at = self.now + self.word.renew(self.now) if self.renew else None
        if start in (Start.NEW, Start.ANOTHER):
            assert self.chain_in_use is not self.begun_chain, 'a caller made a new word begin'
            self.begun_chain = self.chain_in_use
        first_tick = self.sampling.start(start, self.now, self.word.drawn_at)
        self.tick_at = None if first_tick is None else self.now + first_tick
        self.state = 'active'
        try:
            for message in self.latched if self.sampling.takes_latched else ():
                self.deliver(message)
        except Killed:
            self.kill()

    @precondition(lambda self: self.state == 'active')
    @rule()
    def deactivate(self):
        self.state, self.tick_at, self.renew_at = 'inactive', None, None

    @precondition(lambda self: self.state == 'inactive')
    @rule()
    def clean_up(self):
        self.state = 'unconfigured'
        self.word.close()

    @rule(how=st.sampled_from(['deactivate', 'clean up', 'restart']), kill_at=KILLS)
    def start_again(self, how, kill_at):
        """Do what a caller could do in a loop; then the node is active, if it can be."""
        if how == 'restart':
            self.kill()
        if self.state == 'active':
            self.deactivate()
        if self.state == 'inactive' and how == 'clean up':
            self.clean_up()
        if self.state == 'unconfigured':
            self.configure()
        if self.state == 'inactive':
            self.activate(kill_at)

    @rule()
    def restart(self):
        self.kill()

    @rule(full=st.booleans())
    def fill_disk(self, full):
        self.full = full

    @rule(chain=st.sampled_from([CHAIN, OTHER_CHAIN]))
    def change_map(self, chain):
        """Do what only the operator can do."""
        if chain is not self.chain:
            self.chain, self.allowed = chain, self.allowed + 1

    @invariant()
    def charges_are_right(self):
        if not hasattr(self, 'place') or not self.place.ledger_file:
            return
        charged = self.place.charges()
        over = (self.now - 10) // self.renew if self.renew else 0
        assert len(charged) <= self.allowed + over, 'a caller had a word charged'
        assert len(charged) == len(set(charged)), 'a word was charged twice'
        assert self.names <= set(charged), 'a word was not charged'

    @invariant()
    def what_is_published_is_feasible(self):
        assert all(chain.is_feasible(outputs) for chain, outputs in self.published.values())


Node.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None,
                                  print_blob=True, suppress_health_check=list(HealthCheck))
TestNode = Node.TestCase


@pytest.mark.thorough
class TestNodeLonger(Node.TestCase):
    settings = settings(Node.TestCase.settings, max_examples=200)
