# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/evidence/tables.md: its tables come out again."""
from pathlib import Path

import pytest
from studies import tables
from symdp_ros.core.mechanism_settings import WHOLE_WORD
from symdp_ros.core.registry import POLICIES

PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'evidence' / 'tables.md'
TEXT = PAGE.read_text(encoding='utf-8')


def section(title):
    """Return the table of a section."""
    _, _, rest = TEXT.partition(f'\n## {title}:')
    text = rest.partition('\n## ')[0].strip()
    return text[text.index('\n| ') + 1:]


def cells(table):
    return [[cell.strip() for cell in line.split('|')[1:-1]]
            for line in table.splitlines() if line.startswith('|')]


def test_the_audit(monkeypatch):
    """But for the longest words, made anew."""
    head, _, *rows = cells(section('Audit'))
    assert head[:4] == ['n', 'ε', 'k', 'pairs'] and len(rows) == len(tables.AUDITED)
    for _, epsilon, _, _, *losses in rows:
        assert len(losses) == len(POLICIES) + len(WHOLE_WORD)
        assert all(0 < float(loss) <= float(epsilon) for loss in losses)
    monkeypatch.setattr(tables, 'AUDITED', tables.AUDITED[:-2])
    assert section('Audit').startswith(tables.audit_table())


def test_belief(monkeypatch):
    monkeypatch.setattr(tables, 'BELIEVED', (2.0,))
    assert cells(tables.belief_table())[2] in cells(section('Belief'))


def test_belief_saves_a_third():
    _, _, *rows = cells(section('Belief'))
    assert [float(row[0]) for row in rows] == [*tables.BELIEVED]
    for epsilon, private, _, smoothed, _, saved in rows:
        private, smoothed = (float(cell.split()[0]) for cell in (private, smoothed))
        assert smoothed < private * (2 / 3 if float(epsilon) >= 2 else 1)
        assert int(saved.rstrip('%')) / 100 == pytest.approx(1 - smoothed / private, abs=0.01)


def test_accuracy(monkeypatch):
    """And the words around the tables."""
    found = tables.accuracy()
    assert section('Accuracy') == tables.accuracy_table(found)
    monkeypatch.setattr(tables, 'accuracy', lambda: found)
    for name, title in (('audit_table', 'Audit'), ('belief_table', 'Belief')):
        monkeypatch.setattr(tables, name, lambda *of, title=title: section(title))
    assert tables.page() == TEXT
    assert '`make tables`' in TEXT
