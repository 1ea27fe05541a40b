# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps of text logs: ISO 8601, numbers in other units, and other separators of CSV."""
from datetime import datetime, timedelta, timezone
import re

from hypothesis import given
from hypothesis import strategies as st
from patrol_bags import hand_on, patrol, string, write_bag
import pytest
from refusals import refused
from shared_data import shared_case
from symdp_ros import LogError
from symdp_ros.cli.main import main
from symdp_ros.logs import read_log
from symdp_ros.words.stamps import from_column, LARGEST, OUT_OF_RANGE, UNITS

SECOND = 10**9
DAY = 1_700_000_000  # seconds since 1970


def column(*texts, unit=''):
    return from_column([*enumerate(texts, 2)], unit)


def read(folder, name, *lines, **options):
    path = folder / name
    path.write_text('\n'.join(lines) + '\n')
    return read_log(path, **options)


@pytest.mark.parametrize('text, seconds, rest', [
    ('2025-11-10T17:15:41.353972Z', 1762794941, 353_972_000),
    ('2025-11-10T17:15:41Z', 1762794941, 0),
    ('2025-11-10t17:15:41,5z', 1762794941, 500_000_000),
    ('2025-11-10T18:15:41+01:00', 1762794941, 0),
    ('2025-11-10T11:45:41.1-0530', 1762794941, 100_000_000),
    ('2008-11-19 22:50:40.000003', 1227135040, 3_000),
    ('2025-11-10 17:15:41.123456789', 1762794941, 123_456_789),
    ('2025-11-10 17:15:41.12345678999', 1762794941, 123_456_789),
    ('1970-01-01T00:00:00', 0, 0),
    ('1969-12-31T23:59:59.5', -1, 500_000_000),
    ('2000-02-29T00:00:00Z', 951782400, 0),
])
def test_iso_8601(text, seconds, rest):
    assert column(text) == [seconds * SECOND + rest]


@given(st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), st.integers(-23 * 60, 23 * 60))
def test_iso_8601_is_as_python_has_it(when, minutes):
    zoned = when.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    since = zoned - datetime(1970, 1, 1, tzinfo=timezone.utc)
    expected = (since // timedelta(microseconds=1)) * 1000
    assert column(zoned.isoformat()) == column(zoned.isoformat(' ')) == [expected]


@pytest.mark.parametrize('texts, line, said', [
    (['2025-13-10T17:15:41Z'], 2, 'no time that there is'),
    (['2025-11-10T17:15:60Z'], 2, 'no time that there is'),
    (['2025-11-10T17:15:41Z', '2025-11-10T17:15:42'], 3, 'others name none'),
    (['2025-11-10T17:15:41Z', '5'], 3, 'as that of the first line is'),
    (['5', '2025-11-10T17:15:41Z'], 3, 'not a number of seconds'),
    (['2025-11-10'], 2, 'such as 2025-11-10T17:15:41.35Z'),
    (['2025-11-10T17:15:41Z', '2025-11-10T17:15:40Z'], 3, 'a stamp is smaller'),
    (['٢٠٢٥-11-10T17:15:41Z'], 2, 'not a number of seconds'),
    (['0', str(10**13)], 3, '--stamp-unit'),
    ([str(10**30)], 2, 'after 2262-04-11'),
])
def test_what_is_no_stamp(texts, line, said):
    with refused(LogError, said, line=line):
        column(*texts)


@pytest.mark.parametrize('name, lines', [
    ('a.csv', ['stamp,symbol', '2300-01-01T00:00:00Z,a']),
    ('a.csv', ['stamp,symbol', '1600-01-01T00:00:00,a']),
    ('a.csv', ['stamp,symbol', '1.0413792e10,a']), ('a.csv', ['stamp,symbol', f'{2**63},a']),
    ('a.jsonl', ['{"stamp": "2300-01-01T00:00:00Z", "symbol": "a"}']),
    ('a.jsonl', ['{"stamp": 10413792000.5, "symbol": "a"}'])])
def test_text_logs_say_of_stamps_after_2262_what_all_readers_say(tmp_path, name, lines):
    """Of archives, test/release/test_datasets.py."""
    with refused(LogError, OUT_OF_RANGE):
        read(tmp_path, name, *lines)


def test_recordings_say_of_stamps_after_2262_what_all_readers_say(tmp_path):
    late = write_bag(tmp_path / 'late', 'mcap', [('/region', 2**63 - 1, string('a')),
                                                 ('/region', 2**63, string('b'))])
    with refused(LogError, OUT_OF_RANGE):
        read_log(late, topic='region')
    kept = write_bag(tmp_path / 'kept', 'mcap', [
        (topic, 2**63 if topic == '/battery_state' else stamp, message)
        for topic, stamp, message in patrol()])
    with refused(LogError, OUT_OF_RANGE):
        hand_on(kept, tmp_path / 'private', '/battery_state')


@pytest.mark.parametrize('unit', UNITS)
def test_dates_in_every_unit_are_recognised(unit):
    per_second = 10**(9 - UNITS[unit])
    numbers = [DAY * per_second, DAY * per_second + 1]
    expected = [number * 10**UNITS[unit] for number in numbers]
    assert column(*map(str, numbers)) == expected == column(*map(str, numbers), unit=unit)


@pytest.mark.parametrize('year', [1990, 2099])
@pytest.mark.parametrize('unit', ['ms', 'us', 'ns'])
def test_no_number_is_a_date_in_two_units(unit, year):
    date = int(datetime(year, 6, 1, tzinfo=timezone.utc).timestamp())
    text = str(date * 10**(9 - UNITS[unit]))
    assert column(text) == [date * SECOND]
    for other in {'ms', 'us', 'ns'} - {unit}:
        try:
            assert abs(column(text, unit=other)[0] - date * SECOND) > SECOND * 10**8
        except LogError:
            pass  # it does not fit


def test_numbers_that_seconds_can_hold_are_seconds():
    largest = str(LARGEST // SECOND)
    assert column('0', '1000', largest) == [0, 1000 * SECOND, LARGEST // SECOND * SECOND]
    assert column('0', '1000', unit='ms') == [0, SECOND]
    assert column('1.5', '1.25e1', unit='us') == [1_500, 12_500]
    with refused(LogError, 'or its unit (--stamp-unit)', line=2):
        column(str(10**30), unit='ns')


@pytest.mark.parametrize('lines', [
    ('stamp, symbol', '1, a', '2,b'), ('stamp;symbol', '1;a', '2;b'),
    ('', 'stamp;symbol', '1;a', '2;b'), ('stamp;symbol;"x\ny"', '1;a;', '2;b;'),
    ('stamp; symbol', '1; a', '2; b'), ('stamp\tsymbol', '1\ta', '2\tb'),
    ('x;stamp;symbol', 'a,b;1;a', ';2;b'), ('"stamp", "symbol"', '1, "a"', '2, "b"'),
])
def test_separators(tmp_path, lines):
    assert read(tmp_path, 'log.csv', *lines) == [(SECOND, 'a'), (2 * SECOND, 'b')]


def test_a_comma_separates_where_the_header_says_so(tmp_path):
    assert read(tmp_path, 'log.csv', 'stamp,symbol', '1,a;b', '2, c') == [
        (SECOND, 'a;b'), (2 * SECOND, ' c')]


@pytest.mark.parametrize('name, first, rest', [
    ('log.csv', 'stamp,symbol', '{},a'), ('log.jsonl', '', '{{"stamp": {}, "symbol": "a"}}')])
def test_units_and_times_in_both_formats(tmp_path, name, first, rest):
    assert read(tmp_path, name, first, rest.format(DAY * 1000)) == [(DAY * SECOND, 'a')]
    assert read(tmp_path, name, first, rest.format(5), stamp_unit='ns') == [(5, 'a')]
    text = '2023-11-14T22:13:20Z'
    assert read(tmp_path, name, first, rest.format(
        text if name.endswith('csv') else f'"{text}"')) == [(DAY * SECOND, 'a')]


@pytest.mark.parametrize('name, keys, expected', [
    ('agv.jsonl', {'stamp_key': 'timestamp', 'symbol_key': 'lastNodeId'},
     [(1762794941353972000, 'a'), (1762794942353972000, 'b')]),
    ('spaces.csv', {}, [(1227135040000003000, 'a'), (1227135105000003000, 'b')])])
def test_the_case_of_iso_stamps(name, keys, expected):
    assert read_log(shared_case('25-iso-stamps', name), **keys) == expected


def test_a_log_of_vda_5050_is_released(tmp_path, monkeypatch, capsys):
    (tmp_path / 'abc.chain.yaml').write_text('initial_state: a\nsymbols: [a, b, c]\n')
    (tmp_path / 'agv.jsonl').write_text(''.join(
        f'{{"timestamp": "2025-11-10T17:15:4{i}.35Z", "lastNodeId": "{symbol}"}}\n'
        for i, symbol in enumerate('abc')))
    monkeypatch.chdir(tmp_path)
    arguments = ['release', 'agv.jsonl', '--stamp-key', 'timestamp', '--symbol-key', 'lastNodeId',
                 '--map', 'abc.chain.yaml', '--epsilon', '1', '--adjacency', '1', '-o', 'o',
                 '--ledger', 'l', '--subject', 'r']
    assert main([*arguments, '--dry-run']) == 0, capsys.readouterr()
    assert main(arguments) == 0, capsys.readouterr()
    assert len(read_log(*(tmp_path / 'o').glob('*.csv'), stamp_key='timestamp',
                        symbol_key='lastNodeId')) == 3


def test_the_unit_can_be_given_to_symdp(tmp_path, monkeypatch, capsys):
    (tmp_path / 'abc.chain.yaml').write_text('initial_state: a\nsymbols: [a, b, c]\n')
    (tmp_path / 'log.csv').write_text('stamp,symbol\n0,a\n20000000000,b\n40000000000,b\n')
    monkeypatch.chdir(tmp_path)
    arguments = ['release', 'log.csv', '--map', 'abc.chain.yaml', '--epsilon', '1', '-o', 'o',
                 '--protect', '30', '--period', '20', '--self-loops', '--ledger', 'l', '--subject',
                 'r', '--dry-run']
    assert main(arguments) == 1
    assert '--stamp-unit' in capsys.readouterr().err
    assert main([*arguments, '--stamp-unit', 'ns']) == 0
    assert re.search(r'log.csv +3 +3 +0 ', capsys.readouterr().err)
