# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`python -m studies.markers DIR`: docs/markers.svg.

It runs a simulated robot and `privatizer` on the sample map, takes the messages of
`private_markers` from the real topic, and draws what RViz and Foxglove would draw: every marker by
its own type, points, scale and colours.
"""
import json
import os
from pathlib import Path
import subprocess
import sys
import time

from matplotlib.collections import EllipseCollection, LineCollection
import numpy as np
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from studies.common import command, CONFIG
from studies.drawing import new_figure, save
from symdp_ros.ros.process.free_domain import FreeDomain
from visualization_msgs.msg import Marker, MarkerArray

MAP = {'chain_file': str(CONFIG / 'depot.geojson'), 'initial_state': '1', 'self_loops': True}
REGIONS = 40
PATIENCE = 60.0


def main(directory: Path) -> None:
    """Draw the picture into a directory."""
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with FreeDomain() as domain:
        os.environ['ROS_DOMAIN_ID'] = str(domain.number)
        arrays = recorded()
    draw(arrays, directory / 'markers.svg')


def recorded() -> list[MarkerArray]:
    """Return the messages of the topic: that of the map first, then those of the regions."""
    rclpy.init()
    node = rclpy.create_node('painter')
    latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    arrays: list[MarkerArray] = []
    node.create_subscription(MarkerArray, 'private_markers', arrays.append, latched)
    processes = [
        start('privatizer', **MAP, epsilon=2.0, adjacency=1, policy='adaptive',
              outputs=['markers'], state_file='none'),
        start('patrol', **MAP, seed=7, period=0.1, count=2 * REGIONS,  # the first may be lost
              wait_for_subscribers=1)]
    until = time.monotonic() + PATIENCE
    try:
        while len(arrays) < REGIONS + 1:
            if time.monotonic() > until:
                raise SystemExit('the messages did not come')
            rclpy.spin_once(node, timeout_sec=0.1)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
        node.destroy_node()
        rclpy.shutdown()
    return sorted(arrays, key=lambda array: array.markers[0].ns != 'moves')


def start(name: str, **parameters: object) -> subprocess.Popen:
    """Start a node."""
    arguments = [part for key, value in parameters.items()
                 for part in ('-p', f'{key}:={json.dumps(value)}')]
    return subprocess.Popen([sys.executable, '-m', f'symdp_ros.nodes.{name}', '--ros-args',
                             *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def draw(arrays: list[MarkerArray], path: Path) -> None:
    """Draw the map and the last region, as a viewer shows them."""
    shown = {(marker.ns, marker.id): marker
             for array in (arrays[0], arrays[-1]) for marker in array.markers}
    figure = new_figure(9, 5)
    axes = figure.subplots()
    every = np.concatenate([_points(marker) if marker.points else _position(marker)
                            for marker in shown.values()])
    (left, low), (right, high) = every.min(axis=0) - 2, every.max(axis=0) + 2
    axes.set(xlabel='x [m]', ylabel='y [m]', aspect='equal', xlim=(left, right), ylim=(low, high))
    figure.draw_without_rendering()  # sets the scale
    metre = (axes.transData.transform((1, 0)) - axes.transData.transform((0, 0)))[0]
    metre *= 72 / figure.dpi  # in points
    for marker in sorted(shown.values(), key=lambda marker: marker.pose.position.z):
        _DRAW[marker.type](axes, marker, metre)
    save(figure, path)


def _points(marker):
    return np.array([(point.x, point.y) for point in marker.points])


def _colors(marker):
    return [(color.r, color.g, color.b, color.a) for color in marker.colors or [marker.color]]


def _position(marker):
    return np.array([(marker.pose.position.x, marker.pose.position.y)])


def _lines(axes, marker, metre):
    points = _points(marker)
    pairs = (points.reshape(-1, 2, 2) if marker.type == Marker.LINE_LIST
             else np.stack([points[:-1], points[1:]], axis=1))
    axes.add_collection(LineCollection(pairs, colors=_colors(marker),
                                       linewidths=metre * marker.scale.x))


def _discs(axes, marker, metre):
    at = _points(marker) if marker.points else _position(marker)
    sizes = np.full(len(at), marker.scale.x)
    axes.add_collection(EllipseCollection(
        sizes, sizes, np.zeros(len(at)), units='x', offsets=at, facecolors=_colors(marker),
        transOffset=axes.transData))


def _text(axes, marker, metre):
    """Draw text whose capitals are as high as its scale says: 0.73 of the size of the font."""
    axes.text(*_position(marker)[0], marker.text, color=_colors(marker)[0], ha='center',
              va='center', fontsize=metre * marker.scale.z / 0.73)


_DRAW = {Marker.LINE_LIST: _lines, Marker.LINE_STRIP: _lines, Marker.SPHERE_LIST: _discs,
         Marker.CYLINDER: _discs, Marker.TEXT_VIEW_FACING: _text}

if __name__ == '__main__':
    command('markers', main)
