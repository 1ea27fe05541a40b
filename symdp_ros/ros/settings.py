# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
From the values of parameters to a chain.

What computes is imported when it is first needed: then the node exists already, and other nodes
can discover it meanwhile.
"""
from collections.abc import Mapping
from typing import Any, TYPE_CHECKING

from symdp_ros.options import map_choices, reports_of
from symdp_ros.ros.resources import resolve_path

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain


def chain_of(settings: Mapping[str, Any]) -> 'tuple[Chain, str]':
    """
    Return the chain that the parameters name, and the name of its file.

    :raises ChainError, ConfigurationError: with the file and the reason.
    """
    from symdp_ros.maps import read_chain

    path = resolve_path(settings['chain_file'])
    reports = reports_of(settings)
    return read_chain(path, **map_choices(settings), reports=reports), path.name
