# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.compare [--quick] [--only SECTION …] DIRECTORY`: the page comparison.md.

A section that has been measured is kept in build/compare until all are there, so that an
interrupted run is resumed. Delete that folder to measure anew. A section that is not measured,
since others are named by --only, or since it cannot be measured here, keeps the numbers of
DIRECTORY.
"""
import argparse
from collections.abc import Collection
from importlib import import_module
import json
from pathlib import Path
from shutil import rmtree
from types import ModuleType
from typing import Any

from studies.compare.page import page
from studies.compare.section import Skipped, unfinished, write_numbers

#: The modules of this package that are sections, in the order of the page.
NAMES = ('words', 'trajectories', 'places', 'in_zones', 'outside_audit')


def sections() -> dict[str, ModuleType]:
    """Return the section modules by name."""
    return {name: import_module(f'studies.compare.{name}') for name in NAMES}


def numbers(quick: bool, before: dict[str, Any], only: Collection[str] = ()) -> dict[str, Any]:
    """
    Return the numbers of all sections.

    :param before: those of an earlier run, which sections that are not measured keep.
    :param only: sections to measure; none: all.
    """
    kept = before['sections'] if before.get('quick') == quick else {}
    found = {}
    for name, section in sections().items():
        file = unfinished(quick) / f'{name}.json'
        if only and name not in only:
            found[name] = kept.get(name, {'skipped': 'other sections alone were measured'})
        elif file.exists():
            found[name] = json.loads(file.read_text(encoding='utf-8'))
        else:
            try:
                found[name] = section.measure(quick)
            except Skipped as reason:
                print(f'{name}: skipped: {reason}')
                found[name] = kept.get(name, {'skipped': str(reason)})
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(found[name]), encoding='utf-8')
    return {'quick': quick, 'sections': found}


def write(found: dict[str, Any], folder: Path) -> None:
    """Write comparison.json, the figures and comparison.md."""
    folder.mkdir(parents=True, exist_ok=True)
    write_numbers(found, folder / 'comparison.json')
    for name, section in sections().items():
        if 'skipped' not in found['sections'][name] and hasattr(section, 'draw'):
            section.draw(found['sections'][name], folder)
    (folder / 'comparison.md').write_text(page(found, sections()), encoding='utf-8')


def main(directory: str | Path, quick: bool = False, only: Collection[str] = ()) -> None:
    """Measure what is not yet measured, and write everything into a directory."""
    earlier = Path(directory) / 'comparison.json'
    before = json.loads(earlier.read_text(encoding='utf-8')) if earlier.exists() else {}
    found = json.loads(json.dumps(numbers(quick, before, only)))
    write(found, Path(directory))
    for name in only:
        for file in unfinished(quick).glob(f'{name}*'):
            file.unlink()
    if not only:
        rmtree(unfinished(quick), ignore_errors=True)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(prog='python -m studies.compare')
    parser.add_argument('directory')
    parser.add_argument('--quick', action='store_true', help='a small run')
    parser.add_argument('--only', nargs='+', choices=NAMES, default=(), metavar='SECTION',
                        help=f'measure these alone: {", ".join(NAMES)}')
    options = parser.parse_args()
    main(options.directory, options.quick, options.only)
