# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Directories of archives, archives of several subjects, and the function of one batch."""
import errno
from fractions import Fraction
import os
import random
import shutil
import signal

from forked import forked
import numpy as np
import pytest
from symdp_ros import BudgetError, ConfigurationError, LogError, Privacy, SymdpError
from symdp_ros.core.accounting import rho_of
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.storage.entries import LedgerEntries

pa = pytest.importorskip('pyarrow', reason='archives need pyarrow')
pq = pytest.importorskip('pyarrow.parquet')

from symdp_ros.release.archives.batch import (  # noqa: E402, I100
    names_of, privatize_batch, ReleaseKey)
from symdp_ros.release.archives.parquet_file import Columns  # noqa: E402
from symdp_ros.words.stamps import OUT_OF_RANGE  # noqa: E402


def fleet(walks, count=30, days=('01', '02'), robots=('r1', 'r2', 'r3')):
    """Write a directory robot=…/day=…/part-0.parquet; return the words of each file."""
    found = {}
    for robot in robots:
        for day in days:
            name = f'robot={robot}/day={day}/part-0.parquet'
            path = walks.path / name
            path.parent.mkdir(parents=True)
            found[name] = walks.words(count, seed=name)
            walks.archive(found[name], path=path, group=70)
    return found


def lengths(routes):
    return [(name, len(word)) for name, word in routes]


def of_robots(walks, **more):
    return walks.settings(columns=Columns(subject='robot'), **more)


def spent(walks):
    with Ledger(walks.ledger) as ledger:
        assert ledger.problems() == []
        return {subject: ledger.spent(subject) for subject in ledger.subjects()}


def files_of(path):
    return {file.relative_to(path).as_posix(): file.read_bytes()
            for file in path.rglob('*') if file.is_file()}


def test_a_directory_is_released_with_its_partitions(walks):
    routes = fleet(walks)
    outcome = walks.release(of_robots(walks), subject='')
    assert outcome.kind == 'released', outcome.reason
    assert {name: lengths(walks.read(walks.output / name)) for name in routes} == {
        name: lengths(words) for name, words in routes.items()}
    assert set(files_of(walks.output)) == set(routes)
    assert all(walks.chain.is_feasible(word) for name in routes
               for _, word in walks.read(walks.output / name))
    assert spent(walks) == {'r1': 1, 'r2': 1, 'r3': 1}
    walks.check(charges=3)
    with Ledger(walks.ledger) as ledger:
        assert [entry.files for entry in ledger.charges()] == [1, 0, 0]
        assert [entry.loss.repeats for entry in ledger.charges()] == [60, 60, 60]
    again = walks.release(of_robots(walks), subject='')
    assert again.kind == 'already released' and again.files == (walks.output,)
    (next(walks.path.rglob('*.parquet'))).touch()
    assert walks.release(of_robots(walks), subject='').kind == 'already released'
    walks.archive(walks.words(3), path=next(walks.path.rglob('*.parquet')))
    outcome = walks.release(of_robots(walks), subject='', output=walks.base / 'out/b.parquet')
    assert outcome.kind == 'failed' and 'changed or rewritten' in outcome.reason
    assert spent(walks) == {'r1': 1, 'r2': 1, 'r3': 1}


def test_a_copy_for_which_there_is_no_room(walks, monkeypatch):
    """Of a directory, `shutil` collects the errors of all files into one without a text."""
    def full(*paths):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fleet(walks, 3)
    assert walks.release(of_robots(walks), subject='').kind == 'released'
    monkeypatch.setattr(shutil, 'copyfile', full)
    other = walks.base / 'out/b.parquet'
    outcome = walks.release(of_robots(walks), subject='', output=other)
    assert (outcome.kind, outcome.code) == ('failed', 'disk')
    assert outcome.reason == ('the release directory cannot be written: the disk is full, or '
                              'fails')
    assert not other.exists()


def test_each_file_is_drawn_by_itself(walks):
    """Equal routes in files of other names are drawn apart, and equal again with the same key."""
    for name in ('a', 'b'):
        path = walks.path / f'{name}.parquet'
        path.parent.mkdir(exist_ok=True)
        walks.archive([(i, 'abbcc') for i in range(40)], path=path)
    outputs = []
    for seed in (1, 1, 2):
        outputs.append(walks.output.with_name(f'{len(outputs)}.parquet'))
        assert walks.release(output=outputs[-1], ledger=False,
                             random=random.Random(seed)).kind == 'released'
    first, second, other = map(files_of, outputs)
    assert first == second and first != other and first['a.parquet'] != first['b.parquet']


@pytest.mark.parametrize('damage, said', [
    (lambda path: (path / 'a.csv').write_text('x'), 'it holds a.csv, which is no .parquet file'),
    (lambda path: (path / 'day=2').symlink_to(path / 'robot=r1'), 'day=2, which is a link'),
    (lambda path: (path / 'robot=r1/day=01/part-0.parquet').write_text('x'),
     'robot=r1/day=01/part-0.parquet: it is no Parquet file'),
    (lambda path: (path / 'robot=r1').rename(path / 'robot=__HIVE_DEFAULT_PARTITION__'),
     'names no subject'),
    (lambda path: (path / 'robot=r1').rename(path / 'cart=r1'), 'some of its files say whose'),
])
def test_directories_that_will_not_do(walks, damage, said):
    fleet(walks, 3)
    damage(walks.path)
    outcome = walks.release(of_robots(walks), subject='')
    assert outcome.kind == 'failed' and said in outcome.reason, outcome.reason
    assert spent(walks) == {} and walks.visible() == []


def test_what_is_hidden_in_a_directory_is_left_out(walks):
    routes = fleet(walks, 3)
    for name in ('_SUCCESS', '.crc', '_metadata'):
        (walks.path / name).write_text('x')
    assert walks.release(of_robots(walks), subject='').kind == 'released'
    assert set(files_of(walks.output)) == set(routes)


@pytest.mark.parametrize('change', ['another', 'rewritten'])
def test_a_directory_that_changes_while_it_is_read(walks, change):
    fleet(walks, 3)

    def on_rows(rows, total):
        name = 'z.parquet' if change == 'another' else 'robot=r1/day=01/part-0.parquet'
        walks.archive(walks.words(5), path=walks.path / 'robot=r1' / 'z.parquet'
                      if change == 'another' else walks.path / name)

    outcome = walks.release(of_robots(walks), subject='', on_rows=on_rows)
    assert outcome.kind == 'failed', outcome
    assert ('added' if change == 'another' else 'changed') in outcome.reason
    assert spent(walks) == {} and walks.visible() == []


def several(walks, **more):
    """Write one archive of three subjects; the ids of routes repeat."""
    names = ['r1'] * 3 + ['r2'] * 2 + ['r3']
    routes = [(i, 'abbcc'[:1 + i % 5]) for i in (0, 1, 2, 0, 1, 0)]
    walks.archive(routes, subject=[name for name, (_, word) in zip(names, routes) for _ in word],
                  **more)
    return [(name, i, len(word)) for name, (i, word) in zip(names, routes)]


def rows(path):
    table = pq.read_table(path)
    assert table.column_names == ['subject', 'route', 'position', 'symbol']
    return [(row['subject'], row['route'], row['position']) for row in table.to_pylist()]


def test_each_subject_is_charged_for_its_routes(walks):
    routes = several(walks, group=4)
    assert walks.release(subject='').kind == 'released'
    assert rows(walks.output) == [
        (name, route, i) for name, route, length in routes for i in range(length)]
    assert spent(walks) == {'r1': 1, 'r2': 1, 'r3': 1}
    settings = walks.settings(charge='route', privacy=Privacy(0.5))
    assert walks.release(settings, subject='', output=walks.base / 'out/b.parquet').kind \
        == 'released'
    assert spent(walks) == {'r1': 2.5, 'r2': 2, 'r3': 1.5}


def timed(walks, spans, path=None, type_=None, subjects=None):
    """Write routes with these first and last stamps, of subjects, if any."""
    routes = [(i, 'ab' + 'c' * (i % 3)) for i in range(len(spans))]
    stamps = [stamp for (first, last), (_, word) in zip(spans, routes)
              for stamp in np.linspace(first, last, len(word)).astype(np.int64).tolist()]
    more = {} if subjects is None else {
        'subject': [name for name, (_, word) in zip(subjects, routes) for _ in word]}
    walks.archive(routes, path=path, group=3, stamp=pa.array(stamps, type_ or pa.int64()), **more)


@pytest.mark.parametrize('spans, most', [
    ([(0, 9), (10, 19), (20, 29)], 1), ([(0, 9), (9, 19), (20, 29)], 2),
    ([(0, 29), (10, 12), (20, 29), (11, 21)], 3), ([(5, 5)] * 4, 4), ([(3, 1), (2, 2)], 2)])
@pytest.mark.parametrize('type_', [
    pa.timestamp('us', 'UTC'), *(pytest.param(type_, marks=pytest.mark.thorough)
                                 for type_ in (pa.int64(), pa.timestamp('ms')))])
def test_routes_that_overlap_in_time_are_charged_as_often(walks, spans, most, type_):
    """ε for each of the most routes that show one moment, as `charge: route` is for all."""
    walks.sizes = {'batch_rows': 2}
    timed(walks, spans, type_=type_)
    assert walks.release().kind == 'released'
    assert walks.spent() == most
    with Ledger(walks.ledger) as ledger:
        [entry] = ledger.charges()
        assert (entry.loss.routes, entry.loss.repeats) == (most, -(-len(spans) // most))
        assert entry.loss.rho(1) == most * rho_of(entry.loss.bound, Fraction(1), 1,
                                                  entry.loss.values)
    assert pq.read_schema(walks.output).names == ['route', 'position', 'symbol']


def test_overlaps_are_those_of_each_subject_in_all_files(walks):
    (walks.path).mkdir()
    timed(walks, [(0, 9), (5, 6), (20, 21)], walks.path / 'a.parquet',
          subjects=['r1', 'r2', 'r2'])
    timed(walks, [(8, 30), (9, 9), (0, 3)], walks.path / 'b.parquet',
          subjects=['r2', 'r1', 'r3'])
    assert walks.release(subject='').kind == 'released'
    assert spent(walks) == {'r1': 2, 'r2': 2, 'r3': 1}
    other = walks.base / 'out/route.parquet'
    assert walks.release(walks.settings(charge='route'), subject='', output=other).kind \
        == 'released'
    assert spent(walks) == {'r1': 4, 'r2': 5, 'r3': 2}


def test_most_routes_at_once_are_those_of_every_moment(walks):
    """Against counting at each end of a route, of many routes."""
    from symdp_ros.release.archives.dataset import routes_at_once

    rng = np.random.default_rng(5)
    spans = np.sort(rng.integers(0, 300, (400, 2)), axis=1)
    spans = np.column_stack([spans[:, 0], np.minimum(spans[:, 1], spans[:, 0] + 9),
                             rng.integers(0, 7, 400)])
    for subject, most in enumerate(routes_at_once(spans)):
        own = spans[spans[:, 2] == subject]
        assert most == max(((own[:, 0] <= t) & (t <= own[:, 1])).sum() for t in range(310)) > 1


@pytest.mark.parametrize('first, second, said', [
    (pa.int64(), pa.timestamp('s'), 'are integers, and of others times'),
    (pa.timestamp('s', 'UTC'), pa.timestamp('s'), 'are times, and of others times with a time')])
def test_stamps_of_two_kinds_are_refused(walks, first, second, said):
    """The same moments would not be seen to overlap."""
    walks.path.mkdir()
    timed(walks, [(0, 9)], walks.path / 'a.parquet', first)
    timed(walks, [(5, 6)], walks.path / 'b.parquet', second)
    outcome = walks.release()
    assert outcome.kind == 'failed' and said in outcome.reason and walks.spent() == 0
    timed(walks, [(5, 6)], walks.path / 'b.parquet', first)
    assert walks.release().kind == 'released' and walks.spent() == 2


def test_a_directory_and_a_column_that_name_two_subjects_are_refused(walks):
    path = walks.path / 'robot=r7' / 'part.parquet'
    path.parent.mkdir(parents=True)
    for whose in ('r8', 'r7'):
        walks.archive([(1, 'abb')], path=path, robot=[whose] * 3)
        outcome = walks.release(of_robots(walks), subject='')
        if whose == 'r8':
            assert outcome.kind == 'failed' and spent(walks) == {}
            assert "directory of 'r7', and its column 'robot' says 'r8'" in outcome.reason
    assert outcome.kind == 'released' and spent(walks) == {'r7': 1}


@pytest.mark.parametrize('name', ['robot=%FF', b'robot=\xff'])
def test_a_directory_whose_name_is_no_text_names_no_subject(walks, name):
    """Else %FF and %FE would be one subject."""
    path = walks.path / (name if isinstance(name, str) else os.fsdecode(name)) / 'part.parquet'
    path.parent.mkdir(parents=True)
    walks.archive([(1, 'abb')], path=walks.base / 'part.parquet')
    os.rename(walks.base / 'part.parquet', path)
    with pytest.raises(SymdpError):
        if (outcome := walks.release(of_robots(walks), subject='')).kind == 'failed':
            raise LogError(outcome.reason)
    assert spent(walks) == {}


@pytest.mark.parametrize('stamp, said', [
    (pa.array(['now'] * 6), 'holds neither times nor integers'),
    (pa.array([1, None, 1, 1, 1, 1]), 'a stamp is null'),
    (pa.array([1.5] * 6), 'of seconds with decimals, make nanoseconds'),
    (pa.array([2**63] * 6, pa.uint64()), OUT_OF_RANGE),
    *((pa.array([10413792000 * 10**digits] * 6, pa.timestamp(unit, zone)), OUT_OF_RANGE)
      for digits, unit in ((0, 's'), (3, 'ms'), (6, 'us')) for zone in (None, 'UTC'))])
def test_stamps_that_are_none(walks, stamp, said):
    walks.archive([(1, 'abb'), (2, 'abb')], stamp=stamp)
    outcome = walks.release()
    assert outcome.kind == 'failed' and said in outcome.reason
    timed(walks, [(0, 1), (1, 2)])
    assert walks.release(walks.settings(columns=Columns(stamp='when'))).kind == 'released'
    assert walks.spent() == 1


def test_all_subjects_are_charged_or_none(walks):
    several(walks)
    with Ledger(walks.ledger) as ledger:
        ledger.keep_budget('r2', 0.5)
    outcome = walks.release(subject='')
    assert outcome.kind == 'refused' and '1 of its 3 subjects' in outcome.reason
    assert 'r2 (' in outcome.reason and '--partial' in outcome.reason
    assert set(spent(walks).values()) == {0} and walks.visible() == []
    outcome = walks.release(subject='', partial=True)
    assert outcome.kind == 'released' and outcome.length == 7
    assert {name for name, _, _ in rows(walks.output)} == {'r1', 'r3'}
    assert spent(walks) == {'r1': 1, 'r2': 0, 'r3': 1}
    # The same again changes nothing, and is no error: what comes after it, as a copy, goes on.
    released, outcome = walks.output.read_bytes(), walks.release(subject='', partial=True)
    assert (outcome.kind, outcome.length) == ('already released', 7)
    assert walks.output.read_bytes() == released and spent(walks) == {'r1': 1, 'r2': 0, 'r3': 1}
    # With more budget the one that was left out is released, and nobody is charged again.
    with Ledger(walks.ledger) as ledger:
        ledger.set_budget('r2', 2)
    rest = walks.base / 'out/rest.parquet'
    outcome = walks.release(subject='', output=rest)
    assert outcome.kind == 'refused' and 'was charged for it before' in outcome.reason
    assert walks.release(subject='', output=rest, partial=True).kind == 'released'
    assert {name for name, _, _ in rows(rest)} == {'r2'}
    assert spent(walks) == {'r1': 1, 'r2': 1, 'r3': 1}
    outcome = walks.release(subject='', partial=True)
    assert outcome.kind == 'failed' and 'private.parquet, rest.parquet' in outcome.reason


def test_subjects_in_directories_can_be_left_out(walks):
    fleet(walks, 3)
    with Ledger(walks.ledger) as ledger:
        ledger.keep_budget('r1', 0.1)
    assert walks.release(of_robots(walks), subject='', partial=True).kind == 'released'
    assert {name.split('/')[0] for name in files_of(walks.output)} == {'robot=r2', 'robot=r3'}


def test_a_budget_that_is_given_is_that_of_each_subject(walks):
    several(walks)
    assert walks.release(subject='', subject_budget=1.5).kind == 'released'
    outcome = walks.release(walks.settings(privacy=Privacy(0.7)), subject='',
                            output=walks.base / 'out/b.parquet')
    assert outcome.kind == 'refused' and 'none of its 3 subjects' in outcome.reason


def test_whose_routes_they_are_must_be_clear(walks):
    several(walks)
    outcome = walks.release()
    assert outcome.kind == 'failed' and 'leave --subject out' in outcome.reason
    walks.archive(walks.words(3))
    outcome = walks.release(subject='')
    assert outcome.kind == 'failed' and '--subject-key' in outcome.reason
    assert walks.release(subject='', ledger=False).kind == 'released'
    assert spent(walks) == {}


def test_an_error_in_the_middle_of_many_charges_makes_none(walks, monkeypatch):
    several(walks)
    real = LedgerEntries.append

    def append(self, entry, subject='', **changes):
        if subject == 'r2':
            raise BudgetError('another process was faster')
        return real(self, entry, subject=subject, **changes)

    monkeypatch.setattr(LedgerEntries, 'append', append)
    assert walks.release(subject='').kind == 'refused'
    assert spent(walks) == {} and walks.visible() == []
    monkeypatch.undo()
    assert walks.release(subject='').kind == 'released'
    assert spent(walks) == {'r1': 1, 'r2': 1, 'r3': 1}


KILLED = """
import os, signal, sys
sys.path[:0] = 'test/release', 'test/logs'
from pathlib import Path
from conftest import ArchivePlace
import symdp_ros.release.archives.archive
from symdp_ros.release import outbox
from symdp_ros.release.archives.parquet_file import Columns, parquet
from symdp_ros.release.session import ReleaseSession
parquet()
def kill(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)
def run(base, where):
    walks = ArchivePlace(Path(base))
    if where == 'charge':
        ReleaseSession._charge = kill
    elif where == 'publish':
        ReleaseSession._publish = kill
    elif where == 'moved':
        real = outbox.move
        outbox.move = lambda *paths: (real(*paths), kill())
    walks.release(walks.settings(columns=Columns(subject='robot')), subject='',
                  on_rows=kill if where == 'draw' else lambda *rows: None)
"""


@pytest.fixture(scope='module')
def child():
    with forked(KILLED) as run:
        yield run


@pytest.mark.parametrize('where, is_charged', [
    ('draw', False), ('charge', False), ('publish', True), ('moved', True)])
def test_killed_anywhere_it_ends_with_one_release_and_one_charge_each(
        walks, child, where, is_charged):
    routes = fleet(walks, 5)
    assert child(walks.base, where)[0] == -signal.SIGKILL
    assert spent(walks) == (dict.fromkeys(('r1', 'r2', 'r3'), 1) if is_charged else {})
    outcome = walks.release(of_robots(walks), subject='')
    assert outcome.kind == ('already released' if is_charged else 'released'), outcome.reason
    assert set(files_of(walks.output)) == set(routes)
    assert spent(walks) == {'r1': 1, 'r2': 1, 'r3': 1}
    walks.check(charges=3)


def batch_of(routes, **more):
    return pa.record_batch({
        'route': [name for name, word in routes for _ in word],
        'position': [i for _, word in routes for i in range(len(word))],
        'symbol': pa.array([s for _, word in routes for s in word], pa.string()), **more})


@pytest.fixture
def key(walks):
    return ReleaseKey.new(walks.settings(policy='guided'), walks.base / 'key')


def test_a_batch_is_privatized_by_a_pure_function(walks, key):
    routes = [(f'route {i}', word) for i, word in walks.words(60)]
    whole = privatize_batch(batch_of(routes), key)
    assert whole.schema.names == ['route', 'position', 'symbol']
    assert whole['route'].to_pylist() == batch_of(routes)['route'].to_pylist()
    assert whole.equals(privatize_batch(batch_of(routes, cause=['secret'] * len(whole)), key))
    parts = [privatize_batch(batch_of(routes[i:i + 7]), key).to_pylist()
             for i in range(0, 60, 7)]
    assert sum(parts, []) == whole.to_pylist()
    backwards = [privatize_batch(batch_of([route]), key).to_pylist() for route in routes[::-1]]
    assert sum(backwards[::-1], []) == whole.to_pylist()
    assert not privatize_batch(batch_of(routes), key, file='other').equals(whole)
    empty = privatize_batch(batch_of(routes).slice(0, 0), key)
    assert isinstance(empty, pa.RecordBatch) and len(empty) == 0 and empty.schema == whole.schema
    table = pa.Table.from_batches([batch_of(routes[:20]), batch_of(routes[20:])])
    assert privatize_batch(table, key).equals(pa.Table.from_batches([whole]))
    empty = privatize_batch(table.slice(0, 0), key)
    assert isinstance(empty, pa.Table) and len(empty) == 0 and empty.schema == whole.schema
    views = batch_of(routes).set_column(2, 'symbol', batch_of(routes)['symbol'].cast(
        pa.string_view()))
    assert privatize_batch(views, key).equals(whole)
    words = {}
    for row in whole.to_pylist():
        words.setdefault(row['route'], []).append(row['symbol'])
    assert all(map(walks.chain.is_feasible, words.values()))


@pytest.mark.parametrize('routes, start, said', [
    ([('a', 'ab'), ('b', 'a'), ('a', 'b')], 0, 'two of its routes have the same id'),
    ([('a', 'ab')], 1, 'a route begins there, and not with position 1'),
])
def test_batches_that_will_not_do(key, routes, start, said):
    with pytest.raises(LogError) as error:
        privatize_batch(batch_of(routes), key, start=start)
    assert said in str(error.value)


def test_a_route_that_is_cut_is_refused(key):
    batch = batch_of([('a', 'abbcc'), ('b', 'ab')])
    for cut in (1, 3):
        privatize_batch(batch.slice(0, cut), key)  # nobody can see that more was to come
        with pytest.raises(LogError, match='row 0'):
            privatize_batch(batch.slice(cut), key)


def test_names_are_all_different(walks):
    """Of ids that are near one another, of any type, with and without subjects."""
    texts = ['', 'a', 'a\0', '\0a', 'aa', 'a' * 11, 'a' * 12, 'a' * 16, 'a' * 1000, 'é']
    pairs = [(one, two) for one in texts for two in texts]
    keys = pa.record_batch({'subject': [one for one, _ in pairs],
                            'route': [two for _, two in pairs]})
    for batch in (keys, pa.record_batch({'route': texts}),
                  pa.record_batch({'route': np.arange(70_000) - 35_000}),
                  pa.record_batch({'route': np.arange(300, dtype=np.uint16)})):
        names = names_of(batch, b'k' * 32)
        assert names.shape == (len(batch), 12)
        assert len(np.unique(names, axis=0)) == len(batch)
        some = np.random.default_rng(1).permutation(len(batch))[:50]
        assert (names_of(batch.take(pa.array(some)), b'k' * 32) == names[some]).all()
        assert (names_of(batch, b'l' * 32) != names).any()


@pytest.mark.parametrize('values', [
    pa.array(['night', None, 'day', 'day', 'night', 'dusk']),
    pa.array(['night', None, 'day', 'day', 'night', 'dusk']).dictionary_encode(),
    pa.array([1.5, None, 2, 3, 4, 5]), pa.array([1, 2, 3, 4, 5, None], pa.uint8()),
    pa.array([1, 2, 3, 4, 5, None], pa.timestamp('ms', 'UTC')), pa.array([True, None] * 3)])
def test_columns_that_are_named_are_kept(walks, values):
    """As they are, row by row, through chunks that end elsewhere than row groups."""
    walks.sizes = {'chunk_rows': 2, 'batch_rows': 4}
    walks.archive([(1, 'abb'), (2, 'ab'), (3, 'a')], shift=values, other=[1] * 6, group=4)
    settings = walks.settings(columns=Columns(keep=('shift',)), policy='guided')
    assert walks.release(settings).kind == 'released'
    found = pq.read_table(walks.output)
    assert found.column_names == ['route', 'position', 'symbol', 'shift']
    assert found.column('shift').to_pylist() == values.to_pylist()
    release = ReleaseKey.new(settings, walks.base / 'key', random.Random(1))
    batch = pq.read_table(walks.path).combine_chunks().to_batches()[0]
    assert privatize_batch(batch, release).column('shift').to_pylist() == values.to_pylist()


def test_of_subjects_that_are_left_out_nothing_is_kept(walks):
    """Not a row, and no value in a dictionary."""
    routes = several(walks, group=2)
    names = [name for name, _, length in routes for _ in range(length)]
    walks.archive([(i, 'abbcc'[:1 + i % 5]) for i in (0, 1, 2, 0, 1, 0)], subject=names, group=2,
                  nick=pa.array([f'nick of {name}' for name in names]).dictionary_encode())
    with Ledger(walks.ledger) as ledger:
        ledger.keep_budget('r2', 0.5)
    outcome = walks.release(walks.settings(columns=Columns(keep=('nick',))), subject='',
                            partial=True)
    assert outcome.kind == 'released', outcome.reason
    found = pq.read_table(walks.output)
    assert found.column('nick').to_pylist() == [f'nick of {name}' for name in found.column(
        'subject').to_pylist()]
    assert b'nick of r1' in walks.output.read_bytes()
    assert b'nick of r2' not in walks.output.read_bytes()


@pytest.mark.parametrize('name, values', [
    ('missing', None), ('shift', pa.array([[1]] * 3)), ('shift', pa.array([b'x'] * 3))])
def test_columns_that_cannot_be_kept(walks, name, values):
    walks.archive([(1, 'abb')], **({} if values is None else {name: values}))
    outcome = walks.release(walks.settings(columns=Columns(keep=(name,))))
    assert outcome.kind == 'failed' and name in outcome.reason
    assert walks.spent() == 0


@pytest.mark.parametrize('keep', [('symbol',), ('stamp',), ('a', 'a')])
def test_columns_that_may_not_be_kept(keep):
    with pytest.raises(ConfigurationError) as caught:
        Columns(keep=keep)
    assert caught.value.setting == 'keep'
