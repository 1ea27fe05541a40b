# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Archives: what is read, what is written, what is charged, whatever happens in between."""
from fractions import Fraction
import json
import os
from pathlib import Path
import random
import resource
import shutil
import signal
import tracemalloc

from forked import forked, KILL_AT
import numpy as np
import pytest
from refusals import refused
from symdp_ros import Chain, ConfigurationError, Privacy
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.ledger.ledger import Ledger

pa = pytest.importorskip('pyarrow', reason='archives need pyarrow')
pq = pytest.importorskip('pyarrow.parquet')

from symdp_ros.release import mechanisms, outbox  # noqa: E402, I100
from symdp_ros.release.archives import archive, dataset, parquet_file  # noqa: E402
from symdp_ros.release.archives.parquet_file import Archive, Columns  # noqa: E402

WALKS = [('r1', 'abbcc'), ('r2', 'a'), ('r3', 'xyzab'), ('r4', 'ccaab')]


def lengths(routes):
    return [(name, len(word)) for name, word in routes]


@pytest.mark.parametrize('mechanism', [
    'causal', 'auto', pytest.param('exponential', marks=pytest.mark.thorough)])
def test_an_archive_is_released(walks, mechanism):
    routes = walks.words(500)
    log = walks.archive(routes, group=301)
    outcome = walks.release(walks.settings(mechanism=mechanism))
    assert (outcome.kind, outcome.log_id) == ('released', log.id), outcome.reason
    assert outcome.files == (walks.output,)
    assert outcome.length == sum(n for _, n in lengths(routes))
    released = walks.read()
    assert lengths(released) == lengths(routes)
    assert all(walks.chain.is_feasible(word) for _, word in released)
    assert walks.output.stat().st_mtime == 0 and walks.spent() == 1
    walks.check()


def columns(routes, kind):
    """Return ids, words as a column, and a symbol map, all of one meaning."""
    names = [name for name, _ in routes]
    flat = [s if s in 'abc' else None for _, word in routes for s in word]
    if kind == 'strings':
        return names, pa.array(flat), ()
    if kind == 'large strings':
        return names, pa.array(flat, pa.large_string()), ()
    if kind == 'dictionary':
        return names, pa.array(flat).dictionary_encode(), ()
    if kind == 'no region':
        return names, pa.array([s or 'none' for s in flat]), ()
    if kind == 'integers':
        numbers = [None if s is None else 'abc'.index(s) + 7 for s in flat]
        return [int(n[1:]) for n in names], pa.array(numbers, pa.int16()), ('7=a', '8=b', '9=c')
    booleans = [None if s is None else s == 'b' for s in flat]
    return names, pa.array(booleans), ('true=b', 'false=a')


@pytest.mark.parametrize('kind', ['strings', 'large strings', 'dictionary', 'no region',
                                  'integers', 'booleans'])
@pytest.mark.parametrize('start', [1, pytest.param(0, marks=pytest.mark.thorough)])
def test_what_columns_may_hold(walks, kind, start):
    """At ε = 10⁶ a feasible word is released as it is."""
    routes = [('r1', 'abb'), ('r2', 'a'), ('r3', 'aab'), ('r4', 'xbb')] * 3
    if kind == 'booleans':
        routes = [('r1', 'abb'), ('r2', 'a'), ('r3', 'aab')]
    names, column, symbol_map = columns(routes, kind)
    log = walks.archive([(n, w) for n, (_, w) in zip(names, routes)], symbols=column, start=start,
                        group=5)
    walks.sizes = {'batch_rows': 2}
    settings = walks.settings(privacy=Privacy(1e6), symbol_map=symbol_map)
    assert walks.release(settings).kind == 'released'
    table = pq.read_table(walks.output)
    before = pq.read_table(log.path)
    # Of a string that is read as a dictionary no more than that is changed.
    value = table['route'].type.value_type if kind != 'integers' else table['route'].type
    assert table['route'].cast(value).to_pylist() == before['route'].to_pylist()
    assert table['position'].equals(before['position'])
    for (_, word), (_, released) in zip(routes, walks.read()):
        if 'x' not in word:
            assert ''.join(released) == word
    assert pq.ParquetFile(walks.output).schema_arrow.field('symbol').type == pa.dictionary(
        pa.int32(), pa.string())


@pytest.mark.parametrize('type_', [pa.int8(), pa.uint8(), pa.uint64(), pa.int64()])
def test_types_of_routes_and_positions_are_kept(walks, type_):
    walks.archive([(1, 'ab'), (2, 'abc'), (1, 'b')])
    table = pq.read_table(walks.path)
    pq.write_table(pa.table({name: table[name].cast(type_) if name != 'symbol' else table[name]
                             for name in table.column_names}), walks.path)
    assert walks.release().kind == 'released'
    released = pq.read_table(walks.output)
    assert released['route'].type == released['position'].type == type_
    assert lengths(walks.read()) == [(1, 2), (2, 3), (1, 1)]


def test_nothing_else_of_the_archive_is_in_the_release(walks):
    rows = sum(n for _, n in lengths(WALKS))
    walks.archive(WALKS, metadata={'secret-key': 'secret-value', 'pandas': '{}'},
                  cause=['secret-cause'] * rows, late=list(range(rows)))
    assert walks.release().kind == 'released'
    content = walks.output.read_bytes()
    assert b'secret' not in content and b'late' not in content and b'pandas' not in content
    for value in (b'x', b'xyz'):  # unknown symbols; all states of the chain are there instead
        assert value not in pq.read_table(walks.output)['symbol'].chunk(0).dictionary.to_pylist()
    assert pq.read_table(walks.output)['symbol'].chunk(0).dictionary.to_pylist() == ['a', 'b', 'c']
    group = pq.ParquetFile(walks.output).metadata.row_group(0)
    assert [group.column(i).is_stats_set for i in range(3)] == [True, True, False]
    metadata = pq.ParquetFile(walks.output).metadata.metadata
    assert set(metadata) == {b'ARROW:schema', b'symdp_ros'}
    record = json.loads(metadata[b'symdp_ros'])
    described = walks.settings().described()
    for name in walks.settings().input.described_names():  # values of logs are in the digest alone
        del described[name]
    assert {name: record[name] for name in described} == described
    assert {name: record[name] for name in record if name not in described} == {
        'program': 'symdp_ros', 'settings': walks.settings().digest(),
        'drawn': 'causal, adaptive'}


def test_how_the_release_is_divided_follows_from_lengths_alone(walks):
    divisions = set()
    for i, (group, batch) in enumerate(((1000, 64), (37, 64), (250, 7))):
        walks.sizes = {'chunk_rows': 100, 'batch_rows': batch}
        routes = walks.words(200, seed=str(i))
        walks.archive(routes, group=group)
        assert walks.release(ledger=False).kind == 'released'
        metadata = pq.ParquetFile(walks.output).metadata
        divisions.add(tuple(metadata.row_group(g).num_rows
                            for g in range(metadata.num_row_groups)))
        assert lengths(walks.read()) == lengths(routes)
        walks.output.unlink()
    [division] = divisions
    assert len(division) > 5 and all(100 <= rows < 109 for rows in division[:-1])


def test_the_same_release_has_the_same_bytes_however_the_archive_was_written(walks):
    """At ε = 10⁶ feasible words are released as they are."""
    walks.sizes = {'chunk_rows': 300}
    random_ = random.Random(1)
    routes = []
    for i in range(200):
        word, here = [], walks.chain.initial_state
        for _ in range(random_.randrange(1, 12)):
            here = random_.choice(walks.chain.successors(here))
            word.append(here)
        routes.append((f'route {i * 7 % 200}', word))
    walks.archive(routes)
    table = pq.read_table(walks.path)
    names = ['removed', *(f'route {i}' for i in range(200))]
    indices = pa.array([names.index(name) for name in table['route'].to_pylist()], pa.int32())
    other = table.set_column(table.column_names.index('route'), 'route',
                             pa.DictionaryArray.from_arrays(indices, names))
    contents = set()
    for written, how in [
            (table, {}), (table, {'row_group_size': 37}), (table, {'use_dictionary': False}),
            (table, {'row_group_size': 501, 'dictionary_pagesize_limit': 64}), (other, {}),
            (other, {'row_group_size': 100}),
            *((table, {'use_dictionary': False, 'column_encoding': {
                'symbol': encoding, 'route': encoding}, 'row_group_size': 111})
              for encoding in ('DELTA_BYTE_ARRAY', 'DELTA_LENGTH_BYTE_ARRAY'))]:
        pq.write_table(written, walks.path, **how)
        settings = walks.settings(privacy=Privacy(1e6))
        outcome = walks.release(settings, ledger=False)
        assert outcome.kind == 'released', outcome.reason
        assert walks.read() == routes
        contents.add(walks.output.read_bytes())
        walks.output.unlink()
    [content] = contents
    assert b'removed' not in content


def test_ids_that_are_no_text(walks):
    walks.archive(WALKS)
    table = pq.read_table(walks.path)
    ids = pa.array([b'\xff'] * len(table), pa.binary()).view(pa.string())
    pq.write_table(table.set_column(table.column_names.index('route'), 'route', ids), walks.path)
    outcome = walks.release()
    assert outcome.kind == 'failed' and 'UTF-8' in outcome.reason


def test_an_archive_that_is_replaced_by_one_of_equal_size_and_date(walks, monkeypatch):
    walks.archive(WALKS)
    os.utime(walks.path, ns=(0, 0))
    real = outbox.digest_of

    def replace(path):
        content = walks.path.read_bytes()
        other = walks.path.with_name('other')
        other.write_bytes(content)
        os.utime(other, ns=(0, 0))
        os.replace(other, walks.path)
        return real(path)

    monkeypatch.setattr(Archive, 'chunks', lambda self, real=Archive.chunks, **more: (
        replace(self.path), real(self, **more))[1])
    outcome = walks.release()
    assert outcome.kind == 'failed' and 'changed while' in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []


def test_a_route_may_be_longer_than_chunks_and_row_groups(walks):
    walks.sizes = {'chunk_rows': 100, 'batch_rows': 30}
    routes = [(1, 'ab'), (2, 'abc' * 300), (3, 'a')]
    walks.archive(routes, group=70)
    assert walks.release().kind == 'released'
    assert lengths(walks.read()) == lengths(routes)
    assert pq.ParquetFile(walks.output).num_row_groups == 2


def table_of(routes, positions):
    return pa.table({'route': routes, 'position': positions,
                     'symbol': pa.array(['secret'] * len(routes))})


@pytest.mark.parametrize('routes, positions, said', [
    ('aab', [0, 2, 0], 'row 1 (counted from 0): its position is not one more than'),
    ('aaa', [0, 1, 1], 'row 2 (counted from 0): its position'),
    ('aaa', [0, 1, 0], 'row 2 (counted from 0): its position'),
    ('aaa', [2, 3, 4], 'row 0 (counted from 0): the first position of a route must be 0 or 1'),
    ('aba', [0, 0, 1], 'row 2 (counted from 0): a route begins there, and not with position 0'),
    ('aab', [1, 2, 0], 'row 2 (counted from 0): a route begins there, and not with position 1'),
    ('aab', [1, 0, -1], 'row 1 (counted from 0): its position'),
    (['a', None, 'b'], [0, 1, 0], "row 1 (counted from 0): the column 'route' is null"),
    ('aab', [0, None, 0], "row 1 (counted from 0): the column 'position' is null"),
    ([1.5, 1.5, 2.0], [0, 1, 0], "'route' holds neither strings nor integers"),
    ('aab', [0.0, 1.0, 0.0], "'position' does not hold integers"),
    ('', [], 'it holds no symbols'),
])
@pytest.mark.parametrize('batch', [1, pytest.param(1000, marks=pytest.mark.thorough)])
def test_routes_that_do_not_lie_together(walks, routes, positions, said, batch):
    walks.sizes = {'batch_rows': batch}
    table = table_of(pa.array(list(routes)), pa.array(positions))
    if not routes:
        table = table.cast(pa.schema([('route', pa.string()), ('position', pa.int64()),
                                      ('symbol', pa.string())]))
    pq.write_table(table, walks.path)
    outcome = walks.release()
    assert outcome.kind == 'failed' and said in outcome.reason and 'secret' not in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []


def test_positions_do_not_wrap_around(walks):
    table = table_of(['a'] * 257, pa.array([i % 256 for i in range(257)], pa.uint8()))
    pq.write_table(table, walks.path)
    assert 'row 256 (counted from 0)' in walks.release().reason


@pytest.mark.parametrize('index, value', [
    (pa.int8(), pa.string()), (pa.int32(), pa.large_string()), (pa.int16(), pa.int64())])
def test_dictionaries_that_differ_from_group_to_group(walks, index, value):
    walks.sizes = {'chunk_rows': 10_000}
    type_ = pa.dictionary(index, value)
    names = [f'{i}' for i in range(400)]
    schema = pa.schema([('route', type_), ('position', pa.int32()), ('symbol', pa.string())])
    with pq.ParquetWriter(walks.path, schema) as writer:
        for group in range(4):
            some = pa.array([name for name in names[group * 100:][:100] for _ in 'ab'])
            writer.write_table(pa.table([
                some.cast(value).dictionary_encode().cast(type_),
                pa.array([0, 1] * 100, pa.int32()), pa.array(['a', 'b'] * 100)], schema=schema))
    outcome = walks.release()
    assert outcome.kind == 'released', outcome.reason
    assert [str(name) for name, _ in walks.read()] == names


def test_dictionaries_with_repeated_values(walks):
    route = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 2], pa.int32()),
                                           pa.array(['x', 'x', 'y']))
    table = pa.table({'route': route, 'position': [0, 1, 2, 0], 'symbol': ['a', 'b', 'c', 'a']})
    pq.write_table(table, walks.path)
    assert walks.release().kind == 'released'
    assert lengths(walks.read()) == [('x', 3), ('y', 1)]


def test_files_that_will_not_do(walks):
    walks.archive(walks.words(2000), group=700)
    content = walks.path.read_bytes()
    damaged = bytearray(content)
    damaged[40:2000] = bytes(range(245)) * 8
    for wrong, said in ((b'', 'no Parquet file'), (b'a letter', 'no Parquet file'),
                        (content[:-9], 'no Parquet file'), (content[:300], 'no Parquet file'),
                        (content[:4] + content[900:], ''), (bytes(damaged), '')):
        walks.path.write_bytes(wrong)
        outcome = walks.release()
        assert outcome.kind == 'failed' and said in outcome.reason and outcome.reason
        assert 'report' not in outcome.reason, outcome.reason
    walks.path.unlink()
    assert walks.release().reason == 'there is no such file'
    walks.path.mkdir()
    assert walks.release().reason == 'it holds no .parquet file'
    pq.write_table(pa.table({'route': [1], 'position': [0]}), walks.base / 'b.parquet')
    assert "must have one column 'symbol'" in walks.release(path=walks.base / 'b.parquet').reason
    assert walks.spent() == 0 and walks.visible() == []


def test_an_archive_that_kills_its_reader(walks, monkeypatch):
    walks.archive(WALKS)

    def start(function, real=parquet_file.child.start):
        process = real(function)
        process.send_signal(signal.SIGABRT)
        return process

    monkeypatch.setattr(parquet_file.child, 'start', start)
    outcome = walks.release()
    assert outcome.kind == 'failed' and outcome.reason == (
        'it cannot be read, as it is damaged: the process that read it ended by SIGABRT')
    assert walks.spent() == 0 and walks.visible() == []


@pytest.mark.parametrize('make', [lambda path: os.mkfifo(path),
                                  lambda path: path.symlink_to('/dev/zero')])
def test_an_archive_that_is_no_regular_file(walks, make):
    make(walks.path)
    outcome = walks.release()
    assert outcome.kind == 'failed' and 'no regular file' in outcome.reason


def test_auto_is_decided_by_the_longest_route(walks, monkeypatch):
    asked = []
    monkeypatch.setattr(mechanisms, 'choose', lambda chain, privacy, settings, length: (
        asked.append(length) or MechanismSettings('causal', policy='guided')))
    walks.sizes = {'batch_rows': 4}
    for word, longest in (('ab', 7), ('a' * 11, 11)):
        walks.archive([(1, 'abbcaab'), (2, word), (3, 'c')])
        assert walks.release(walks.settings(mechanism='auto'), ledger=False).kind == 'released'
        assert asked.pop() == longest and not asked
        walks.output.unlink()


def test_again_costs_nothing_and_hands_out_the_same(walks):
    walks.archive(WALKS)
    walks.release()
    content = walks.output.read_bytes()
    for _ in range(2):
        outcome = walks.release()
        assert (outcome.kind, outcome.files) == ('already released', (walks.output,))
    other = walks.output.with_name('copy.parquet')
    assert walks.release(output=other).files == (other,)
    assert walks.output.read_bytes() == other.read_bytes() == content
    walks.output.unlink()
    assert walks.release(output=other).kind == 'already released'
    other.unlink()
    outcome = walks.release()
    assert outcome.kind == 'failed' and 'use a copy of that release' in outcome.reason
    assert walks.spent() == 1 and walks.visible() == []
    with Ledger(walks.ledger) as ledger:
        [charge] = ledger.charges()
        assert charge.words == () and charge.length == 16


def test_what_an_archive_owes_for_all_of_its_routes(walks):
    """Charged as one: a change in one route costs ε, the same in each of m routes m times ε."""
    walks.archive(walks.words(40), group=7)
    walks.release()
    with Ledger(walks.ledger) as ledger:
        account = ledger.account('r1')
        assert (account.spent(), account.spent_by_one, account.spent_by_all) == (1, 1, 40)
    walks.release(walks.settings(charge='route'), output=walks.base / 'out' / 'each.parquet')
    with Ledger(walks.ledger) as ledger:
        account = ledger.account('r1')
        assert (account.spent(), account.spent_by_one, account.spent_by_all) == (41, 41, 80)
        assert 'one of its 40 routes costs at most ε = 41' in account.repeated_text


def test_other_settings_are_other_releases(walks):
    walks.archive(WALKS)
    variants = [walks.settings(), walks.settings(privacy=Privacy(0.5)),
                walks.settings(mechanism='exponential'), walks.settings(policy='paper'),
                walks.settings(no_region=()), walks.settings(symbol_map=('x=a',)),
                walks.settings(chain=Chain({s: list('abc') for s in 'abc'}, 'a')),
                walks.settings(columns=Columns(symbol='route', route='symbol'))]
    digests = {variant.digest() for variant in variants}
    digests.add(walks.settings(archive=None).digest())
    assert len(digests) == len(variants) + 1
    for i, variant in enumerate(variants[:3]):
        assert walks.release(variant, output=walks.output.with_name(f'{i}.parquet')).kind == \
            'released'
    assert walks.spent() == 2.5
    walks.check(charges=3)


def test_what_is_there_is_never_overwritten(walks, monkeypatch):
    walks.archive(WALKS)
    walks.output.write_text('somebody wrote this')
    monkeypatch.setattr(archive, 'Dataset', None)  # nothing is read
    for ledger in (True, False):
        outcome = walks.release(ledger=ledger)
        assert outcome.kind == 'failed' and 'exists already' in outcome.reason
    monkeypatch.undo()
    assert 'exists already' in walks.release(output=walks.path).reason
    assert walks.output.read_text() == 'somebody wrote this' and walks.spent() == 0
    walks.output.unlink()
    walks.release()
    walks.output.unlink()
    other = walks.base / 'other.parquet'
    shutil.copy(walks.path, other)
    assert 'as the path of another release' in walks.release(path=other).reason
    # Nor what comes there while the release is being made.
    walks.output = walks.output.with_name('late.parquet')
    real = outbox.digest_of
    monkeypatch.setattr(outbox, 'digest_of', lambda path: walks.output.write_text('late')
                        and real(path))
    outcome = walks.release(path=other)
    assert outcome.kind == 'released' and walks.output.read_text() == 'late'
    assert outcome.files[0].name.startswith('late~') and outcome.files[0].suffix == '.parquet'


def test_the_ledger_is_no_release(walks):
    log = walks.archive(WALKS)
    with Ledger(walks.ledger) as ledger, refused(ConfigurationError, setting='ledger_file'):
        archive.release_archive(walks.settings(), log, walks.ledger, ledger=ledger, subject='r1')
    # But it may lie beside one.
    assert walks.release(output=walks.base / 'private.parquet').kind == 'released'


def test_an_archive_that_changes_while_it_is_read(walks):
    walks.archive(WALKS)

    def tell(rows, total):
        os.utime(walks.path, ns=(1, 1))

    outcome = walks.release(on_rows=tell)
    assert outcome.kind == 'failed' and 'changed while it was being read' in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []


def test_progress_counts_every_row_once(walks):
    walks.sizes = {'chunk_rows': 50}
    routes = walks.words(100)
    walks.archive(routes)
    told = []
    walks.release(on_rows=lambda rows, total: told.append((rows, total)))
    rows = sum(n for _, n in lengths(routes))
    assert len(told) > 5 and sum(n for n, _ in told) == rows and {n for _, n in told} == {rows}


@pytest.mark.parametrize('error', [KeyboardInterrupt, SystemExit])
def test_an_interrupt_leaves_nothing_and_spends_nothing(walks, error):
    walks.sizes = {'chunk_rows': 50}
    walks.archive(walks.words(100))

    def tell(rows, total):
        raise error

    with pytest.raises(error):
        walks.release(on_rows=tell)
    assert walks.spent() == 0 and os.listdir(walks.releases) == ['.symdp_ros.lock']
    assert walks.release().kind == 'released'


def test_what_is_charged_and_cannot_be_moved_is_moved_at_the_next_start(walks, monkeypatch):
    walks.archive(WALKS)

    def fails(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(outbox, 'move', fails)
    with pytest.raises(KeyboardInterrupt):
        walks.release()
    monkeypatch.undo()
    assert walks.spent() == 1 and walks.visible() == []
    # A start without that ledger cannot tell what is charged, and leaves it alone.
    assert walks.release(ledger=False, output=walks.output.with_name('x.parquet')).kind == \
        'released'
    walks.output.with_name('x.parquet').unlink()
    # It is handed out elsewhere too.
    elsewhere = walks.base / 'elsewhere.parquet'
    assert walks.release(output=elsewhere).kind == 'already released'
    assert walks.release().kind == 'already released' and walks.spent() == 1
    assert elsewhere.read_bytes() == walks.output.read_bytes()
    walks.check()


def test_an_archive_that_cannot_be_read_to_its_end_is_named(walks, monkeypatch):
    """Not the release directory: in a store, a connection may be lost while it is hashed."""
    class Lost:
        def __enter__(self):
            return self

        def __exit__(self, *exception):
            pass

        def seek(self, *place):
            raise OSError('the connection was lost')

    walks.archive(walks.words(3))
    monkeypatch.setattr(archive, 'opened', lambda path: Lost())
    outcome = walks.release()
    assert (outcome.kind, outcome.code) == ('failed', 'log')
    assert outcome.reason == 'it cannot be read: the connection was lost'
    assert walks.spent() == 0


def test_a_reader_that_another_thread_takes_first(walks, monkeypatch):
    """Between looking for an idle process and taking it, another thread may take it."""
    class Taken(list):
        def __bool__(self):
            return True

    monkeypatch.setattr(parquet_file, '_IDLE', Taken())
    path = walks.archive([('r', 'abb')]).path
    with parquet_file.Archive(path, Columns()) as archive:
        assert archive.rows == 3
    parquet_file.end_readers()
    assert len(parquet_file._IDLE) == 0


@pytest.mark.parametrize('gibibytes', [0.3, 2, 16, 1000])
def test_all_readers_together_have_one_bound(walks, gibibytes, monkeypatch):
    """Half of the memory there is, however many files are read at once; one reader always may."""
    most, least = int(gibibytes * 2**30) // 2, 512 << 20
    monkeypatch.setattr(parquet_file.child, 'available', lambda: 2 * most)
    parquet_file.end_readers()
    parquet_file.readers.cache_clear()
    try:
        folder = walks.base / 'many'
        folder.mkdir()
        for i in range(20):
            walks.archive([(f'{i}', 'abb')], path=folder / f'{i:02d}.parquet')
        dataset.Dataset(folder, Columns()).survey(False)
        processes = [reader._process.pid for reader in parquet_file._IDLE]
        limits = []
        for pid in processes:
            status = dict(line.split(':', 1) for line in Path(
                f'/proc/{pid}/status').read_text().splitlines())
            limits.append(resource.prlimit(pid, resource.RLIMIT_AS)[0]
                          - (int(status['VmPeak'].split()[0]) << 10))
        assert 1 <= len(processes) <= (os.cpu_count() or 1) + 4
        assert sum(limits) <= max(most, least) and max(limits) <= 4 << 30
        assert min(limits) > least // 2
    finally:
        parquet_file.end_readers()
        parquet_file.readers.cache_clear()


def test_the_memory_there_is():
    found = parquet_file.child.available()
    assert 0 < found < os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')


def test_memory_does_not_grow_with_the_archive(walks, monkeypatch):
    """
    Some chunks are held here and in the process that reads, of any number in one row group.

    With two mechanisms at most six chunks at once: one is written, three wait, one is read, and
    one more is being put together from what was read. How many there are at a moment is up to the
    threads; so the bound is of ten, where the archive has eighty.
    """
    chunk, chunks, bytes_of_a_row = 5_000, 80, 20
    walks.sizes = {'threads': 2, 'chunk_rows': chunk, 'batch_rows': 2_500, 'buffer_bytes': 5_000}
    held, reader, processes, start = [], [], [], parquet_file.child.start
    monkeypatch.setattr(parquet_file.child, 'start',
                        lambda function: processes.append(start(function)) or processes[-1])

    def look(*_):
        held.append(pa.total_allocated_bytes() + tracemalloc.get_traced_memory()[0])
        status = Path(f'/proc/{processes[-1].pid}/status').read_text()
        reader.append(int(status.partition('VmHWM:')[2].split()[0]) << 10)

    def release():
        settings = walks.settings(policy='guided')  # the fastest
        assert walks.release(settings, ledger=False, on_rows=look).kind == 'released'
        walks.output.unlink()

    walks.archive(WALKS)
    release()  # of few rows: imports and loads what every release needs
    rows = chunk * chunks
    i = np.arange(rows)
    table = pa.table({'route': i // 50, 'position': i % 50,
                      'symbol': np.array([*'abc'])[i * i % 7 % 3]})
    pq.write_table(table, walks.path, row_group_size=rows, use_dictionary=False,
                   compression='none')  # a file as large as what it holds
    del table
    tracemalloc.start()  # Arrow has memory of its own
    try:
        before = pa.total_allocated_bytes()
        release()
    finally:
        tracemalloc.stop()
    assert len(held) > chunks and max(held[1:]) - before < 10 * chunk * bytes_of_a_row
    assert reader[-1] - reader[0] < 40 * chunk * bytes_of_a_row < rows * bytes_of_a_row / 2 + 1


# What is drawn is not looked at here.
CHILD = KILL_AT + """
sys.path[:0] = 'test/release', 'test/logs'
from fractions import Fraction
from pathlib import Path
import symdp_ros.release.archives.parquet_file as file
from symdp_ros.core.offline import OfflineMechanism
from conftest import ArchivePlace
OfflineMechanism.privatize_many = lambda self, symbols, *more: symbols * 0
file.parquet()
def run(base, moment):
    walks = ArchivePlace(Path(base))
    walks.sizes = {'chunk_rows': 50}
    return kill_at(moment, walks.release, 'release')
"""


@pytest.fixture
def child():
    with forked(CHILD) as run:
        yield run


def test_after_a_kill_at_any_moment_nothing_is_lost_and_nothing_is_free(walks, child):
    seed = int(os.environ.get('SYMDP_TEST_SEED') or random.SystemRandom().randrange(2**32))
    print(f'SYMDP_TEST_SEED={seed}')
    routes = walks.words(60)
    walks.archive(routes)

    status, left = child(walks.base, 10**9)
    calls = 10**9 - int(left)
    assert status == 0 and calls > 100 and walks.visible()  # it went the whole way
    killed = 0
    moments = sorted(random.Random(seed).sample(range(1, calls), 7))
    # Most of what matters is at the end: charging and moving.
    for moment in [*moments, calls - 2, calls - 30, calls - 60]:
        killed += walks.killed(child, moment)
        assert walks.release().kind in ('released', 'already released')
        assert walks.spent() == 1 and lengths(walks.read()) == lengths(routes)
        walks.check()
    assert killed >= 9


def test_an_open_archive_tells_where_routes_begin(walks):
    walks.archive(walks.words(100), group=100)
    with Archive(walks.path, Columns()) as opened:
        starts = [0]
        for _, n in lengths(walks.words(100)):
            starts.append(starts[-1] + n)
        assert opened.rows == starts[-1] > 300
        wanted = [0, 1, 99, 100, opened.rows - 1]
        survey = opened.survey(wanted)
        assert survey.cuts == tuple(min(s for s in starts if s >= row) for row in wanted)
        assert survey.longest == max(n for _, n in lengths(walks.words(100)))
        assert survey.start == 0


def test_an_archive_of_which_nothing_is_known_is_refused(walks):
    walks.archive([(i, 'xyz') for i in range(30)])
    outcome = walks.release(allow_unknown=1)
    assert outcome.kind == 'refused' and 'none of its symbols names a state' in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []
    walks.archive([*((i, 'xyz') for i in range(30)), (30, 'xa')])  # one symbol, the last of all
    outcome = walks.release(allow_unknown=0.97)
    assert outcome.kind == 'refused' and '99 % of the symbols name no state' in outcome.reason
    assert walks.spent() == 0
    assert walks.release(allow_unknown=1).kind == 'released'
    assert lengths(walks.read()) == [*((i, 3) for i in range(30)), (30, 2)]
    walks.check()


@pytest.mark.parametrize('epsilon, spent', [(0.1, '0.4'), (1.0, '4'), (0.3, '1.2')])
def test_each_route_is_charged_where_they_may_overlap(walks, epsilon, spent):
    walks.archive(WALKS)
    settings = walks.settings(privacy=Privacy(epsilon), charge='route')
    outcome = walks.release(settings, subject_budget=3.9 * epsilon)
    assert outcome.kind == 'refused' and f'this costs {spent} more' in outcome.reason
    assert walks.spent() == 0
    with Ledger(walks.ledger) as ledger:
        ledger.set_budget('r1', Fraction(spent))
    assert walks.release(settings).kind == 'released'
    assert walks.spent() == Fraction(spent)  # exactly
    assert walks.release(settings).kind == 'already released'
    walks.check()


def test_how_routes_are_charged_is_part_of_what_a_release_is(walks):
    """So what was charged as if no routes overlapped is not handed out as if they might."""
    once, each = walks.settings(), walks.settings(charge='route')
    assert once.digest() != each.digest() and 'charge' not in once.described()
    assert each.described()['charge'] == 'route'
    with refused(ConfigurationError, setting='charge'):
        walks.settings(charge='row').check()


def test_copies_of_one_route_give_it_away_at_one_charge(walks):
    """
    What the README warns of: the true symbols are the most frequent ones.

    At each position the true symbol is drawn with a probability that is by 0.61 or more above that
    of any other (by recursion). So by Hoeffding's inequality the most frequent of 3,000 is another
    one, at any of 12 positions, with a chance below 24·exp(−3000·0.61²/2) < 1e-200.
    """
    route = 'abbbcaabbccc'
    walks.archive([(i, route) for i in range(3000)])
    settings = walks.settings(privacy=Privacy(2.0), mechanism='causal', policy='paper')
    assert walks.release(settings).kind == 'released'
    words = [word for _, word in walks.read()]
    guess = ''.join(max('abc', key=[word[i] for word in words].count) for i in range(len(route)))
    assert guess == route and walks.spent() == 2
    each = walks.settings(privacy=Privacy(2.0), mechanism='causal', policy='paper', charge='route')
    assert walks.release(each, output=walks.output.with_name('each.parquet')).kind == 'released'
    assert walks.spent() == 2 + 3000 * 2
