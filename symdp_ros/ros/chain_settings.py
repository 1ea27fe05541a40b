"""The parameters that name the chain and the privacy, the same for every node."""
from pathlib import Path

from rclpy.parameter import Parameter

from symdp_ros.core.chain import Chain
from symdp_ros.core.online import POLICIES
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_chain
from symdp_ros.ros.parameters import Setting
from symdp_ros.ros.resources import resolve_path

_Type = Parameter.Type

CHAIN = (
    Setting('chain_file', _Type.STRING, None,
            'the chain: a chain file (.yaml) or a Nav2 route graph (.geojson); a path or '
            'package://PACKAGE/PATH'),
    Setting('initial_state', _Type.STRING, '',
            'the public state from which every word starts, where the file names none, or instead '
            'of its own'),
    Setting('self_loops', _Type.BOOL, False, 'every state can also follow itself (staying)'),
)
PRIVACY = (
    Setting('epsilon', _Type.DOUBLE, None, 'ε, the privacy of a whole word: smaller is more '
            'private', least=0.0),
    Setting('adjacency', _Type.INTEGER, 1,
            'k, in how many symbols two words may differ and still be kept apart by no more than '
            'e^ε', least=1),
)
POLICY = Setting('policy', _Type.STRING, 'guided',
                 'what a private symbol aims at where the true one is not a feasible move: '
                 'nothing (paper), or the nearest state on the way to it (guided)',
                 choices=POLICIES)


def chain_of(settings) -> tuple[Chain, str]:
    """
    Return the chain that the parameters name, and the name of its file.

    :raises ChainError, ConfigurationError: with the file and the reason.
    """
    path: Path = resolve_path(settings['chain_file'])
    chain = read_chain(path, settings['initial_state'] or None,
                       self_loops=settings['self_loops'])
    return chain, path.name


def privacy_of(settings) -> Privacy:
    """Return ε and k."""
    return Privacy(settings['epsilon'], settings['adjacency'])
