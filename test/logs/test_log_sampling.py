# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From a log to its words: each table is worked out by hand."""
import pytest
from refusals import refused
from symdp_ros.errors import ConfigurationError
from symdp_ros.logs import LogError
from symdp_ros.messages.symbols import symbol_table
from symdp_ros.words import sampling
from symdp_ros.words.sampling_settings import SamplingSettings

STATES = ('a', 'b', 'c')
S = 10**9


def log(text):
    """Return a log of one value a second: letters; '-' is a region that is not known."""
    return [(i * S, 'none' if value == '-' else value) for i, value in enumerate(text)]


def sample(log, *, symbol_map={}, no_region=('none', ''), **settings):
    return sampling.sample(log, symbol_table(STATES, symbol_map, no_region),
                           SamplingSettings(**settings))


def show(words):
    return [''.join('-' if symbol is None else symbol for symbol in word) for word in words]


@pytest.mark.parametrize('values, unknown_symbol, message, change', [
    ('aabcca', 'uniform', ['aabcca'], ['abca']),
    ('aabcca', 'drop', ['aabcca'], ['abca']),
    ('aabcca', 'split', ['aabcca'], ['abca']),
    ('aabcca', 'hold', ['aabcca'], ['abca']),
    ('-aa--ab-', 'uniform', ['-aa--ab-'], ['-a-ab-']),
    ('-aa--ab-', 'drop', ['aaab'], ['ab']),
    ('-aa--ab-', 'split', ['aa', 'ab'], ['a', 'ab']),
    ('-aa--ab-', 'hold', ['-aaaaabb'], ['-ab']),
    ('---', 'uniform', ['---'], ['-']),
    ('---', 'drop', [], []),
    ('---', 'split', [], []),
    ('---', 'hold', ['---'], ['-']),
    ('', 'uniform', [], []),
    ('', 'hold', [], []),
    ('x?b', 'uniform', ['--b'], ['-b']),  # neither x nor ? is a state
])
def test_message_and_change(values, unknown_symbol, message, change):
    for rule, expected in (('message', message), ('change', change)):
        words = sample(log(values), rule=rule, unknown_symbol=unknown_symbol)
        assert show(words) == expected


@pytest.mark.parametrize('entries, period, timeout, expected', [
    # ticks at the first stamp, and on to the last one
    ([(0, 'a'), (10, 'b')], 1, 0, 'aaaaaaaaaab'),
    ([(0, 'a'), (10, 'b')], 3, 0, 'aaaa'),
    ([(7, 'a'), (8, 'b'), (9.5, 'c')], 1, 0, 'abb'),
    ([(0, 'a')], 5, 0, 'a'),
    ([(0, 'a'), (0, 'b')], 5, 0, 'b'),          # the later of two at one stamp
    ([(0, 'a'), (0.4, 'b'), (0.9, 'c'), (2, 'a')], 1, 0, 'aca'),  # b is seen by no tick
    ([(0, 'a'), (2, 'none'), (4, 'b')], 1, 0, 'aa--b'),
    ([(0, 'none'), (2, 'a'), (3, 'a')], 1, 0, '--aa'),
    ([(0, 'a'), (5, 'b')], 1, 2, 'aaa--b'),     # at 2 s the input is just 2 s old
    ([(0, 'a'), (5, 'b')], 1, 1.5, 'aa---b'),
    ([(-2, 'a'), (0, 'b')], 1, 0, 'aab'),
])
def test_period(entries, period, timeout, expected):
    entries = [(round(stamp * S), value) for stamp, value in entries]
    words = sample(entries, rule='period', period=period, input_timeout=timeout)
    assert show(words) == [expected]


@pytest.mark.parametrize('unknown_symbol, expected', [
    ('uniform', ['-aa-b']), ('split', ['aa', 'b']), ('hold', ['-aaab'])])
def test_unknown_ticks(unknown_symbol, expected):
    entries = [(0, 'none'), (S, 'a'), (4 * S, 'b')]
    assert show(sample(entries, rule='period', period=1, input_timeout=1,
                       unknown_symbol=unknown_symbol)) == expected


def test_dropped_ticks_are_refused():
    with refused(ConfigurationError, setting='unknown_symbol'):
        sample([(0, 'a')], rule='period', period=1, unknown_symbol='drop')


def test_ticks_do_not_drift():
    last = 1_585_866_235 * S
    entries = [(last - 86_400 * S, 'a'), (last - 1, 'b'), (last, 'c')]
    word, = sample(entries, rule='period', period=0.1)
    assert len(word) == 864_001 and word[-2:] == ['a', 'c']


def test_a_symbol_map_takes_precedence_and_null_is_unknown():
    entries = [(0, '1'), (1, 'true'), (2, 'b'), (3, None), (4, 'c')]
    assert show(sample(entries, symbol_map={'1': 'a', 'true': 'b', 'b': 'c'})) == ['abc-c']


def test_values_that_mean_no_region():
    assert show(sample([(0, 'lost'), (1, 'a'), (2, '')], no_region=['lost'])) == ['-a-']


@pytest.mark.parametrize('settings', [
    {'rule': 'often'},
    {'unknown_symbol': 'guess'},
    *({'rule': 'period', 'period': bad}
      for bad in (0, -1, float('nan'), float('inf'), True, '1', 1e-10, 1e300)),
    *({'input_timeout': bad} for bad in (-1, float('nan'), float('inf'), None)),
    {'input_timeout': 1.0},
    {'input_timeout': 1.0, 'rule': 'change'},
    {'symbol_map': {'1': 'no state'}},
    {'no_region': ['a']},
    {'no_region': ['1'], 'symbol_map': {'1': 'a'}},
])
def test_settings_that_are_not_valid(settings):
    with pytest.raises(ConfigurationError):
        sample(log('ab'), **settings)


def test_a_wrong_stamp_does_not_fill_the_memory():
    with refused(LogError, '10,000,000 periods'):
        sample([(0, 'a'), (1_585_866_235 * S, 'b')], rule='period', period=1)
