# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m studies.optimum FILE.md`: docs/evidence/optimum.md, its picture and optimum.json."""
from pathlib import Path
from typing import Any

from studies.common import command, measure_all, need_maps, write_numbers
from studies.compare.floor import bound
from studies.optimum import maps, tiny
from studies.optimum.page import draw, page
from studies.optimum.program import chain_of


def numbers() -> dict[str, Any]:
    """Return all numbers."""
    need_maps()
    alike, three = chain_of(tiny.ALIKE), chain_of(tiny.THREE)
    return {'alike': [round(bound(alike, 3, *of), 4) for of in ((1.0,), (3.0, 3))],
            'three': [round(bound(three, 4, 2.0, 1, delay), 4) for delay in tiny.DELAYS],
            'tiny': measure_all('optimum', 'tiny', False, tiny.row, tiny.TASKS),
            'maps': measure_all('optimum', 'maps', False, maps.row, maps.tasks())}


def main(file: Path) -> None:
    """Measure everything, and write the numbers, the picture and the page."""
    found = write_numbers(numbers(), file.with_suffix('.json'))
    draw(found, file.parent)
    file.write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    command('optimum', main)
