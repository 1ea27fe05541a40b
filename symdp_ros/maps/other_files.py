# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a file that is no map seems to be: for a message that helps."""
from collections.abc import Set
from itertools import islice

_PICTURE = ('the picture of a map for the map server: it names no places and no moves between '
            'them. Write a chain file, or draw a Nav2 route graph on it')

#: Keys that only such a file has, in YAML or JSON.
_BY_KEYS: tuple[tuple[Set[str], str], ...] = (
    ({'image', 'resolution'}, _PICTURE),
    ({'rosbag2_bagfile_information'}, 'the metadata of a recording: give the map'),
    ({'ros__parameters'}, 'the parameters of a node: its chain_file names the map'),
    ({'rmf_fleet'}, 'the configuration of an Open-RMF fleet: give its nav_graphs/0.yaml, or the '
                    'building map'),
    ({'zones'}, 'a zones file: give the map, and this file with --zones'),
    *((marks, 'a graph of nodes and links, as NetworkX and others write it, which does not say '
              'what its fields mean: write a chain file; an undirected edge is two moves')
      for marks in ({'nodes', 'directed'}, {'nodes', 'links'}, {'nodes', 'edges'})),
    ({'headerId', 'serialNumber'}, 'a message of VDA 5050: give the layout of the fleet (LIF)'),
)
#: How a text begins, where it is neither.
_BY_START = (
    ('<', 'XML'), ('digraph', 'a graph for Graphviz'), ('graph ', 'a graph for Graphviz'),
    ('P2', 'a picture (PGM)'), ('P5', 'a picture (PGM)'),
    ('ply', 'a cloud of points (PLY)'), ('# .PCD', 'a cloud of points (PCD)'),
    ('version https://git-lfs', 'a pointer of Git LFS: fetch the file itself with git lfs pull'))
_BY_XML = (('<osm', 'an OpenStreetMap or Lanelet2 map'), ('<sdf', 'a world of Gazebo'),
           ('<robot', 'the model of a robot (URDF)'), ('<svg', 'a drawing (SVG)'),
           ('<graphml', 'a graph in GraphML'), ('<kml', 'a map in KML'))


def by_keys(keys: Set[str], below: Set[str] = frozenset()) -> str:
    """
    Return what a file with these keys at its top seems to be; '': not known.

    :param below: the keys of what its first key holds.
    """
    for marks, what in _BY_KEYS:
        if marks <= keys or marks <= below:
            return what
    return ''


def by_text(text: str) -> str:
    """Return what a text that is neither YAML nor JSON seems to be; '': not known."""
    start = text[:4000].lstrip()
    for xml, what in _BY_XML:
        if start.startswith('<') and xml in start:
            return what
    for mark, what in _BY_START:
        if start.startswith(mark):
            return what
    head = list(islice((line for line in text[:4000].splitlines()
                        if line.strip() and not line.startswith('#')), 2))
    if len(head) == 2 and head[0].count(',') == head[1].count(',') > 0 and ':' not in head[0]:
        return 'a table (CSV): a log is released with symdp release, and a map tells the moves'
    return ''
