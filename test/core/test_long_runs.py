# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fuzzers' own part: seeds that replay a case, and the rows of the table."""
from long_runs import fuzz, merged
import pytest


@pytest.fixture(autouse=True)
def figures(monkeypatch, tmp_path):
    monkeypatch.setenv('SYMDP_FIGURES', str(tmp_path / 'figures.md'))
    monkeypatch.setenv('SYMDP_TEST_SEED', '7')
    return tmp_path / 'figures.md'


def test_a_failing_case_says_how_to_replay_it(figures, monkeypatch):
    drawn = []

    def case(random):
        drawn.append(random.random())
        if len(drawn) == 3:
            raise KeyError('odd')

    with pytest.raises(AssertionError, match="case 3 failed: KeyError: 'odd'\n.*TEST_SEED=9 "):
        fuzz(case, seconds=60)
    assert figures.read_text().startswith('| test/core/test_long_runs.py::test_a_failing_case')
    assert '| 3 cases | failed: SYMDP_TEST_SEED=9 ' in figures.read_text()
    monkeypatch.setenv('SYMDP_TEST_SEED', '9')
    again = []
    fuzz(lambda random: again.append(random.random()), seconds=0)
    assert again == drawn[2:]


def test_the_row_of_a_fuzzer_that_found_nothing(figures):
    fuzz(lambda random: None, seconds=0)
    assert figures.read_text() == (
        '| test/core/test_long_runs.py::test_the_row_of_a_fuzzer_that_found_nothing '
        '| 1 cases in 0 s, from seed 7 | no failure |\n')


def test_rows_are_put_into_the_table_of_a_page():
    page = 'Text.\n\n| test | tried | result |\n|---|---|---|\n| test/b | 1 | old |\n\nMore.\n'
    figures = ('| test | tried | result |\n|---|---|---|\n'
               '| test/c | 2 | new |\n| test/b | 3 | new |\n')
    assert merged(page, figures) == (
        'Text.\n\n| test | tried | result |\n|---|---|---|\n| test/b | 3 | new |\n'
        '| test/c | 2 | new |\n\nMore.\n')
    assert merged(merged(page, figures), '') == merged(page, figures)
