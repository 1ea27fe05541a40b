# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What several tests of the command line look at."""
from explored_page import data_of, in_short_time, make_page
import pytest


@pytest.fixture(scope='session')
def made(made_once):
    """Return the path of a page of `symdp explore` with zones, and that of its map."""
    def page(folder):
        with in_short_time():
            return make_page(folder, '--zones-file', folder / 'r&d <house>.regions.yaml')

    return made_once('page', page)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Return a world of `harness` in a domain of its own, which `symdp` is to look at, too."""
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    from harness import world_in

    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_HOME', str(tmp_path / 'ros'))
    with world_in(tmp_path) as world:
        yield world


@pytest.fixture(scope='session')
def data(made):
    """Return what was put into the page."""
    return data_of(made[0])
