# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of words share."""
import os

from live_words import Place
import pytest
from symdp_ros.words import live_word


@pytest.fixture
def new_process(monkeypatch):
    """Return a function after which what runs is another process."""
    return lambda: monkeypatch.setattr(live_word, '_PROCESS', os.urandom(8))


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
