# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Maps and recordings of others: they stand beside this package, where they are there at all."""
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / 'shared' / 'data'


def shared(*parts) -> Path:
    """Return the path of a file or folder of the shared data; skip the test where it is absent."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f'the shared data folder is absent: {path.name}')
    return path
