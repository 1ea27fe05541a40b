#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: the rows of one robot, read with a filter, or written as one part of a
# partitioned table, make a Parquet file that holds their values and no others. What happens where
# a column is a dictionary (in pandas: a category): all its values are written, also those that
# only other rows have; whoever opens the file with pandas is shown them. It takes no category of
# one's own: a column that names the parts of a folder is read as one. So after
# read_parquet(folder, filters=[('robot', '==', 'r1')]) and to_parquet, the file of r1 names each
# robot there is. And to_parquet(…, partition_cols=['robot']) of a table with a category writes
# its values of all robots into the file of each. The statistics in the files do not show it.
#
# Seen with pyarrow 26.0.1 and pandas 3.1.1.
# Source: Arrow C++, cpp/src/parquet/column_writer.cc, TypedColumnWriterImpl::WriteArrowDictionary
# (writes the dictionary as it is, used or not); pyarrow/parquet/core.py, ParquetDataset (reads
# folders with HivePartitioning.discover(infer_dictionary=True)).
# Who is hurt: whoever gives each customer, or the public, a part of a table: names of persons,
# places or robots of all others are in it. Turn dictionaries into texts before (astype(str); in
# Arrow, cast), or call remove_unused_categories.
#
# Exit status: 0 if it is so, 1 if it has changed, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder

cat > "$folder/look.py" <<'PYTHON'
import os
from pathlib import Path
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

FOLDER = Path(os.environ['HOME'])
ROBOTS, WARDS = ['r1', 'r1', 'r2'], ['kitchen', 'lab', 'oncology']
OTHERS = 'r2', 'oncology'  # nothing of r1


def names_in(file):
    """Return what of the others a file holds, if pandas shows it, too."""
    held = {name for name in OTHERS if name.encode() in file.read_bytes()}
    table = pd.read_parquet(file, partitioning=None)
    shown = {name for column in table if isinstance(table[column].dtype, pd.CategoricalDtype)
             for name in table[column].cat.categories}
    assert held == shown & {*OTHERS}
    assert not {*OTHERS} & {*table.astype(str).to_numpy().ravel()}  # no row has it
    return sorted(held)


texts = pd.DataFrame({'robot': ROBOTS, 'ward': WARDS})
categories = texts.astype({'ward': 'category'})
for name, table in (('texts', texts), ('categories', categories)):
    table.to_parquet(FOLDER / name, partition_cols=['robot'])


def part_of(name):
    """Return the file of r1 in a partitioned table."""
    [file] = (FOLDER / name / 'robot=r1').iterdir()
    return file


def read_and_written(as_texts):
    """Read the rows of r1 from a partitioned table of texts, and write them."""
    table = pd.read_parquet(FOLDER / 'texts', filters=[('robot', '==', 'r1')])
    file = FOLDER / f'read_{as_texts}.parquet'
    (table.astype(str) if as_texts else table).to_parquet(file)
    return file


def filtered():
    """Write the rows of r1 of a table of Arrow."""
    table = pa.table({'robot': ROBOTS, 'ward': pa.array(WARDS).dictionary_encode()})
    pq.write_table(table.filter(pc.field('robot') == 'r1'), FOLDER / 'filtered.parquet')
    return FOLDER / 'filtered.parquet'


fine = True
for how, file, guess in (
        ('texts, one part of a partitioned table', part_of('texts'), []),
        ('a category, one part of a partitioned table', part_of('categories'), ['oncology']),
        ('a dictionary of Arrow, filtered', filtered(), ['oncology']),
        ('texts in a partitioned table, read with a filter', read_and_written(False),
         ['r2']),
        ('the same, and astype(str)', read_and_written(True), [])):
    found = names_in(file)
    print(f'  {how}: the file of r1 holds of other robots: {", ".join(found) or "nothing"}')
    fine &= found == guess
sys.exit(0 if fine else 1)
PYTHON

python3 -m venv "$folder/venv" || exit 2
pinned='pyarrow==26.0.1 pandas==3.1.1'
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
    cat "$folder/pip.log" >&2; exit 2; }
echo "$pinned"
if "$folder/venv/bin/python" "$folder/look.py"; then
    echo 'The Parquet file of one robot names others.'
else
    echo 'It has changed.'
    exit 1
fi
