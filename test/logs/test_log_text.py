# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""CSV and JSON Lines."""
import csv
from decimal import Decimal
import io
import json
import re

from hypothesis import given
from hypothesis import strategies as st
import pytest
from recordings import failure, SECRET
from symdp_ros.logs import LogError, read_log, write_log
from symdp_ros.words import stamps

SYMBOLS = st.text(st.characters(blacklist_categories=('Cs',), blacklist_characters='\0'),
                  min_size=1, max_size=8)


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_csv(tmp_path):
    path = written(tmp_path, 'log.csv', '\ufeffstamp,battery,symbol\r\n'
                   '0,1.0,dock\r\n\r\n 1.5 ,0.9,"aisle, 3"\r\n1.5,0.8,\r\n1e1,0.7,none\r\n')
    assert read_log(path) == [(0, 'dock'), (1_500_000_000, 'aisle, 3'), (1_500_000_000, ''),
                              (10_000_000_000, 'none')]
    assert read_log(path, symbol_key='battery')[1] == (1_500_000_000, '0.9')


def test_json_lines(tmp_path):
    path = written(tmp_path, 'log.jsonl', '{"stamp": -1, "symbol": "dock", "more": [1.5, {}]}\r\n'
                   '\n{"symbol": 3, "stamp": 0.1}\n{"stamp": 1.5e0, "symbol": true}\n'
                   '{"stamp": 2, "symbol": false}\n{"stamp": 2, "symbol": null}\n'
                   '{"stamp": 1585866235.112411371, "symbol": "\\u00fc\u2028"}\n')
    assert read_log(path) == [
        (-10**9, 'dock'), (10**8, '3'), (1_500_000_000, 'true'), (2 * 10**9, 'false'),
        (2 * 10**9, None), (1_585_866_235_112_411_371, 'ü\u2028')]


def test_other_names(tmp_path):
    path = written(tmp_path, 'log.jsonl', '{"t": 1, "region": "dock"}\n')
    assert read_log(path, stamp_key='t', symbol_key='region') == [(10**9, 'dock')]


@pytest.mark.parametrize('content, reason', [
    ('', 'must be a header'),
    (f'0,{SECRET}\n', 'must be a header'),
    ('stamp,symbol,symbol\n', 'once each'),
    ('stamp,symbol\n', 'holds no symbols'),
    (f'stamp,symbol\n0,{SECRET}', 'its last line has no line end'),
    (f'stamp,symbol\n0,a\n1,{SECRET},b\n', 'a line has more or fewer fields'),
    (f'stamp,symbol\n0,a\n{SECRET}\n', 'a line has more or fewer fields'),
    (f'stamp,symbol\n0,"{SECRET}\n', 'a line is not CSV'),
    (f'stamp,symbol\n0,"{SECRET}"x\n', 'a line is not CSV'),
    (f'stamp,symbol\nnan,{SECRET}\n', 'a stamp is not a number'),
    (f'stamp,symbol\ninf,{SECRET}\n', 'a stamp is not a number'),
    (f'stamp,symbol\n,{SECRET}\n', 'a stamp is not a number'),
    (f'stamp,symbol\n1_0,{SECRET}\n', 'a stamp is not a number'),
    (f'stamp,symbol\n1e999,{SECRET}\n', 'after 2262'),
    (f'stamp,symbol\n1e99999999999999999999,{SECRET}\n', 'a stamp is not a number'),
    (f'stamp,symbol\n{SECRET},1\n', 'a stamp is not a number'),
    (f'stamp,symbol\n1,a\n0.999,{SECRET}\n', 'a stamp is smaller'),
    (f'stamp,symbol\n0,{SECRET}\xff\n'.encode('latin-1'), 'not UTF-8'),
])
def test_csv_that_cannot_be_read(tmp_path, content, reason):
    assert reason in failure(written(tmp_path, 'log.csv', content))


@pytest.mark.parametrize('content, reason', [
    ('', 'holds no symbols'),
    ('\n\n', 'holds no symbols'),
    (f'{{"stamp": 0, "symbol": "{SECRET}"}}', 'its last line has no line end'),
    (f'{{"stamp": 0, "symbol": "a"}}\n{{"stamp": 1, "symbol": "{SECRET}\n',
     'a line is not a JSON'),
    (f'["{SECRET}"]\n', 'a line is not a JSON object'),
    (f'"{SECRET}"\n', 'a line is not a JSON object'),
    (f'{{"stamp": 0, "symbol": "a", "symbol": "{SECRET}"}}\n', 'a line is not a JSON object'),
    ('[' * 100_000 + '\n', 'a line is not a JSON object'),
    (f'{{"stamp": 0, "state": "{SECRET}"}}\n', "a line needs the keys 'stamp' and 'symbol'"),
    (f'{{"stamp": NaN, "symbol": "{SECRET}"}}\n', 'a stamp is not a number'),
    (f'{{"stamp": -Infinity, "symbol": "{SECRET}"}}\n', 'a stamp is not a number'),
    (f'{{"stamp": "1", "symbol": "{SECRET}"}}\n', 'a stamp is not a number'),
    (f'{{"stamp": true, "symbol": "{SECRET}"}}\n', 'a stamp is not a number'),
    (f'{{"stamp": "{SECRET}", "symbol": 1}}\n', 'a stamp is not a number'),
    ('{"stamp": 0, "symbol": 1.5}\n', 'regions are discrete'),
    ('{"stamp": 0, "symbol": 1e3}\n', 'regions are discrete'),
    ('{"stamp": 0, "symbol": NaN}\n', 'regions are discrete'),
    (f'{{"stamp": 0, "symbol": ["{SECRET}"]}}\n', 'a list or an object'),
    (f'{{"stamp": 1, "symbol": 1}}\n{{"stamp": 0, "symbol": "{SECRET}"}}\n',
     'a stamp is smaller'),
    (f'{{"stamp": 0, "symbol": "{SECRET}\xff"}}\n'.encode('latin-1'), 'not UTF-8'),
])
def test_json_lines_that_cannot_be_read(tmp_path, content, reason):
    assert reason in failure(written(tmp_path, 'log.jsonl', content))


def test_the_reason_does_not_tell_where_a_symbol_is_wrong(tmp_path):
    path = written(tmp_path, 'log.jsonl',
                   '{"stamp": 0, "symbol": "a"}\n{"stamp": 1, "symbol": ["b"]}\n')
    with pytest.raises(LogError) as caught:
        read_log(path)
    assert caught.value.line == 2 and '2' not in caught.value.reason


def test_paths_that_are_no_log(tmp_path):
    assert failure(tmp_path / 'absent.csv') == 'there is no such file'
    assert 'its name does not end' in failure(written(tmp_path, 'log.txt', ''))
    assert 'no metadata.yaml' in failure(tmp_path)
    (tmp_path / 'folder.csv').mkdir()
    assert 'no metadata.yaml' in failure(tmp_path / 'folder.csv')


@given(st.lists(SYMBOLS, min_size=1, max_size=10), st.sampled_from(['csv', 'jsonl']),
       st.sampled_from([0.1, 1, 2.5, 1e-9, 3600.0]))
def test_a_word_comes_back(tmp_path, word, form, period):
    path = tmp_path / f'word.{form}'
    write_log(path, word, format=form, period=period)
    content = path.read_bytes()
    read = read_log(path)
    path.unlink()
    assert [symbol for _, symbol in read] == word
    assert [stamp for stamp, _ in read] == [i * round(period * 1e9) for i in range(len(word))]
    if form == 'csv':
        independent = list(csv.DictReader(io.StringIO(content.decode(), newline='')))
        assert list(independent[0]) == ['stamp', 'symbol']
    else:
        independent = [json.loads(line) for line in content.splitlines()]
    assert [row['symbol'] for row in independent] == word
    assert [float(row['stamp']) for row in independent] == pytest.approx(
        [i * period for i in range(len(word))])


@given(st.lists(st.tuples(st.integers(0, 10**6), SYMBOLS), min_size=1, max_size=8),
       st.sampled_from(['\n', '\r\n', '\r']), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_what_another_csv_writer_wrote(tmp_path, rows, terminator, quoting):
    # a csv.writer quotes only line ends of its own kind
    rows = sorted((stamp, re.sub('[\r\n]', ' ', symbol)) for stamp, symbol in rows)
    buffer = io.StringIO(newline='')
    writer = csv.writer(buffer, lineterminator=terminator, quoting=quoting)
    writer.writerows([('stamp', 'symbol'), *rows])
    path = written(tmp_path, 'log.csv', buffer.getvalue())
    assert read_log(path) == [(stamp * 10**9, symbol) for stamp, symbol in rows]


@given(st.binary(max_size=60), st.sampled_from(['csv', 'jsonl']))
def test_any_bytes_are_read_or_refused(tmp_path, noise, form):
    head = {'csv': b'stamp,symbol\n0,', 'jsonl': b'{"stamp": 0, "symbol": "'}[form]
    path = written(tmp_path, f'log.{form}', head + SECRET.encode() + noise + b'\n')
    try:
        read_log(path)
    except LogError as error:
        assert SECRET not in str(error) and error.__context__ is None


@pytest.mark.parametrize('form', ['csv', 'jsonl'])
def test_cut_off_anywhere(tmp_path, form):
    """A text that is cut off just behind a line cannot be told from a whole one; any other can."""
    word = ['dock', 'aisle_1', 'a,"b"', 'line\nbreak', 'dock']
    path = tmp_path / f'word.{form}'
    write_log(path, word, format=form)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        try:
            read = [symbol for _, symbol in read_log(path)]
        except LogError:
            continue
        assert whole[:size].endswith(b'\n') and read == word[:len(read)]


DIGITS = st.text('0123456789', min_size=1, max_size=12)


@given(st.sampled_from(['', '+', '-']), DIGITS,
       st.sampled_from(['', '.']) | DIGITS.map('.{}'.format))
def test_stamps_are_exact(sign, whole, rest):
    seconds = sign + whole + rest
    exact = Decimal(seconds) * 10**9
    rounded = int(exact.to_integral_value())
    assert stamps.from_text(seconds) == (rounded if abs(exact) <= stamps.LARGEST else None)
