# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fixture that the tests of this folder share."""
import pytest
from symdp_ros.ledger.ledger import Ledger


@pytest.fixture
def ledger(tmp_path):
    """Give a new ledger."""
    with Ledger(tmp_path / 'robots.ledger') as made:
        yield made
