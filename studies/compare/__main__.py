# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.compare [--quick] [--only SECTION …] DIRECTORY`: the page comparison.md.

What is measured is kept in build/studies/compare until all is there, so that an interrupted run is
resumed. A section that is not measured, since others are named by --only, or since it cannot be
measured here, keeps the numbers of DIRECTORY.
"""
from collections.abc import Collection
from importlib import import_module
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from studies.common import command, filled, Skipped, write_numbers

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
        try:
            if only and name not in only:
                raise Skipped('other sections alone were measured')
            found[name] = section.measure(quick)
        except Skipped as reason:
            print(f'{name}: skipped: {reason}')
            found[name] = kept.get(name, {'skipped': str(reason)})
    return {'quick': quick, 'sections': found}


def page(found: dict[str, Any]) -> str:
    """Return the page in Markdown; a section that was skipped says why."""
    parts, answers = [], []
    for name, section in sections().items():
        ours = found['sections'][name]
        if 'skipped' in ours:
            title = Path(section.__file__).with_suffix('.md').read_text(encoding='utf-8')
            text = f'{title.splitlines()[0]}\n\nNot measured in this run: {ours["skipped"]}.'
        else:
            text, _, answer = filled(section.__file__, {
                **vars(section), **ours, 'numbers': ours}).partition('\n---\n')
            answers.append(answer.strip())
        parts.append(text.strip())
    return filled(__file__, {
        'quick': found['quick'], 'answers': '\n'.join(filter(None, answers)),
        'sections': '\n\n'.join(parts)})


def main(folder: Path, quick: bool = False, only: Collection[str] = ()) -> None:
    """Measure, and write comparison.json, the figures and comparison.md."""
    file = folder / 'comparison.json'
    before = json.loads(file.read_text(encoding='utf-8')) if file.exists() else {}
    found = write_numbers(numbers(quick, before, only), file)
    for name, section in sections().items():
        if 'skipped' not in found['sections'][name] and hasattr(section, 'draw'):
            section.draw(found['sections'][name], folder)
    (folder / 'comparison.md').write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    command('compare', main, quick=True, parts=NAMES)
