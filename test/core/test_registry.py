# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The names of all mechanisms, and what they cannot be given."""
import pytest
from refusals import refused
from symdp_ros import ConfigurationError
from symdp_ros.core.registry import check_reports, CHOICES, name_of, WHOLE_WORD


@pytest.mark.parametrize('settings, name', [
    ({'selection': 'exponential'}, 'exponential'),
    ({'selection': 'exponential', 'base': 'counting'}, 'exponential, counting'),
    ({'selection': 'causal', 'policy': 'guided'}, 'causal, guided'),
    ({'selection': 'live', 'policy': 'adaptive', 'delay': 3}, 'live, adaptive, delay 3')])
def test_names(settings, name):
    assert name_of(**settings) == name


def test_what_looks_at_the_whole_word():
    assert set(CHOICES) - set(WHOLE_WORD) == {'causal, guided'}


def test_a_thousand_reports_are_possible():
    check_reports('adaptive', 1000)
    with refused(ConfigurationError, setting='reports'):
        check_reports('adaptive', 1001)
