# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/evidence/comparison.md, whose numbers all come from comparison.json."""
from collections.abc import Mapping
from types import ModuleType
from typing import Any

_PAGE = """\
# Our mechanisms and others

This page compares our mechanisms with others for trajectories. `make compare` measures all of them
and writes this page again (`QUICK=1`: a small run into build/). The numbers of each map, ε and
mechanism, also in moves and metres, are in [comparison.json](comparison.json). All seeds are
public and fixed, except those of the audit at the end.{note}

{short}{sections}
"""
_SHORT = """\
## In short

{answers}

"""
_QUICK = """

**This is a small run (`QUICK=1`): its numbers are rough.**"""


def page(numbers: dict[str, Any], sections: Mapping[str, ModuleType]) -> str:
    """Return the page in Markdown; a section that was skipped says why."""
    parts, answers = [], []
    for name, section in sections.items():
        found = numbers['sections'][name]
        text = (f'Not measured in this run: {found["skipped"]}.' if 'skipped' in found
                else section.page(found))
        if 'skipped' not in found and hasattr(section, 'short'):
            answers.append(f'- {section.short(found)}')
        parts.append(f'## {section.TITLE}\n\n{text.strip()}')
    short = _SHORT.format(answers='\n'.join(answers)) if answers else ''
    return _PAGE.format(note=_QUICK if numbers['quick'] else '', short=short,
                        sections='\n\n'.join(parts))
