# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The errors of libraries that become ours."""
import pytest
from symdp_ros.core.errors import ChainError, LogError, raising


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
