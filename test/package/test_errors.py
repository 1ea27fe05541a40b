# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What errors say and carry, also to another process; the errors of libraries become ours."""
import copy
from fractions import Fraction
from pathlib import Path
import pickle

import pytest
from symdp_ros.errors import (BudgetError, ChainError, ConfigurationError, LogError, PrivacyError,
                              raising, SymdpError, UnknownSymbolError)


@pytest.mark.parametrize('place, text', [
    ({}, 'no end'), ({'path': 'a.yaml'}, 'a.yaml: no end'), ({'line': 7}, 'line 7: no end'),
    ({'path': Path('b') / 'c.csv', 'line': 1}, 'b/c.csv, line 1: no end'),
    ({'path': 'a\nb'}, r'a\nb: no end')])
def test_the_text_begins_with_the_place(place, text):
    error = SymdpError('no end', **place)
    assert str(error) == text and error.reason == 'no end'
    assert (error.path, error.line) == (place.get('path'), place.get('line'))


@pytest.mark.parametrize('error', [
    ChainError('no move', state='a', path='b', line=3), PrivacyError('no', setting='epsilon'),
    ConfigurationError('no', setting='base', path=Path('a')), UnknownSymbolError(),
    LogError('x' * 3000, path='y' * 3000), BudgetError(
        'spent', subject='r', log_id='l', limit=Fraction(1), spent=Fraction(2), cost=Fraction(3))],
    ids=lambda error: type(error).__name__)
@pytest.mark.parametrize('sent', [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_reach_another_process_with_their_facts(error, sent):
    received = sent(error)
    assert type(received) is type(error) and received.args == error.args
    assert vars(received) == vars(error) and str(received) == str(error)


def test_an_unknown_symbol_carries_nothing_that_names_it():
    with pytest.raises(TypeError):
        UnknownSymbolError('kitchen')
    assert set(vars(UnknownSymbolError())) == {'path', 'line', 'reason'}


@pytest.mark.parametrize('limit, spent, left', [
    (3, 1, 2), (3, 4, 0), (None, 1, None), (3, None, None)])
def test_what_is_left_is_at_least_0(limit, spent, left):
    assert BudgetError('', limit=limit, spent=spent).left == left


def test_an_error_of_a_library_becomes_ours_and_leaves_nothing_behind():
    with pytest.raises(ChainError) as found, raising(ChainError, 'no map', (OSError, ValueError)):
        raise FileNotFoundError(2, 'no such file', 'secret')
    assert str(found.value) == 'no map: no such file'
    assert found.value.__cause__ is found.value.__context__ is None


@pytest.mark.parametrize(('error', 'text'), [
    (ValueError('a number'), 'no log: a number'), (ValueError(), 'no log: ValueError')])
def test_the_reason_is_the_text_or_the_name_of_the_error(error, text):
    with pytest.raises(LogError) as found, raising(LogError, 'no log', ValueError):
        raise error
    assert str(found.value) == text


@pytest.mark.parametrize('error', [KeyError('other'), ChainError('ours')])
def test_other_errors_and_ours_pass(error):
    with pytest.raises(type(error)) as found, raising(LogError, 'no log', ValueError):
        raise error
    assert found.value is error
