# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/archives.md, run as they stand there, on names that tools like to change."""
from pathlib import Path
import re

from in_process import run_symdp
import pytest
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.words import stamps

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'archives.md').read_text(encoding='utf-8')
BLOCKS = re.findall(r'^```(sql|python)\n(.*?)^```$', PAGE, re.M | re.S)
#: The library, and the block that uses it.
RECIPES = {library: next(block for _, block in BLOCKS if begin in block)
           for library, begin in (('duckdb', '-- DuckDB'), ('polars', 'import polars'),
                                  ('pandas', 'import pandas'))}
NAMES = '007', '1e3', 'true', '7', 'NA'
CHAIN = 'initial_state: "007"\ntransitions: {' + ', '.join(
    f'"{name}": ["007", "1e3", "true", "7", "NA"]' for name in NAMES) + '}\n'
FIRST = 1_800_000_000_123_456_789  # a float holds no nanosecond of it
SETTINGS = '--chain', 'chain.yaml', '--adjacency', '1', '--epsilon', '1'


def library(name):
    return pytest.importorskip(name, reason=f'{name}, of a recipe, is not installed')


@pytest.fixture
def patrols(tmp_path, monkeypatch):
    """Go to a folder with routes of some robots; return them as (subject, route) → symbols."""
    pytest.importorskip('pyarrow', reason='archives need pyarrow')
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'chain.yaml').write_text(CHAIN)
    (tmp_path / 'patrols').mkdir()
    routes = {}
    for number, subject in enumerate(NAMES):
        lines, now = ['subject,route,symbol,stamp'], FIRST
        for route in ('01', '1', '1.0'):
            word = [NAMES[(number + i) % len(NAMES)] for i in range(12)]
            routes[subject, route] = word
            for symbol in word:  # each route begins a nanosecond after the one before it ended
                lines.append(f'{subject},{route},{symbol},{stamps.to_text(now)}')
                now += 10**9
            now += 1 - 10**9
        (tmp_path / 'patrols' / f'{number}.csv').write_text('\n'.join([*lines[:1], *lines[:0:-1],
                                                                       '']))
    return routes


def read(path='walks.parquet'):
    """Return the routes of a file or directory as the package's own reader sees them."""
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetDataset(path, partitioning=None).read()
    routes = {}
    for row in table.to_pylist():
        word = routes.setdefault((row['subject'], row['route']), [])
        assert row['position'] == len(word)
        word.append(row['symbol'])
    return routes


def released(source, output, *options):
    """Release an archive; check that each robot was charged once, under its own name."""
    done = run_symdp('release', source, '-o', output, *SETTINGS, '--ledger', 'spent.ledger',
                     *options, cwd='.')
    assert done.returncode == 0, done.stdout + done.stderr
    with Ledger(Path('spent.ledger')) as ledger:
        assert {name: ledger.spent(name) for name in ledger.subjects()} == dict.fromkeys(NAMES, 1)


@pytest.mark.parametrize('name', RECIPES)
def test_recipes_keep_every_name(patrols, name):
    run = library(name)
    if name == 'duckdb':
        run.sql(RECIPES[name])
    else:
        exec(compile(RECIPES[name], 'archives.md', 'exec'), {})
    assert read() == patrols
    released('walks.parquet', 'private.parquet')
    assert {key: len(word) for key, word in read('private.parquet').items()} == {
        key: len(word) for key, word in patrols.items()}


def _with_pyarrow(table):
    import pyarrow.parquet

    pyarrow.parquet.write_to_dataset(table, 'DATASET', partition_cols=['subject'])


def _with_pandas(table):
    library('pandas')
    table.to_pandas().to_parquet('DATASET', partition_cols=['subject'], index=False)


def _with_polars(table):
    polars = library('polars')
    polars.from_arrow(table).write_parquet('DATASET', partition_by='subject')


def _with_duckdb(table_):
    library('duckdb').sql("COPY (FROM table_ ORDER BY subject, route, position) TO 'DATASET' "
                          '(FORMAT parquet, PARTITION_BY (subject))')


@pytest.mark.parametrize('write', [_with_pyarrow, _with_pandas, _with_polars, _with_duckdb])
def test_partitions_of_each_tool_keep_every_name(patrols, write):
    """Directories such as subject=007 are read as they are called, whoever wrote them."""
    import pyarrow

    columns = zip(*((*key, i, symbol) for key, word in patrols.items()
                    for i, symbol in enumerate(word)), strict=True)
    write(pyarrow.table(dict(zip(('subject', 'route', 'position', 'symbol'), columns,
                                 strict=True))))
    released('DATASET', 'private.parquet', '--subject-key', 'subject')
    assert sorted(path.name for path in Path('private.parquet').iterdir() if path.is_dir()) == \
        sorted(f'subject={name}' for name in NAMES)


def test_the_program_of_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip('pyarrow', reason='archives need pyarrow')
    monkeypatch.chdir(tmp_path)
    names = {}
    [program] = [block for _, block in BLOCKS if 'privatize_batch' in block]
    exec(compile(program, 'archives.md', 'exec'), names)
    assert names['private'].column('route').to_pylist() == ['a', 'a', 'a', 'b']
    assert list(tmp_path.iterdir()) == []
