# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.optimum FILE.md`: docs/evidence/optimum.md, its picture and optimum.json.

What has been measured is kept in build/compare until all is there, so that an interrupted run is
resumed.
"""
from pathlib import Path
import sys
from typing import Any

from studies.compare.areas import names
from studies.compare.floor import floor
from studies.compare.section import measure_all, Skipped, unfinished, write_numbers
from studies.optimum import maps, tiny, windows
from studies.optimum.page import draw, page
from studies.optimum.program import chain_of

MINUTES = 15  # what a run takes, about


def numbers() -> dict[str, Any]:
    """Return all numbers."""
    names()  # before the long work: there are no maps, no page
    alike, three = chain_of(tiny.ALIKE), chain_of(tiny.THREE)
    return {'minutes': MINUTES,
            'alike': [round(value, 4) for value in (floor(alike, 3, 1.0),
                                                    maps.bound(alike, 3, 3.0, 3))],
            'three': [round(maps.bound(three, 4, 2.0, 1, delay), 4) for delay in tiny.DELAYS],
            'rates': windows.real_maps(),
            'tiny': measure_all('optimum-tiny', False, tiny.row, tiny.TASKS),
            'maps': measure_all('optimum-maps', False, maps.row, maps.tasks())}


def write(found: dict[str, Any], file: Path) -> None:
    """Write the numbers, the picture and the page."""
    write_numbers(found, file.with_suffix('.json'))
    draw(found, file.parent)
    file.write_text(page(found), encoding='utf-8')


def main(file: str | Path) -> None:
    """Measure everything, and write it."""
    try:
        found = numbers()
    except Skipped as reason:
        sys.exit(str(reason))
    write(found, Path(file))
    for kept in unfinished(False).glob('optimum-*'):
        kept.unlink()


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: python -m studies.optimum FILE.md')
    main(sys.argv[1])
