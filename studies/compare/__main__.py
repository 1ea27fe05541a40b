# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.compare [--quick] [--only SECTION …] DIRECTORY`: the page comparison.md.

It reads the maps of the folder shared/data next to the repository, and says so where it is not
there. A section that --only leaves out keeps the numbers of DIRECTORY.
"""
from collections.abc import Collection
import json
from pathlib import Path
from typing import Any

from studies.common import command, filled, need_maps, write_numbers
from studies.compare import in_zones, places, words

#: In the order of the page.
SECTIONS = {'words': words, 'places': places, 'in_zones': in_zones}


def numbers(quick: bool, before: dict[str, Any], only: Collection[str] = ()) -> dict[str, Any]:
    """
    Return the numbers of all sections.

    :param before: those of an earlier run, which sections that are not measured keep.
    :param only: sections to measure; none: all. What has no numbers yet is measured, too.
    """
    kept = before['sections'] if only and before.get('quick') == quick else {}
    return {'quick': quick, 'sections': {
        name: section.measure(quick) if name in only or name not in kept else kept[name]
        for name, section in SECTIONS.items()}}


def page(found: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    parts, answers = [], []
    for name, section in SECTIONS.items():
        ours = found['sections'][name]
        text, _, answer = filled(section.__file__, {
            **vars(section), **ours, 'numbers': ours}).partition('\n---\n')
        parts.append(text.strip())
        answers.append(answer.strip())
    return filled(__file__, {'quick': found['quick'], 'answers': '\n'.join(answers),
                             'sections': '\n\n'.join(parts)})


def main(folder: Path, quick: bool = False, only: Collection[str] = ()) -> None:
    """Measure, and write comparison.json, the figures and comparison.md."""
    need_maps()
    file = folder / 'comparison.json'
    before = json.loads(file.read_text(encoding='utf-8')) if file.exists() else {}
    found = write_numbers(numbers(quick, before, only), file)
    words.draw(found['sections']['words'], folder)
    places.draw(found['sections']['places'], folder)
    (folder / 'comparison.md').write_text(page(found), encoding='utf-8')


if __name__ == '__main__':
    command('compare', main, quick=True, parts=[*SECTIONS])
