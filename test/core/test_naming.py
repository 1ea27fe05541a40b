# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which states a message shows to one who has to name one."""
import pytest
from refusals import refused
from symdp_ros import Chain, ChainError, ConfigurationError
from symdp_ros.core.naming import instead_of, one_of
from symdp_ros.messages.symbols import symbol_table

MANY = [f'L1/{number}' for number in range(145)] + ['Lobby', 'campus_5']


@pytest.mark.parametrize('states, text', [
    (['dock'], "its only state, 'dock'"),
    (['dock', 'hall'], "one of its 2 states, 'dock' or 'hall'"),
    (['a', 'b', 'c'], "one of its 3 states, 'a', 'b' or 'c'"),
    (MANY, "one of its 147 states, such as 'L1/0', 'L1/73' or 'campus_5' (`symdp check FILE "
           '--states` lists all)'),
    (['a\x1b[31m', 'b' * 100], "one of its 2 states, 'a\\x1b[31m' or '" + 'b' * 60
     + "… (cut: 100 characters)'"),
])
def test_some_states_are_named(states, text):
    assert one_of(states) == text


@pytest.mark.parametrize('wrong, text', [
    ('lobby', "did you mean 'Lobby'?"), ('LOBBY', "did you mean 'Lobby'?"),
    ('campus5', "did you mean 'campus_5'?"),
    ('campus' * 10_000, 'name one of its 147 states, such as '),
    ('', 'name one of its 147 states, such as '),
])
def test_what_may_have_been_meant(wrong, text):
    assert instead_of(wrong, MANY).startswith(text)


def test_a_chain_says_it():
    with refused(ChainError, "did you mean 'hall'", state='Hall'):
        Chain({'dock': ['hall'], 'hall': ['dock']}, 'Hall')


def test_a_mistyped_state_of_a_symbol_map():
    with refused(ConfigurationError, "did you mean 'hall'", setting='symbol_map'):
        symbol_table(['hall', 'dock'], {'1': 'Hall'})
