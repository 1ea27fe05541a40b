# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.coordination [--quick] DIRECTORY`: the page coordination.md.

It reads the maps of the folder shared/data next to the repository, and says so where it is not
there.
"""
import json
from pathlib import Path
import sys

from studies.compare.section import write_numbers
from studies.coordination.measure import FULL, numbers, QUICK
from studies.coordination.patrol import DATA


def main(directory: str, size=FULL) -> None:
    """Write coordination.json, the figures and coordination.md into a directory."""
    if not DATA.is_dir():
        sys.exit(f'the maps are not there: {DATA.name}')
    try:
        from studies.coordination.figures import draw_all
    except ModuleNotFoundError:
        sys.exit('figures need matplotlib: install it (extra `plot`)')
    from studies.coordination.page import page

    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    write_numbers(numbers(size), folder / 'coordination.json')
    found = json.loads((folder / 'coordination.json').read_text(encoding='utf-8'))
    draw_all(found, folder)
    (folder / 'coordination.md').write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    options = sys.argv[1:]
    quick = '--quick' in options
    if quick:
        options.remove('--quick')
    if len(options) != 1:
        sys.exit('usage: python -m studies.coordination [--quick] DIRECTORY')
    main(options[0], QUICK if quick else FULL)
