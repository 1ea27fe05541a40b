# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo --figure`: what cannot be drawn is said before any node starts."""
from pathlib import Path

import pytest
from symdp_ros.cli import main
from symdp_ros.demo import one_robot

pytest.importorskip('rclpy', reason='ROS 2 is not there')
pytest.importorskip('matplotlib', reason='matplotlib is not installed: no figure')
CONFIG = Path(__file__).resolve().parents[2] / 'config'


@pytest.mark.parametrize('file, figure, text', [
    ('depot.geojson', 'nowhere/routes.svg', 'routes.svg cannot be written: the directory'),
    ('depot.geojson', 'routes', 'routes: a figure ends in .svg, .png or .pdf'),
    ('warehouse.chain.yaml', 'routes.svg', 'the map has no positions to draw')])
def test_a_figure_that_cannot_be_drawn(file, figure, text, tmp_path, monkeypatch, capsys):
    def started(*arguments):
        raise AssertionError('a node was started')

    monkeypatch.setattr(one_robot, 'NodeProcess', started)
    monkeypatch.setattr(one_robot, 'Observer', started)
    status = main.main(['demo', str(CONFIG / file), '--figure', str(tmp_path / figure)])
    said = capsys.readouterr()
    assert status == 1 and text in said.err and not said.out
    assert not (tmp_path / figure).exists()
