# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.coordination [--quick] DIRECTORY`: the page coordination.md.

It reads the maps of the folder shared/data next to the repository, and says so where it is not
there.
"""
from pathlib import Path

from studies.common import command, need_maps, write_numbers
from studies.coordination.figures import draw_all
from studies.coordination.measure import FULL, numbers, QUICK
from studies.coordination.page import page


def main(folder: Path, quick: bool) -> None:
    """Write coordination.json, the figures and coordination.md into a directory."""
    need_maps()
    found = write_numbers(numbers(QUICK if quick else FULL), folder / 'coordination.json')
    draw_all(found, folder)
    (folder / 'coordination.md').write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    command('coordination', main, quick=True)
