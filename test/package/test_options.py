# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options: the values that they take, and the choices that other modules define."""
import pytest
from refusals import refused
from symdp_ros import ConfigurationError, options as declared
from symdp_ros.core.registry import BASES, POLICIES, SELECTIONS
from symdp_ros.ledger.budgets import ACCOUNTINGS, MOST_DELTA
from symdp_ros.logs import FORMATS
from symdp_ros.options import ADJACENCY, EPSILON, INITIAL_STATE, Option, SELF_LOOPS, SYMBOL_MAP
from symdp_ros.release.settings import CHARGES

NUMBER, COUNT, TEXT, LIST, FLAG = EPSILON, ADJACENCY, INITIAL_STATE, SYMBOL_MAP, SELF_LOOPS


@pytest.mark.parametrize('option, given, taken', [
    (NUMBER, 2, 2.0), (NUMBER, 0.5, 0.5), (NUMBER, 0, 0.0), (COUNT, 3, 3), (TEXT, 'a', 'a'),
    (TEXT, 7, '7'), (LIST, ['a=b'], ['a=b']), (LIST, [], []), (FLAG, True, True)])
def test_accepted(option, given, taken):
    value = option.check(given)
    assert value == taken and type(value) is type(taken)


@pytest.mark.parametrize('option, given', [
    (NUMBER, float('nan')), (NUMBER, float('inf')), (NUMBER, -0.1), (NUMBER, True),
    (NUMBER, '1'), (NUMBER, [1.0]), (COUNT, -1), (COUNT, 1.0), (COUNT, True), (COUNT, '1'),
    (TEXT, True), (TEXT, 1.5), (TEXT, ['a']), (LIST, 'a=b'), (LIST, [1]), (LIST, b'a'),
    (FLAG, 1), (FLAG, 'true')])
def test_refused(option, given):
    with refused(ConfigurationError, setting=option.name):
        option.check(given)


@pytest.mark.parametrize('option, text, value', [
    (NUMBER, '2', 2.0), (NUMBER, '1e-3', 0.001), (COUNT, '3', 3), (TEXT, '7', '7'),
    (FLAG, 'True', True), (FLAG, 'false', False), (LIST, '[a, "7"]', ['a', '7'])])
def test_parsed(option, text, value):
    assert option.parse(text) == value and type(option.parse(text)) is type(value)


@pytest.mark.parametrize('option, text, problem', [
    (NUMBER, 'abc', "epsilon is the string 'abc': it must be a number"),
    (NUMBER, '-1', 'epsilon is -1.0: it must be at least 0'),
    (COUNT, '2.5', "adjacency is the string '2.5': it must be an integer"),
    (FLAG, 'maybe', 'it must be true or false'),
    (LIST, '[2026-13-45, 1]', 'it must be a list of strings'), (LIST, 'a', 'a list of strings'),
    (LIST, '!!timestamp foo', 'a list of strings'), (LIST, '[', 'a list of strings'),
    (declared.POLICY, 'x', "policy is 'x': it must be one of paper, guided, adaptive"),
    (declared.POLICY, 'planned', "policy is planned, which this version no longer has"),
    (declared.MECHANISM, 'permute_and_flip', 'take exponential'),
    (declared.OUTPUTS, '[string, x]', "outputs names 'x': each must be one of string, pose, ")])
def test_not_parsed(option, text, problem):
    with refused(ConfigurationError, problem, setting=option.name):
        option.parse(text)


@pytest.mark.parametrize('given, sentence', [
    ({'period': 1.0}, 'period has no effect: it needs sampling: period'),
    ({'hysteresis': 0.5}, 'hysteresis has no effect: it needs input: pose'),
    ({'regions_file': 'a'}, 'regions_file has no effect: it needs input: pose, or outputs with'),
    ({'output_template': '{}'}, 'output_template has no effect: it needs outputs: [custom]'),
    ({'no_region': ['x'], 'input': 'pose'}, 'no_region has no effect: it needs input: region'),
    ({'epsilon': 20.5}, 'epsilon is 20.5: others can be practically sure of the truth'),
    ({'period': 2.0, 'sampling': 'period'}, None), ({'hysteresis': 1.0, 'input': 'pose'}, None),
    ({'regions_file': 'a', 'outputs': ['pose']}, None), ({'epsilon': 8.0}, None)])
def test_what_is_probably_a_mistake(given, sentence):
    values = {option.name: option.default for option in declared.PARAMETERS['privatizer']}
    found = declared.warnings_of(values | given, given)
    assert [sentence in text for text in found] == ([True] if sentence else [])


@pytest.mark.parametrize('node', declared.PARAMETERS)
def test_defaults_are_no_mistake(node):
    values = {option.name: option.default for option in declared.PARAMETERS[node]}
    assert declared.warnings_of(values, ()) == []
    assert node == 'privatizer' or declared.warnings_of(values, ['period', 'x']) == (
        [] if 'sampling' not in values else ['period has no effect: it needs sampling: period'])


def test_log_levels_are_those_of_ros():
    level, = (option for option in declared.LAUNCH if option.name == 'log_level')
    assert level.parse('warn') == 'warn'
    with refused(ConfigurationError, 'one of debug, info, warn, error, fatal',
                 setting='log_level'):
        level.parse('loud')


def test_choices_are_those_of_the_modules_that_implement_them():
    assert set(declared.MECHANISM.choices) == {*SELECTIONS, 'auto'}
    assert declared.BASE.choices == (*BASES, 'auto')
    assert declared.POLICY.choices == (*POLICIES, 'auto')
    assert declared.FORMAT.choices == FORMATS and declared.CHARGE.choices == CHARGES
    assert declared.ACCOUNTING.choices == ACCOUNTINGS and declared.DELTA.most == MOST_DELTA


def test_every_default_is_a_value_of_its_option():
    options = [*vars(declared).values(), *sum(declared.PARAMETERS.values(), ())]
    for option in options:
        if isinstance(option, Option) and option.default is not None and (
                option.default != '' or option.choices):
            assert option.check(option.default) == option.default, option.name
