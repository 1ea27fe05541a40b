# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/evidence/tables.md: its tables come out again."""
from pathlib import Path

import pytest
from studies import tables
from studies.belief import belief_table
from symdp_ros.core.registry import POLICIES, WHOLE_WORD

PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'evidence' / 'tables.md'
TEXT = PAGE.read_text(encoding='utf-8')


def section(title):
    """Return the tables of a section, from the first row on, or from 'Policy …' on."""
    _, _, rest = TEXT.partition(f'\n## {title}:')
    text = rest.partition('\n## ')[0].strip()
    starts = (text.find(mark) for mark in ('\n| ', '\nPolicy '))
    return text[min(start for start in starts if start > 0) + 1:]


def cells(table):
    return [[cell.strip() for cell in line.split('|')[1:-1]]
            for line in table.splitlines() if line.startswith('|')]


def test_the_audit(monkeypatch):
    """But for the longest words, made anew."""
    head, _, *rows = cells(section('Audit'))
    assert len(rows) == (len(POLICIES) + len(WHOLE_WORD)) * len(tables.AUDITED)
    monkeypatch.setattr(tables, 'AUDITED', tables.AUDITED[:-2])
    assert section('Audit').startswith(tables.audit_table())
    for row in (dict(zip(head, cells_, strict=True)) for cells_ in rows):
        assert row['holds'] == 'yes' and 0 < float(row['worst loss']) <= float(row['ε']) + 1e-6


@pytest.mark.parametrize('policy, epsilon', [('guided', 2.0), ('planned', 3.0)])
def test_belief(policy, epsilon):
    table = section('Belief').partition(f'Policy {policy}:\n\n')[2].partition('\n\n')[0]
    found = belief_table({'depot': tables.depot()}, [epsilon], policy=policy)
    assert cells(found)[2] in cells(table) and cells(found)[0] == cells(table)[0]


def test_belief_saves_a_third():
    rows = [row for row in cells(section('Belief')) if row[0].startswith('depot')]
    epsilons, policies = tables.BELIEVED
    assert [float(row[1]) for row in rows] == [*epsilons] * len(policies)
    for _, epsilon, private, _, smoothed, _, saved in rows:
        private, smoothed = (float(cell.split()[0]) for cell in (private, smoothed))
        assert smoothed < private * (2 / 3 if float(epsilon) >= 2 else 1)
        assert int(saved.rstrip('%')) / 100 == pytest.approx(1 - smoothed / private, abs=0.01)


def test_the_constant_normaliser():
    assert section('Constant normaliser') == tables.normaliser_table()


def test_accuracy():
    assert section('Accuracy') == tables.accuracy_table()


def test_the_words_around_the_tables(monkeypatch):
    for name, title in (('audit_table', 'Audit'), ('belief_tables', 'Belief'),
                        ('normaliser_table', 'Constant normaliser'),
                        ('accuracy_table', 'Accuracy')):
        monkeypatch.setattr(tables, name, lambda title=title: section(title))
    assert tables.page() == TEXT
    assert '`make tables`' in TEXT


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, 'page', lambda: 'ε\n')
    tables.main(tmp_path / 'tables.md')
    assert (tmp_path / 'tables.md').read_text(encoding='utf-8') == 'ε\n'
