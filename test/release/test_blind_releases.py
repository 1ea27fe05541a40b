# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Nothing but the draws depends on the symbols of a log or an archive.

What draws is made blind here: it sees how long words are, and nothing else of them. Two logs of
one name and the same stamps then give the same release, byte by byte, with the same dates and
modes, and the same answers.
"""
import json
import os
import random

from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import pytest
from recordings import record
from release_settings import release_settings
from symdp_ros import Chain, Privacy
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.release.answers import release_answer, status_answer
from symdp_ros.release.draft import FILE_BYTES
from symdp_ros.release.session import Releaser

#: Names of several lengths: what is written of them has several sizes.
CHAIN = Chain({'a': ['a', 'hall'], 'hall': ['hall', 'corridor_7'],
               'corridor_7': ['corridor_7', 'a']}, 'a')
SYMBOLS = (*CHAIN.states, *CHAIN.states, 'none', '', 'ü"', 'x' * 200, '7')
SECOND = 10**9
STAMPS = st.lists(st.sampled_from([0, SECOND // 2, SECOND, 5 * SECOND]), min_size=1, max_size=25)
SAMPLINGS = ({}, {'unknown_symbol': 'hold'}, {'sampling': 'period', 'period': 1.0},
             {'sampling': 'period', 'period': 2.0, 'input_timeout': 3.0})


def blind(self, word):
    """Return a word of this length."""
    drawn, here = random.Random(len(word)), CHAIN.initial_state
    return [here := drawn.choice(CHAIN.successors(here)) for _ in word]


@pytest.fixture(autouse=True)
def blind_draws(monkeypatch):
    monkeypatch.setattr(OfflineMechanism, 'privatize', blind)


def write(path, form, entries):
    """Write (stamp, symbol) as a log."""
    if form == 'csv':
        rows = ['{},"{}"'.format(stamp / SECOND, symbol.replace('"', '""'))
                for stamp, symbol in entries]
        path.write_text('\n'.join(['stamp,symbol', *rows, '']))
    elif form == 'jsonl':
        path.write_text(''.join(json.dumps({'stamp': stamp / SECOND, 'symbol': symbol}) + '\n'
                                for stamp, symbol in entries))
    else:
        record(path, form, [(stamp, (symbol,)) for stamp, symbol in entries])


def seen_of(place, form, logs, given_settings, times=2):
    """Release logs, again and again; return all that others may see."""
    for name in ('logs', 'out'):
        (place / name).mkdir(parents=True)
    for i, entries in enumerate(logs):
        write(place / 'logs' / (f'{i}.{form}' if form in ('csv', 'jsonl') else str(i)), form,
              entries)
    seen = []
    with Ledger(place / 'ledger') as ledger:
        for _ in range(times):
            with Releaser(given_settings, place / 'out', ledger=ledger, subject='r1') as releaser:
                report = releaser.release_directory(place / 'logs', on_outcome=lambda outcome: (
                    seen.append((outcome.kind, outcome.reason, outcome.code, outcome.length))))
            seen.append(release_answer(
                report, ledger, subject='r1', settings=given_settings.digest(), budget=0.0,
                directory=place / 'out'))
            seen.append(status_answer(ledger.account('r1'), is_running=False))
        seen += [(charge.loss, charge.words) for charge in ledger.charges()]
    for path in sorted((place / 'out').rglob('*')):
        status = path.stat()
        seen.append((str(path.relative_to(place)), status.st_mode, status.st_size))
        if path.is_file() and not path.name.startswith('.'):
            seen.append((status.st_mtime_ns, path.read_bytes()))
    return seen


@pytest.mark.parametrize('form, released', [
    ('csv', 'jsonl'), ('jsonl', 'csv'), ('sqlite3', 'mcap'), ('mcap', 'sqlite3')])
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_all_but_the_draws_is_the_same(tmp_path_factory, form, released, data):
    steps = data.draw(st.lists(STAMPS, min_size=1, max_size=3))
    given_settings = release_settings(
        CHAIN, Privacy(data.draw(st.sampled_from([0.0, 1.0, 5.0]))), format=released,
        **data.draw(st.sampled_from(SAMPLINGS)))
    choose = random.Random(data.draw(st.integers(0, 2**32)))
    runs = []
    for _ in range(2):
        symbols = choose.sample(SYMBOLS, choose.randint(1, len(SYMBOLS)))
        logs = [[(sum(steps_of_log[:i + 1]), choose.choice(symbols))
                 for i in range(len(steps_of_log))] for steps_of_log in steps]
        runs.append(seen_of(tmp_path_factory.mktemp('place'), form, logs, given_settings))
    assert runs[0] == runs[1]
    assert runs[0][0][0] == 'released'


@pytest.mark.parametrize('length', [1, 1000])
@pytest.mark.parametrize('form', ['csv', 'jsonl', 'sqlite3', 'mcap'])
@pytest.mark.parametrize('name', ['b', 'x' * 300, 'ü' * 100, '"' * 100],
                         ids=['short', 'long', 'umlauts', 'quotes'])
def test_on_a_disk_that_is_nearly_full_too(tmp_path, monkeypatch, form, name, length):
    """Else what does not fit would be drawn again, without a charge, until it is small."""
    given_settings = release_settings(Chain({'a': ['a', name], name: ['a', name]}, 'a'),
                                      Privacy(1.0), format=form)
    log, least = [(i * SECOND, 'a') for i in range(length)], 1 << 20
    bound = least + FILE_BYTES + length * given_settings.most_bytes
    for free in ((least + bound) // 2, bound - 1, bound):
        for drawn in 'a', name:
            place = tmp_path / f'{drawn == name} {free}'
            monkeypatch.setattr(OfflineMechanism, 'privatize', lambda self, word, drawn=drawn:
                                [drawn] * len(word))
            monkeypatch.setattr(os, 'statvfs', lambda path, place=place, free=free: nearly_full(
                place / 'out', free))
            kind, *_ = seen_of(place, 'csv', [log], given_settings, times=1)[0]
            assert kind == ('released' if free >= bound else 'failed'), (free - bound, drawn)


def nearly_full(directory, size):
    """Return what `os.statvfs` would, of a disk of this size that holds these files."""
    used = sum(path.lstat().st_size for path in directory.rglob('*') if path.is_file())
    return os.statvfs_result((1, 1, size, size - used, max(0, size - used), 0, 0, 0, 0, 255))


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_of_an_archive_too(walks, tmp_path_factory, monkeypatch, data):
    pyarrow = pytest.importorskip('pyarrow')
    import numpy as np
    from symdp_ros.release.archives.parquet_file import Columns

    def blind_many(self, states, offsets, bits):
        return np.arange(len(states), dtype=np.int32) % len(CHAIN)

    monkeypatch.setattr(OfflineMechanism, 'privatize_many', blind_many)
    lengths = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=8))
    choose = random.Random(data.draw(st.integers(0, 2**32)))
    runs = []
    for _ in range(2):
        place = type(walks)(tmp_path_factory.mktemp('place'))
        values = choose.sample([*SYMBOLS, None], choose.randint(1, len(SYMBOLS)))
        symbols = pyarrow.array([choose.choice(values) for _ in range(sum(lengths))],
                                pyarrow.string())
        if choose.random() < 0.5:
            symbols = symbols.dictionary_encode()
        place.sizes = {'chunk_rows': 20, 'batch_rows': 7}
        place.archive([(f'route {i}', 'x' * length) for i, length in enumerate(lengths)],
                      symbols=symbols, group=choose.choice([3, 10, 1000]),
                      metadata={'values': str(values)}, note=list(range(sum(lengths))))
        said = []
        outcome = place.release(
            place.settings(chain=CHAIN, columns=Columns(keep=('note',))), on_choice=said.append,
            on_rows=lambda *rows: said.append(rows))
        status = place.output.stat()
        runs.append((outcome.kind, outcome.length, outcome.reason, said, status.st_mode,
                     status.st_mtime_ns, place.output.read_bytes()))
    assert runs[0] == runs[1]
    assert runs[0][0] == 'released'
