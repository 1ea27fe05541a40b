# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
STRANDS topological maps (YAML), the older form of the LCAS ones (`tmap2`).

The file is a list; each entry has `meta`, which is not read, and a `node` as tmap2 writes it: a
`name`, a `pose` and `edges`, whose `node` is the name of the one they lead to. Edges are one-way,
whatever their `action`. States are the names, in the order of the file. A map names no initial
state.
"""
from symdp_ros.files.yaml_reader import keys_of, YamlReader
from symdp_ros.maps.formats.map_format import MapFormat
from symdp_ros.maps.formats.tmap2 import graph_of_nodes
from symdp_ros.maps.graph import TransitionGraph
import yaml


def strands_graph(root: yaml.Node, source: str) -> TransitionGraph:
    """
    Return the graph of a composed STRANDS map; edges listed twice are merged and counted.

    :raises ChainError: with file and line: not of this form, a name that is used twice, an edge
        to a node that is not in the file.
    """
    return graph_of_nodes(YamlReader(source), root, source, ('STRANDS topological map', 'metres'))


def _is_list_of_nodes(root: yaml.Node) -> bool:
    return isinstance(root, yaml.SequenceNode) and any('node' in keys_of(entry)
                                                       for entry in root.value[:1])


FORMAT = MapFormat('a STRANDS topological map', 'a list of meta and node', strands_graph,
                   _is_list_of_nodes)
