# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The parameters that several nodes have.

What computes is imported when it is first asked for: by then the node exists, and the others get
to know of it meanwhile.
"""
from pathlib import Path
from typing import TYPE_CHECKING

from rclpy.parameter import Parameter
from symdp_ros.core.policies import DEFAULT_POLICY, POLICIES
from symdp_ros.core.privacy import Privacy
from symdp_ros.ros.parameters import Setting
from symdp_ros.ros.resources import resolve_path

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain

_Type = Parameter.Type

CHAIN = (
    Setting('chain_file', _Type.STRING, None,
            'the chain: a chain file, Open-RMF building, LCAS or STRANDS topological map (.yaml), '
            'Nav2 graph (.geojson) or patrolling_sim graph (.graph); a path or '
            'package://PACKAGE/PATH'),
    Setting('initial_state', _Type.STRING, '',
            'the public state from which every word starts, where the file names none, or instead '
            'of its own'),
    Setting('self_loops', _Type.BOOL, False, 'every state can also follow itself (staying)'),
    Setting('graph', _Type.INTEGER, -1,
            'which graph of a building map that holds several; -1: the only one', least=-1),
    Setting('level', _Type.STRING, '',
            'one floor of a building map alone; empty: all, joined by lifts'),
)
PRIVACY = (
    Setting('epsilon', _Type.DOUBLE, None, 'ε, the privacy of a whole word: smaller is more '
            'private', least=0.0),
    Setting('adjacency', _Type.INTEGER, 1,
            'k, in how many symbols two words may differ and still be kept apart by no more than '
            'e^ε', least=1),
)
POLICY = Setting('policy', _Type.STRING, DEFAULT_POLICY,
                 'what a private symbol aims at: the true one, and where that is no feasible move '
                 'the nearest state on the way to it (guided) or nothing (paper); or what errs '
                 'least in the long run (planned)',
                 choices=POLICIES)

INPUT = (
    Setting('message_type', _Type.STRING, 'std_msgs/msg/String', 'type of the region topic'),
    Setting('field', _Type.STRING, 'data',
            'where the region is in a message: a dotted path to a string, integer or boolean, '
            'with an [index] into a list'),
    Setting('symbol_map', _Type.STRING_ARRAY, [],
            'value=state items; a value that is not listed stands for itself'),
    Setting('no_region', _Type.STRING_ARRAY, ['none', ''], 'values that mean: no region known'),
    Setting('sampling', _Type.STRING, 'message',
            'one symbol for each message, for each change, or one every period',
            choices=('message', 'change', 'period')),
    Setting('period', _Type.DOUBLE, 1.0, 'sampling: period, seconds between symbols',
            least=1e-3, most=1e9),
    Setting('input_timeout', _Type.DOUBLE, 0.0,
            'sampling: period, seconds without input after which the region is unknown; 0.0: '
            'never', least=0.0, most=1e9),
)
SUBJECT_BUDGET = Setting('subject_budget', _Type.DOUBLE, 0.0,
                         'the total ε that the subject may ever spend; 0.0: what the ledger '
                         'stores, if anything', least=0.0)


def unknown_symbol(*choices: str) -> Setting:
    """Return the parameter that says what becomes of an unknown region."""
    return Setting('unknown_symbol', _Type.STRING, 'uniform',
                   'a region that is no state of the chain: one more symbol, drawn uniformly, or '
                   'what else the README tells of', choices=choices)


def chain_of(settings) -> 'tuple[Chain, str]':
    """
    Return the chain that the parameters name, and the name of its file.

    :raises ChainError, ConfigurationError: with the file and the reason.
    """
    from symdp_ros.maps import read_chain

    path: Path = resolve_path(settings['chain_file'])
    chain = read_chain(path, settings['initial_state'] or None,
                       self_loops=settings['self_loops'],
                       graph=None if settings['graph'] == -1 else settings['graph'],
                       level=settings['level'] or None)
    return chain, path.name


def privacy_of(settings) -> Privacy:
    """Return ε and k."""
    return Privacy(settings['epsilon'], settings['adjacency'])
