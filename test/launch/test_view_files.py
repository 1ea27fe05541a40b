# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The files for RViz and Foxglove, held against the formats; neither program is run."""
import json
from pathlib import Path

from symdp_ros.options import MAP_FRAME, TOPICS
import yaml

CONFIG = Path(__file__).resolve().parents[2] / 'config'
PRIVATE = {f'/{topic.name}' for topic in TOPICS['privatizer'] if 'goes out' in topic.meaning}

_COMMON = {'Class', 'Enabled', 'Name', 'Value', 'Topic'}
#: As RViz 2 saves them (nav2_bringup/rviz/nav2_default_view.rviz of Jazzy,
#: rviz_common/default.rviz).
DISPLAYS = {
    'rviz_default_plugins/MarkerArray': _COMMON | {'Namespaces'},
    'rviz_default_plugins/PoseWithCovariance': _COMMON | {
        'Alpha', 'Axes Length', 'Axes Radius', 'Color', 'Covariance', 'Head Length', 'Head Radius',
        'Shaft Length', 'Shaft Radius', 'Shape'},
}
TOPIC = {'Depth', 'Durability Policy', 'History Policy', 'Reliability Policy', 'Value'}
MANAGER = {'Class', 'Displays', 'Enabled', 'Global Options', 'Name', 'Tools', 'Transformation',
           'Value', 'Views'}
VIEW = {'Angle', 'Class', 'Name', 'Near Clip Distance', 'Scale', 'Target Frame', 'Value', 'X', 'Y'}

#: Panel type → the types of what its configuration holds (packages/suite-base/src/panels/ of
#: Lichtblick, the open continuation of Foxglove Studio); '?' marks what may be absent.
PANELS = {
    '3D': {'cameraState': dict, 'followMode': str, 'followTf': str, 'scene': dict,
           'transforms': dict, 'topics': dict, 'layers': dict, 'imageMode': dict,
           'publish?': dict},
    'RawMessages': {'diffEnabled': bool, 'diffMethod': str, 'diffTopicPath': str,
                    'showFullMessageForDiff': bool, 'topicPath': str, 'fontSize?': int},
    'DiagnosticSummary': {'minLevel': int, 'pinnedIds': list, 'topicToRender': str,
                          'hardwareIdFilter': str, 'sortByLevel?': bool,
                          'secondsUntilStale?': int},
}


def test_rviz():
    saved = yaml.safe_load((CONFIG / 'rviz' / 'private_markers.rviz').read_text())
    assert set(saved) == {'Panels', 'Visualization Manager', 'Window Geometry'}
    manager = saved['Visualization Manager']
    assert set(manager) == MANAGER and set(manager['Views']['Current']) == VIEW
    assert set(manager['Global Options']) == {'Background Color', 'Fixed Frame', 'Frame Rate'}
    assert manager['Global Options']['Fixed Frame'] == MAP_FRAME.default
    topics = []
    for display in manager['Displays']:
        assert set(display) == DISPLAYS[display['Class']]
        assert set(display['Topic']) == TOPIC
        # As the topics are published; the map and the last picture are two messages.
        assert display['Topic']['Durability Policy'] == 'Transient Local'
        topics.append(display['Topic']['Value'])
    assert topics == ['/private_markers', '/private_pose'] and set(topics) <= PRIVATE
    assert not any('Goal' in tool['Class'] or 'Pose' in tool['Class'] for tool in manager['Tools'])


def panels_of(layout):
    """Return the panels of a layout: a name, or two halves with a direction."""
    if isinstance(layout, str):
        return [layout]
    assert layout.keys() - {'splitPercentage'} == {'direction', 'first', 'second'}
    assert layout['direction'] in ('row', 'column') and 0 < layout['splitPercentage'] < 100
    return panels_of(layout['first']) + panels_of(layout['second'])


def test_foxglove():
    saved = json.loads((CONFIG / 'foxglove' / 'layout.json').read_text())
    assert set(saved) == {'configById', 'globalVariables', 'userNodes', 'playbackConfig',
                          'layout'}
    configurations = saved['configById']
    assert sorted(panels_of(saved['layout'])) == sorted(configurations)
    for name, values in configurations.items():
        expected = PANELS[name.partition('!')[0]]
        assert {key for key in expected if not key.endswith('?')} <= set(values)
        known = {key.rstrip('?'): kind for key, kind in expected.items()}
        assert all(isinstance(value, known[key]) for key, value in values.items())
    scene = configurations['3D!private']
    assert scene['followTf'] == MAP_FRAME.default
    assert set(scene['topics']) == {'/private_markers', '/private_pose'}
    assert {*scene['topics'], configurations['RawMessages!private']['topicPath']} <= PRIVATE
    assert configurations['DiagnosticSummary!private']['topicToRender'] == '/diagnostics'
