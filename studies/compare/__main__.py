# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.compare [--quick] DIRECTORY`: the page comparison.md.

A section that has been measured is kept in build/compare until all are there, so that an
interrupted run is resumed. Delete that folder to measure anew.
"""
from importlib import import_module
import json
from pathlib import Path
from shutil import rmtree
import sys
from types import ModuleType
from typing import Any

from studies.compare.page import page
from studies.compare.section import Skipped, unfinished

#: The modules of this package that are sections, in the order of the page.
NAMES: tuple[str, ...] = ()


def sections() -> dict[str, ModuleType]:
    """Return the section modules by name."""
    return {name: import_module(f'studies.compare.{name}') for name in NAMES}


def numbers(quick: bool) -> dict[str, Any]:
    """Return what all sections measure."""
    found = {}
    for name, section in sections().items():
        file = unfinished(quick) / f'{name}.json'
        if file.exists():
            found[name] = json.loads(file.read_text(encoding='utf-8'))
            continue
        try:
            found[name] = section.measure(quick)
        except Skipped as reason:
            print(f'{name}: skipped: {reason}')
            found[name] = {'skipped': str(reason)}
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(found[name]), encoding='utf-8')
    return {'quick': quick, 'sections': found}


def write(found: dict[str, Any], folder: Path) -> None:
    """Write comparison.json, the figures and comparison.md."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found).replace('[{', '[ {').replace(' {', '\n{')  # one row a line
    (folder / 'comparison.json').write_text(text + '\n', encoding='utf-8')
    for name, section in sections().items():
        if 'skipped' not in found['sections'][name] and hasattr(section, 'draw'):
            section.draw(found['sections'][name], folder)
    (folder / 'comparison.md').write_text(page(found, sections()), encoding='utf-8')


def main(directory: str, quick: bool = False) -> None:
    """Measure what is not yet measured, and write everything into a directory."""
    found = json.loads(json.dumps(numbers(quick)))
    write(found, Path(directory))
    rmtree(unfinished(quick), ignore_errors=True)


if __name__ == '__main__':
    options = sys.argv[1:]
    quick = '--quick' in options
    if quick:
        options.remove('--quick')
    if len(options) != 1:
        sys.exit('usage: python -m studies.compare [--quick] DIRECTORY')
    main(options[0], quick)
