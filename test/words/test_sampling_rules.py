# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which settings of sampling go together."""
import pytest
from refusals import refused
from symdp_ros import Chain, ConfigurationError
from symdp_ros.words.rules import check_sampling, LOG_UNKNOWN_SYMBOL

STAYS = Chain({'a': ['a', 'b'], 'b': ['a', 'b']}, 'a')
MOVES = Chain({'a': ['b'], 'b': ['a', 'b']}, 'a')
SETTINGS = {'sampling': 'period', 'input_timeout': 1.0, 'unknown_symbol': 'uniform'}


@pytest.mark.parametrize('chain, changed', [
    (STAYS, {}), (None, {}), (MOVES, {'sampling': 'change', 'input_timeout': 0.0}),
    (STAYS, {'unknown_symbol': 'hold', 'unknown_symbols': LOG_UNKNOWN_SYMBOL})])
def test_settings_that_agree(chain, changed):
    check_sampling(chain, **SETTINGS | changed)


@pytest.mark.parametrize('chain, changed, setting, sentence', [
    (STAYS, {'sampling': 'change'}, 'input_timeout', 'needs sampling: period'),
    (STAYS, {'sampling': 'message', 'input_timeout': float('nan')}, 'input_timeout', ''),
    (STAYS, {'sampling': 'often'}, 'sampling', 'must be one of message, change, period'),
    (STAYS, {'unknown_symbol': 'hold'}, 'unknown_symbol', 'must be one of uniform, drop'),
    (None, {'unknown_symbol': 'drop'}, 'unknown_symbol', 'contradict each other'),
    (MOVES, {}, 'self_loops', "1 of its states cannot, such as 'a': set self_loops: true")])
def test_settings_that_do_not_agree(chain, changed, setting, sentence):
    with refused(ConfigurationError, sentence, setting=setting):
        check_sampling(chain, **SETTINGS | changed)
