# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/comparison.md, whose numbers all come from comparison.json."""
from collections.abc import Mapping
from types import ModuleType
from typing import Any

_PAGE = """\
# Beside other mechanisms

Who chooses a privacy mechanism for trajectories has others to choose from. `make compare` measures
them beside ours and makes this page again (`QUICK=1`: a small run into build/). Every number is in
[comparison.json](comparison.json); all seeds are public and fixed.{note}

{sections}
"""
_QUICK = """

**This is a small run (`QUICK=1`): its numbers are rough.**"""


def page(numbers: dict[str, Any], sections: Mapping[str, ModuleType]) -> str:
    """Return the page in Markdown; a section that was skipped says why."""
    parts = []
    for name, section in sections.items():
        found = numbers['sections'][name]
        text = (f'Not measured in this run: {found["skipped"]}.' if 'skipped' in found
                else section.page(found))
        parts.append(f'## {section.TITLE}\n\n{text.strip()}')
    return _PAGE.format(note=_QUICK if numbers['quick'] else '', sections='\n\n'.join(parts))
