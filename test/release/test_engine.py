# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Releasing logs: what becomes visible, what is charged, whatever happens in between."""
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
import errno
from fractions import Fraction
import os
import random
import re
import sqlite3

from forked import forked, KILL_AT
import pytest
from refusals import refused
from release_settings import release_settings
from symdp_ros import BudgetError, Chain, ConfigurationError, Privacy
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import read_log
from symdp_ros.release import draft, outbox, session
from symdp_ros.release.draft import NOISE
from symdp_ros.release.outbox import digest_of
from symdp_ros.release.session import Releaser

CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
WORD = 'abbccaabbcca'


def settings(**more):
    return release_settings(**{'chain': CHAIN, 'privacy': Privacy(1.0), **more})


@pytest.mark.parametrize('mechanism, form', [
    ('exponential', 'csv'), ('exponential', 'jsonl'), ('causal', 'sqlite3'), ('causal', 'mcap')])
def test_a_log_is_released(place, mechanism, form):
    place.log()
    report = place.release(settings(mechanism=mechanism, format=form))
    [outcome] = report.outcomes
    assert (outcome.kind, outcome.length, outcome.log_id) == ('released', 12, 'day.csv')
    assert report.ok and place.spent() == 1
    read = read_log(outcome.files[0], topic='private_region')
    assert [stamp for stamp, _ in read] == [i * 10**9 for i in range(12)]
    assert CHAIN.is_feasible([symbol for _, symbol in read])
    assert outcome.files[0].stat().st_mtime == 0
    place.check()


def test_again_costs_nothing_and_changes_nothing(place):
    place.log('one.csv')
    place.log('two.csv', 'abc')
    place.release()
    before = {path: (path.stat().st_ino, digest_of(path)) for path in place.releases.iterdir()}
    report = place.release()
    assert [outcome.kind for outcome in report.outcomes] == ['already released'] * 2
    assert str(report).startswith('0 released, 2 already released, 0 refused')
    assert before == {path: (path.stat().st_ino, digest_of(path))
                      for path in place.releases.iterdir()}
    assert place.spent() == 2


def test_other_settings_are_other_releases(place):
    place.log()
    variants = [settings(), settings(privacy=Privacy(0.5)), settings(privacy=Privacy(1.0, 2)),
                settings(mechanism='causal'), settings(mechanism='causal', policy='paper'),
                settings(chain=Chain({s: list('abc') for s in 'abc'}, 'a'))]
    other_symbols = [settings(sampling='change'), settings(sampling='period', period=2.0)]
    assert len({variant.digest() for variant in variants + other_symbols}) == 8
    for variant in variants:
        assert place.release(variant).ok
    assert place.spent() == 5 and len(place.visible()) == len(variants)
    for variant in other_symbols:  # a symbol of another sampling is another unit
        [outcome] = place.release(variant).outcomes
        assert outcome.kind == 'refused' and 'cannot be added' in outcome.reason
    # How it looks is not part of what it is.
    assert place.release(settings(format='jsonl', keep_names=True)).outcomes[0].kind == \
        'already released'


def test_a_changed_log_is_refused(place):
    place.log()
    place.release()
    place.log(word='ccc' + WORD[3:])
    report = place.release(for_operator=True)
    assert report.outcomes[0].kind == 'failed'
    assert report.outcomes[0].reason == (
        'its content has changed since it was released: give the new log another name; its '
        'release is then another one')
    assert place.spent() == 1 and len(place.visible()) == 1


def test_whether_a_log_has_changed_is_told_to_nobody_but_its_operator(place, monkeypatch):
    """
    Whoever may write a log that was released, and not read it, tries guesses.

    All that is seen afterwards is the same, and the log is not even read: nor does time tell it.
    """
    def seen():
        """Return the report, and name, content, size and times of all that is in the release."""
        report = place.release()
        return str(report), report.outcomes, [
            (path.name, path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(place.releases.glob('*.csv'))], place.spent()

    place.log()
    place.release()
    monkeypatch.setattr(draft.LogDraft, 'read', None)
    before = seen()
    assert before[1][0].kind == 'already released' and before[1][0].length == len(WORD)
    for guess in (WORD, 'ccc' + WORD[3:], 'a', 'x' * 1000):
        place.log(word=guess)
        assert seen() == before
    (place.logs / 'day.csv').write_text('no log at all')
    assert seen() == before
    place.check()


def test_budgets(place):
    for name in ('a.csv', 'b.csv', 'c.csv'):
        place.log(name)
    report = place.release(subject_budget=2.0)
    assert [outcome.kind for outcome in report.outcomes] == ['released', 'released', 'refused']
    assert 'subject_budget' in report.outcomes[2].reason and not report.ok
    assert not place.release().ok  # the ledger remembers it
    with refused(BudgetError, subject='r1', limit=2):
        place.release(subject_budget=3.0)
    with Ledger(place.ledger) as ledger:
        ledger.set_budget('r1', Fraction(3))
    report = place.release(settings(privacy=Privacy(0.5)), budget=1.2)
    assert [outcome.kind for outcome in report.outcomes] == ['refused', 'refused', 'released']
    assert report.outcomes[0].reason == (
        'released before under other settings: epsilon 1 → 0.5; this costs 0.5 more, and 0.2 is '
        "left: the budget of the log 'a.csv' is 1.2")
    assert place.spent() == 2.5
    place.check()


def test_names(place):
    place.log('night shift.csv')
    place.log('tour.csv', 'abc')
    place.release()
    assert place.visible() == ['000001.private.csv', '000002.private.csv']
    place.release(settings(privacy=Privacy(2.0), keep_names=True))
    assert place.visible()[2:] == ['night shift.private.csv', 'tour.private.csv']
    place.release(settings(privacy=Privacy(3.0), keep_names=True))
    assert len(place.visible()) == 6  # another release of the same log: a name of its own
    place.check()


def test_split_logs_are_one_charge_and_many_files(place):
    place.log(word=['a', 'b', 'none', 'none', 'c', 'x', 'b'])
    report = place.release(settings(unknown_symbol='split'))
    assert [path.name for path in report.outcomes[0].files] == [
        f'000001-part{i}.private.csv' for i in (1, 2, 3)]
    assert place.spent() == 1
    place.check()


@pytest.mark.parametrize('content, said', [
    ('', 'header'), ('stamp,symbol\n', 'no symbols'), ('stamp,symbol\n0,a', 'no line end'),
    ('stamp,symbol\nx,a\n', 'line 2'), ('time,place\n0,a\n', 'header')])
def test_a_bad_log_costs_nothing_and_spares_the_others(place, content, said):
    (place.logs / 'bad.csv').write_text(content)
    place.log('good.csv')
    report = place.release()
    assert [outcome.kind for outcome in report.outcomes] == ['failed', 'released']
    assert said in report.outcomes[0].place_and_reason
    assert not re.search(r'line \d', str(report)), 'that may be where a symbol is'
    assert place.spent() == 1
    place.check()


def test_logs_still_being_recorded_are_skipped(place):
    (place.logs / 'live').mkdir()
    (place.logs / 'live' / 'live_0.mcap').write_bytes(b'\x89MCAP0\r\n')
    report = place.release()
    assert report.ok and report.outcomes == () and '1 still being recorded' in str(report)


def test_it_stops_between_transactions(place, monkeypatch):
    monkeypatch.setattr(session, '_MOST_LOGS', 1)
    for name in ('a.csv', 'b.csv', 'c.csv'):
        place.log(name)
    told = []
    with Ledger(place.ledger) as ledger, Releaser(settings(), place.releases, ledger=ledger,
                                                  subject='r1') as releaser:
        report = releaser.release_directory(place.logs, stop=lambda: len(told) == 2,
                                            on_outcome=told.append)
    assert report.stopped and not report.ok and len(report.outcomes) == 2
    place.check()
    assert [outcome.kind for outcome in place.release().outcomes] == [
        'already released', 'already released', 'released']


def test_a_full_disk_costs_nothing(place, monkeypatch):
    place.log('a.csv')
    real = os.fsync

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Ledger(place.ledger) as ledger, Releaser(settings(), place.releases, ledger=ledger,
                                                  subject='r1') as releaser:
        monkeypatch.setattr(os, 'fsync', full)
        report = releaser.release_directory(place.logs)
    assert report.outcomes[0].kind == 'failed'
    assert 'No space left on device' in report.outcomes[0].reason
    monkeypatch.setattr(os, 'fsync', real)
    assert place.spent() == 0 and place.visible() == []
    assert place.release().ok
    place.check()


@pytest.mark.parametrize('error', [KeyboardInterrupt, OSError])
def test_what_is_charged_and_cannot_be_moved_is_moved_at_the_next_start(place, monkeypatch, error):
    place.log()
    real = outbox.move

    def fails(source, target):
        raise error

    monkeypatch.setattr(outbox, 'move', fails)
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            place.release()
    else:
        assert place.release().outcomes[0].kind == 'failed'
    assert place.spent() == 1 and place.visible() == []
    monkeypatch.setattr(outbox, 'move', real)
    assert place.release().outcomes[0].kind == 'already released'
    assert place.spent() == 1 and len(place.visible()) == 1
    place.check()


def test_what_is_lost_before_it_was_seen_is_made_again_once(place, monkeypatch):
    place.log()
    monkeypatch.setattr(outbox, 'move', lambda source, target: source.unlink() or 1 / 0)
    assert place.release().outcomes[0].reason.startswith('an error of type ZeroDivisionError')
    monkeypatch.undo()
    foreign = place.releases / '000001.private.csv'
    foreign.write_text('not a release')
    for _ in range(3):
        assert place.release().outcomes[0].kind == 'already released'
    assert foreign.read_text() == 'not a release'
    assert len(place.visible()) == 2 and place.spent() == 1
    foreign.unlink()
    place.check()


def test_a_dangling_link_is_not_written_through(place, tmp_path):
    (place.releases / '000001.private.csv').symlink_to(tmp_path / 'elsewhere')
    place.log()
    assert place.release().ok and not (tmp_path / 'elsewhere').exists()


def test_a_stop_that_comes_while_a_log_is_prepared_spends_nothing(place):
    place.log()
    asked = []
    with Ledger(place.ledger) as ledger, Releaser(settings(), place.releases, ledger=ledger,
                                                  subject='r1') as releaser:
        report = releaser.release_directory(
            place.logs, stop=lambda: asked.append(1) or len(asked) > 1)
    assert report.stopped and place.spent() == 0 and place.visible() == []


def test_numbers_do_not_tell_of_other_subjects(place):
    with Ledger(place.ledger) as ledger:
        for _ in range(5):
            ledger.charge('r2', settings().loss(), settings='live', description='{}')
    place.log()
    place.release()
    assert place.visible() == ['000001.private.csv']


def test_a_damaged_ledger_is_not_charged(place):
    place.log('a.csv')
    place.release()
    with sqlite3.connect(place.ledger) as db:
        db.execute("UPDATE charges SET packed = x'00'")
    db.close()
    place.log('b.csv')
    report = place.release()
    assert [outcome.kind for outcome in report.outcomes] == ['already released', 'failed']
    assert '--recover' in report.outcomes[1].reason and len(place.visible()) == 1


def test_directories_that_will_not_do(place, tmp_path):
    with pytest.raises(ConfigurationError, match='cannot be used: No such file'):
        Releaser(settings(), tmp_path / 'nowhere')
    with pytest.raises(ConfigurationError, match='cannot be used: Not a directory'):
        Releaser(settings(), place.log().path)
    inside = place.releases / 'deep'
    inside.mkdir()
    with Ledger(inside / 'a.ledger') as ledger, refused(
            ConfigurationError, f'inside the release directory {place.releases}:',
            setting='ledger_file'):
        Releaser(settings(), place.releases, ledger=ledger, subject='r1')


def test_staying_is_needed_for_period(place):
    chain = Chain({'a': ['b'], 'b': ['a']}, 'a')
    with refused(ConfigurationError, setting='self_loops'):
        Releaser(settings(chain=chain, sampling='period'), place.releases)


def test_no_file_of_others_is_overwritten(place):
    other = place.releases / '000001.private.csv'
    other.write_text('somebody wrote this')
    place.log()
    report = place.release()
    assert report.ok and other.read_text() == 'somebody wrote this'
    assert report.outcomes[0].files[0].exists() and report.outcomes[0].files[0] != other


def test_the_command_line_hands_out_again(place, tmp_path):
    place.log()
    place.release()
    [first] = [place.releases / name for name in place.visible()]
    content = first.read_text()
    first.unlink()
    assert place.release().ok and place.visible() == []  # the node leaves moved files alone
    place.release(rewrite_missing=True)
    assert [(place.releases / name).read_text() for name in place.visible()] == [content]
    assert place.spent() == 1


def test_without_a_ledger(place):
    log = place.log()
    for i in range(3):
        with Releaser(settings(), place.releases) as releaser:
            assert releaser.release(log).kind == 'released'
    assert place.visible() == [f'00000{i}.private.csv' for i in (1, 2, 3)]
    assert not list(place.releases.glob('.staging*'))


def test_two_processes_never_release_a_log_twice(place, child):
    for i in range(12):
        place.log(f'{i}.csv')
    with ThreadPoolExecutor() as pool:
        end = pool.submit(child, place.base, -1, 'csv')
        place.release(settings(mechanism='causal'), wait=100.0)
        assert end.result()[0] == 0
    assert place.spent() == 12 and len(place.visible()) == 12
    place.check()


CHILD = KILL_AT + """
import tempfile
from pathlib import Path
sys.path[:0] = 'test/release', 'test/core', 'test/logs'
import symdp_ros.core.offline.exponential
from conftest import LogPlace
from test_engine import settings
def run(base, moment, form):
    place = LogPlace(Path(base))
    return kill_at(moment, lambda: place.release(
        settings(mechanism='causal', format=form), wait=100.0, rewrite_missing=True),
        'release', 'logs', 'ledger')
for form in 'csv', 'sqlite3':  # imports and loads what every run needs
    with tempfile.TemporaryDirectory() as folder:
        LogPlace(Path(folder)).log()
        run(folder, -1, form)
"""


@pytest.fixture(scope='module')
def child():
    with forked(CHILD) as run:
        yield run


@pytest.mark.parametrize('form', ['csv', 'sqlite3'])
def test_after_a_kill_at_any_moment_nothing_is_lost_and_nothing_is_free(place, child, form):
    seed = int(os.environ.get('SYMDP_TEST_SEED') or random.SystemRandom().randrange(2**32))
    print(f'SYMDP_TEST_SEED={seed}')
    chance = random.Random(seed)
    place.log('a.csv')
    place.log('b.csv', 'abcabc')

    status, left = child(place.base, 10**9, form)
    calls = 10**9 - int(left)
    assert status == 0 and calls > 100
    killed = 0
    # How many calls there are differs a little from run to run. In the last third of them, what is
    # drawn is charged and moved.
    moments = [*chance.sample(range(1, calls - 20), 7),
               *chance.sample(range(calls * 2 // 3, calls - 20), 7), calls - 2]
    for moment in sorted(moments):
        killed += place.killed(child, moment, form)
        assert place.release(settings(mechanism='causal', format=form)).ok
        assert place.spent() == 2 and len(place.visible()) == 2
        place.check()
    assert killed >= 14


def test_a_log_of_which_nothing_is_known_is_refused_where_the_operator_alone_sees_it(place):
    place.log('numbers.csv', '12345')
    place.log('fine.csv', 'x5a')
    report = place.release(allow_unknown=1, for_operator=True)
    assert [outcome.kind for outcome in report.outcomes] == ['released', 'refused']
    assert 'none of its symbols names a state' in report.outcomes[1].reason
    assert '--symbol-map' in report.outcomes[1].reason and place.spent() == 1
    place.check()
    # Elsewhere nothing may be said that depends on what a log contains.
    assert place.release().ok and place.spent() == 2
    # What was released before is handed out.
    assert place.release(allow_unknown=0).ok and place.spent() == 2


def test_it_is_refused_without_a_ledger_too(place):
    log = place.log(word='12345')
    with Releaser(settings(), place.releases, allow_unknown=0.05) as releaser:
        assert releaser.release(log).kind == 'refused'
    assert place.visible() == []


def test_a_refusal_for_the_unknown_tells_others_one_bit(place):
    """The same sentence, whatever is unknown; exactly the share is allowed, not one more."""
    place.log('all.csv', '123456')
    place.log('half.csv', '123abc')
    place.log('more.csv', '1234bc')
    place.log('silent.csv', ['none'] * 6)
    place.log('still.csv', 'bbbbbb')  # whether a robot stands still is not looked at
    moving = Chain({state: set('abc') - {state} for state in 'abc'}, 'a')
    outcomes = place.release(settings(chain=moving), allow_unknown=0.5).outcomes
    assert [outcome.kind for outcome in outcomes] == [
        'refused', 'released', 'refused', 'refused', 'released']
    refused = [outcome for outcome in outcomes if outcome.kind == 'refused']
    assert {outcome.code for outcome in refused} == {NOISE}
    [reason] = {outcome.reason for outcome in refused}
    assert not any(name in reason for name in ("'1'", "'none'", '%'))
    assert place.spent() == 2


def test_logs_are_charged_together_and_each_has_its_own_outcome(place, monkeypatch):
    flushed, real = [], os.fsync
    monkeypatch.setattr(os, 'fsync', lambda file: flushed.append(file) or real(file))
    for name in [f'{i:02}.csv' for i in range(20)]:
        place.log(name)
    (place.logs / '05.csv').write_text('stamp,symbol\nx,a\n')
    report = place.release(subject_budget=15.0)
    assert [outcome.kind for outcome in report.outcomes] == [
        'released'] * 5 + ['failed'] + ['released'] * 10 + ['refused'] * 4
    assert [outcome.log_id for outcome in report.outcomes] == [f'{i:02}.csv' for i in range(20)]
    # Each file, the mark of each transaction, and directories: not three or four for each log.
    assert 19 < len(flushed) < 30
    assert place.visible() == [f'{i:06}.private.csv' for i in range(1, 16)]
    place.check()
    with Ledger(place.ledger) as ledger:
        words = {charge.log_id: charge.words for charge in ledger.charges()}
        for each in report.outcomes[:5]:
            [path] = each.files
            assert words[each.log_id] == (tuple(symbol for _, symbol in read_log(path)),)


@pytest.mark.parametrize('with_ledger', [True, False])
def test_one_log_that_cannot_be_made_durable_costs_the_others_nothing(place, monkeypatch,
                                                                      with_ledger):
    for name in ('a.csv', 'b.csv', 'c.csv'):
        place.log(name)
    made, real = [], draft.make_durable

    def fails(path):
        made.append(path)
        if len(made) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(path)

    monkeypatch.setattr(draft, 'make_durable', fails)
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(place.ledger)) if with_ledger else None
        releaser = stack.enter_context(Releaser(settings(), place.releases, ledger=ledger,
                                                subject='r1'))
        report = releaser.release_directory(place.logs)
    assert [outcome.kind for outcome in report.outcomes] == ['released', 'failed', 'released']
    assert 'Input/output error' in report.outcomes[1].reason and len(place.visible()) == 2
    if with_ledger:
        assert place.spent() == 2
        place.check()


def test_a_second_folder_of_the_same_ledger_has_numbers_of_its_own(place, tmp_path):
    place.log('a.csv')
    place.release()
    other = tmp_path / 'other'
    other.mkdir()
    place.log('b.csv')
    place.log('c.csv')
    (other / '000002.private.csv').write_text('not a release')
    with Ledger(place.ledger) as ledger, Releaser(settings(), other, ledger=ledger,
                                                  subject='r1') as releaser:
        releaser.release_directory(place.logs)
    assert sorted(path.name for path in other.iterdir() if path.name[0] != '.') == [
        f'00000{i}.private.csv' for i in (1, 2, 3)]
