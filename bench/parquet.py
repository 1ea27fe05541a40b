# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of bulk release: Parquet to Parquet, against copying the file."""
from contextlib import redirect_stderr, redirect_stdout
import os
from statistics import median

from bench.chains import town
from bench.measure import Figure, medians, NotMeasured, peer, ratios, Row, side_by_side
import numpy as np
from studies.paper.town import CHAIN_FILE
from symdp_ros.cli.main import main

_LENGTH = 50
_ROUTES_A_TIME = 20_000
_BATCH_ROWS = 1 << 18  # as the release reads; faster than pyarrow's default


def write_archive(path, routes):
    """Write routes of 50 random symbols of the town: columns route, position, symbol."""
    import pyarrow as pa
    from pyarrow import parquet

    names, rng = pa.array(town().states), np.random.default_rng(5)
    writer = None
    for first in range(0, routes, _ROUTES_A_TIME):
        count = min(_ROUTES_A_TIME, routes - first)
        rows = pa.table({
            'route': np.repeat(np.arange(first, first + count), _LENGTH),
            'position': np.tile(np.arange(_LENGTH, dtype=np.int32), count),
            'symbol': names.take(pa.array(rng.integers(0, len(names), count * _LENGTH)))})
        writer = writer or parquet.ParquetWriter(path, rows.schema)
        writer.write_table(rows)
    writer.close()


def copy(source, target, dictionaries=('symbol',)):
    """
    Copy a Parquet file batch by batch.

    :param dictionaries: columns that are read and written without becoming strings.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(source, read_dictionary=list(dictionaries)) as reader, \
            parquet.ParquetWriter(target, reader.schema_arrow) as writer:
        for batch in reader.iter_batches(_BATCH_ROWS):
            writer.write_batch(batch)


def _release(source, target, *options):
    with open(os.devnull, 'w') as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        status = main(['release', str(source), '-o', str(target), '--chain', str(CHAIN_FILE),
                       '--epsilon', '2', '--adjacency', '1', *options])
    if status:
        raise NotMeasured('not there yet: `symdp release` of Parquet files')


def _free_again(path):
    """Yield the path, without end, each time with nothing there."""
    while True:
        path.unlink(missing_ok=True)
        yield path


def _measure(effort):
    peer('pyarrow.parquet', 'pyarrow')
    routes = effort.either(10_000, 1_000_000)
    directory = effort.directory / 'parquet'
    directory.mkdir()
    source = directory / 'archive.parquet'
    write_archive(source, routes)
    target = _free_again(directory / 'out.parquet')
    tasks = {'copy': lambda: copy(source, next(target)),
             'online': lambda: _release(source, next(target), '--mechanism', 'causal',
                                        '--policy', 'guided'),
             'offline': lambda: _release(source, next(target), '--mechanism', 'exponential',
                                         '--base', 'counting')}
    if not effort.quick:
        tasks['copy as strings'] = lambda: copy(source, next(target), ())
    times = side_by_side(tasks, effort)
    for name in ('online', 'offline'):
        note = f'{routes:,} routes.'
        if not effort.quick:
            strings = median(ratios(times[name], times['copy as strings']))
            note += (f' {name.capitalize()} it takes {strings:.3g}× the time of a copy that makes '
                     'strings of the symbols.')
        yield Figure(ratios(times[name], times['copy']), medians(times), note,
                     effort.either(f'from {routes:,} routes', ''), f'parquet-{name}')


ROWS = (
    Row('parquet', _measure,
        '`symdp release` (mechanism causal with its guided policy, and exponential) of routes of '
        '50 random symbols of the town, and copying the file with pyarrow: `iter_batches` of 2¹⁸ '
        'rows into a `ParquetWriter` with its defaults, as the release writes, symbols read as a '
        'dictionary, as the release reads them. Both run in this process, so that neither counts '
        'the start of Python; the release checks the order of the rows, hashes its file and makes '
        'it durable, the copy does not.', ('parquet-online', 'parquet-offline')),
)
