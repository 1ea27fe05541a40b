"""`symdp check FILE`: what a map looks like as a chain, and why it cannot be one."""
from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import ChainError
from symdp_ros.core.graph import Structure, structure
from symdp_ros.maps import read_graph

_SHOWN = 12  # names of a list of states; the rest is counted


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'check', help='tell what a map looks like as a chain',
        description='Tell states, moves, dead ends, reachability and period of a map. Exit status '
                    '1 where the file cannot be a chain.')
    add_chain_arguments(parser)
    parser.set_defaults(run=run)


def add_chain_arguments(parser) -> None:
    """Add the arguments that name a chain: the file, its initial state, staying."""
    parser.add_argument('file', metavar='FILE', help='chain file (YAML) or Nav2 graph (GeoJSON)')
    parser.add_argument('--initial-state', metavar='STATE',
                        help='where the file names none, or instead of its own')
    parser.add_argument('--self-loops', action='store_true',
                        help='let every state also follow itself')


def run(options) -> int:
    """Print the report; return 0 where the file is a chain, else raise ChainError."""
    graph = read_graph(options.file, self_loops=options.self_loops)
    if options.initial_state is not None:
        graph.initial_state = options.initial_state
    measured = structure(graph)
    for name, value in _report(graph, measured):
        print(f'{name:<19} {value}')
    if measured.isolated or measured.dead_ends:
        raise ChainError(
            f'{graph.place()}this cannot be a chain: '
            f'{len(measured.isolated) + len(measured.dead_ends)} states have no successor. '
            'Add the missing moves, remove these states, or let every state follow itself '
            '(--self-loops)')
    # Whatever the initial state will be, the rest has to be valid now.
    Chain.from_graph(graph, next(iter(graph.successors)) if graph.initial_state is None else None)
    return 0


def _report(graph, measured: Structure):
    smallest, largest, mean = measured.out_degrees
    yield 'file', graph.source
    yield 'states', measured.states
    yield 'edges', f'{measured.edges}' + (
        f' ({measured.repeated} listed more than once, merged)' if measured.repeated else '')
    yield 'out-degree', f'{smallest} to {largest}, mean {mean:.2f}'
    yield 'isolated', _names(measured.isolated)
    yield 'dead ends', _names(measured.dead_ends)
    yield 'initial state', graph.initial_state or 'not in the file: give it as initial_state'
    yield 'unreachable', ('depends on the initial state' if measured.unreachable is None
                          else _names(measured.unreachable))
    connected = measured.strong_components == 1
    yield 'strongly connected', ('yes' if connected
                                 else f'no, {measured.strong_components} components')
    yield 'period', measured.period if measured.period else '- (not strongly connected)'
    yield 'cannot stay', (f'{measured.without_staying} states; sampling: period needs '
                          'self_loops: true' if measured.without_staying else 'none')


def _names(states) -> str:
    if not states:
        return 'none'
    rest = f', … ({len(states)} in all)' if len(states) > _SHOWN else ''
    return ', '.join(states[:_SHOWN]) + rest
