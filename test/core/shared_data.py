# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Maps and recordings of others: they stand beside this package, where they are there at all."""
from pathlib import Path

import pytest

#: Why a test is skipped; `pytest_terminal_summary` counts what stands before a colon.
ABSENT = ('they need public maps and recordings that are not part of the repository; '
          'CONTRIBUTING.md says where to get them')
DATA = Path(__file__).resolve().parents[3] / 'shared' / 'data'
CASES = DATA.parent / 'cases'


def shared(*parts) -> Path:
    """Return the path of a file or folder of the shared data; skip the test where it is absent."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f'{ABSENT}: {path.name}')
    return path


def shared_case(*parts) -> Path:
    """Return the path of a shared case, an input that a user once had; skip where it is absent."""
    path = CASES.joinpath(*parts)
    if not path.exists():
        pytest.skip(f'{ABSENT}: {"/".join(parts)}')
    return path
