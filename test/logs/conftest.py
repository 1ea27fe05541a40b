# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The same tests of recordings, through each library that is installed."""
from forked_children import forked_children  # noqa: F401
import pytest
from symdp_ros.logs.recordings import rosbag, with_rosbag2, with_rosbags

LIBRARIES = {'rosbag2_py': with_rosbag2, 'rosbags': with_rosbags}


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    """Return the name of the library that reads and writes recordings in this test."""
    found = LIBRARIES[request.param]
    if not found.is_installed():
        pytest.skip(f'{request.param} is not installed')
    monkeypatch.setattr(rosbag, 'LIBRARIES', (found,))
    return request.param
