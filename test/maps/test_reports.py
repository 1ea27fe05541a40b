# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reports that are seconds apart: k of a visit, and the chain between reports."""
import pytest
from refusals import refused
from symdp_ros import ChainError, ConfigurationError, Privacy, read_chain
from symdp_ros.maps.graph import TransitionGraph
from symdp_ros.maps.reports import adjacency_of, certainty, protection, Reports

ROWS = {'a': ['b'], 'b': ['a', 'c'], 'c': ['b']}


def graph(**more):
    return TransitionGraph(ROWS, 'a', **more).with_self_loops()


@pytest.mark.parametrize('protect, period, k', [
    (30, 1, 31), (30, 15, 3), (30, 31, 1), (0.6, 0.2, 4), (0.3, 0.1, 4), (29.9, 15, 2),
    (1e-3, 1, 1), (0, 5, 1)])
def test_how_many_reports_a_visit_touches(protect, period, k):
    assert adjacency_of(protect, period) == k


def test_each_report_is_a_step_of_a_map_without_tick():
    assert Reports(15.0).chain(graph()) == graph().chain()
    assert Reports(15.0).chain(graph(tick=15.0)) == graph().chain()


def test_reports_several_steps_apart():
    found = Reports(15.0, moves=3).chain(graph())
    assert found == graph().chain().every(15, 3)
    assert Reports(3.0, moves=2).chain(graph(tick=0.5)) == graph().chain().every(6, 2)
    assert Reports(0.6, moves=2).chain(graph(tick=0.2)) == graph().chain().every(3, 2)


def test_how_long_the_robot_stays():
    found = Reports(1.0, stay=20.0).chain(graph())
    assert found.probabilities('b') == pytest.approx({'b': 0.95, 'a': 0.025, 'c': 0.025})
    assert found.probabilities('a') == pytest.approx({'a': 0.95, 'b': 0.05})
    # Never less than a uniform row gives it; and where the map has no staying, it has now.
    assert Reports(1.0, stay=1.1).chain(graph()).probabilities('a') == {'a': 0.5, 'b': 0.5}
    assert Reports(1.0, stay=20.0).chain(TransitionGraph(ROWS, 'a')) == found
    slow = Reports(15.0, moves=3, stay=60.0).chain(graph())
    assert slow == Reports(1.0, stay=60.0).chain(graph()).every(15, 3)
    modes = TransitionGraph({'idle': [], 'busy': []}, 'idle', complete=True)
    found = Reports(1.0, stay=4.0).chain(modes)
    assert found.probabilities('idle') == {'busy': 0.25, 'idle': 0.75}


def test_a_map_that_knows_how_long_the_robot_stays():
    named = TransitionGraph({'a': {'a': 0.9, 'b': 0.1}, 'b': ['a', 'b']}, 'a', 'map.yaml',
                            lines={'a': 3})
    with refused(ChainError, 'leave stay out', path='map.yaml', line=3, state='a'):
        Reports(1.0, stay=20.0).chain(named)


@pytest.mark.parametrize('reports, more, setting, said', [
    (Reports(15.0), {'tick': 1.0}, 'period', 'give the same period, or moves'),
    (Reports(1.5, moves=2), {}, 'period', 'file does not give its tick'),
    (Reports(1.5, moves=2), {'tick': 1.0}, 'period', 'no whole number of steps'),
    (Reports(15.0, moves=2), {'tick': 15.0, 'moves': 3}, 'moves', 'must be 3, or left out'),
    (Reports(30.0), {'tick': 15.0, 'moves': 3}, 'period', 'give the same period'),
    (Reports(0.5, moves=2), {'tick': 1.0}, 'period', 'no whole number'),
])
def test_steps_and_reports_that_do_not_fit(reports, more, setting, said):
    with refused(ConfigurationError, said, setting=setting):
        reports.chain(graph(**more))


def test_a_chain_of_reports_is_not_made_of_reports_again():
    made = graph(tick=15.0, moves=3)
    expected = made.chain()
    assert Reports(15.0).chain(made) == Reports(15.0, moves=3).chain(made) == expected


def test_what_is_protected():
    said = protection(30.0, Privacy(2.0))
    assert said == (
        'protected: where the robot was during any 30 s. Take two routes that differ only during '
        'those 30 s. What others see is at most e^2 times as likely for one as for the other')
    assert protection(30.0, Privacy(2.0, 1, {'z': ['a']})).startswith(
        'protected: where the robot was in its zone during any 30 s. Take two routes that pass '
        'through the same zones at the same times, and differ only during those 30 s. ')


CHAIN_FILE = 'initial_state: a\ntransitions:\n  a: [a, b]\n  b: [b, a]\n'


def test_a_chain_file_says_what_its_step_is(tmp_path):
    file = tmp_path / 'two.yaml'
    file.write_text(CHAIN_FILE + 'tick: 0.5\n')
    assert read_chain(file, reports=Reports(1.5, moves=1)) == read_chain(file).every(3, 1)
    file.write_text(CHAIN_FILE + 'tick: 15\nmoves: 2\n')
    assert read_chain(file, reports=Reports(15.0)) == read_chain(file)


@pytest.mark.parametrize('text, said', [
    ('tick: 0', 'tick must be'), ('tick: -1', 'tick must be'), ('tick: .inf', 'tick must be'),
    ('tick: .nan', 'tick must be'), ('tick: soon', 'tick must be'), ("tick: '1'", 'tick must be'),
    ('tick: [1]', 'tick must be'), ('tick: 1\nmoves: 0', 'moves must be'),
    ('tick: 1\nmoves: 1.5', 'moves must be'), ('tick: 1\nmoves: .inf', 'moves must be'),
    ('moves: 2', 'give tick')])
def test_a_chain_file_that_says_it_wrongly(tmp_path, text, said):
    file = tmp_path / 'two.yaml'
    file.write_text(CHAIN_FILE + text + '\n')
    with refused(ChainError, said, path=file, line=5 + text.count('\n')):
        read_chain(file)


@pytest.mark.parametrize('epsilon, sure', [(0.0, 'at most 50 %'), (1.0986123, 'at most 75 %'),
                                           (5.0, 'at most 99.3 %'), (20.0, 'practically')])
def test_what_epsilon_means(epsilon, sure):
    """From even odds: ε = ln 3 makes them 3 : 1."""
    assert f' can then be {sure} sure of one' in certainty(epsilon)
