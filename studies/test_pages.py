# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers on pages for users: what their commands print, and what the pages of evidence say."""
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from studies import zones
from studies.common import filled

ROOT = Path(__file__).resolve().parents[1]
OFFICE = ROOT.parent / 'shared' / 'data' / 'rmf' / 'office.building.yaml'
TEXT = {name: (ROOT / 'docs' / f'{name}.md').read_text(encoding='utf-8')
        for name in ('visits', 'logs', 'zones', 'evidence/choice', 'evidence/visit-rule')}


@pytest.mark.thorough
@pytest.mark.skipif(not OFFICE.exists(), reason=f'{OFFICE} is absent')
def test_the_meeting_room(tmp_path):
    """The table of visits.md is what its command prints, and the sentences below say the same."""
    command, shown, _ = re.search(
        r'```sh\n(symdp calibrate office.*?)```\n+```\n(.*?)…\n```\n(.*?)\n#', TEXT['visits'],
        re.S).groups()
    shutil.copy(OFFICE, tmp_path)
    words = shlex.split(command.replace('\\\n', ''))
    done = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', *words[1:]], cwd=tmp_path,
        env={'PYTHONPATH': str(ROOT), 'COLUMNS': '100'}, capture_output=True, text=True,
        check=True)
    assert done.stdout.startswith(shown)


def test_the_sentences_about_the_meeting_room():
    rows = [[cell.strip() for cell in line.split('│')[1:-1]]
            for line in TEXT['visits'].split('logs, released afterwards')[0].splitlines()
            if line.startswith('│')]
    above, best = rows[-2], rows[-1]
    assert best[0].startswith('→*')
    before, after = best[6].split(' → ')
    said = ' '.join(TEXT['visits'].split('\n…\n```\n')[1].split('\n\n`--target')[0].split())
    for part in (f'wrong for {best[4]} of the time, and {best[5]} off', f'for {after} of the time',
                 f'for {before} of it without', f'the row above ({above[6].split(" → ")[1]})'):
        assert part in said, part


def test_the_page_of_zones_comes_out_again(monkeypatch):
    """With one row of its table."""
    others = re.compile(r'\| [023] \| .*\n')
    assert len(others.findall(TEXT['zones'])) == len(zones.EPSILONS) - 1
    monkeypatch.setattr(zones, 'EPSILONS', (1.0,))
    assert filled(zones.__file__, vars(zones)) == others.sub('', TEXT['zones'])


def test_what_logs_say_of_the_rule():
    rows = [line.strip('| ').split(' | ') for line in TEXT['evidence/choice'].splitlines()
            if ' | logs of ' in line]
    settings = sum(int(row[2]) for row in rows)
    behind = sum(int(row[2]) * float(row[3]) for row in rows) / settings
    more = round(100 * sum(int(row[5]) for row in rows) / settings)
    assert f'{behind:.3f} of the symbols behind the best on average, in {more} of 100' in ' '.join(
        TEXT['logs'].split())


def test_what_visits_and_the_page_of_the_rule_say_of_its_table():
    page = TEXT['evidence/visit-rule']
    cells = [row.strip('| ').split(' | ')[1:] for row in page.splitlines() if ' / 0.' in row]
    assert len(cells) > 10
    behind = [max(float(rule) - float(best) for row in cells for rule, best in (
        cell.split(' / ') for cell in row[part])) for part in (slice(3), slice(3, 6))]
    # Each number is rounded: two roundings of half a thousandth.
    said = [float(number) for number in re.findall(r'([\d.]+\d) (?:behind live|for logs)', page)]
    assert said == pytest.approx(behind, abs=1.1e-3) and max(said) <= 0.02
    assert 'at most 0.02 of the time behind the best' in ' '.join(TEXT['visits'].split())
