# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `--help` of each node prints; needs no ROS."""
from collections.abc import Iterator, Sequence
import textwrap

from symdp_ros.options import Option, PARAMETERS, TOPICS, USE_SIM_TIME

_KINDS = {float: 'number', int: 'integer', bool: 'true or false', str: 'string',
          list: 'list of strings'}
_CHAIN = '-p chain_file:=package://symdp_ros/config/warehouse.chain.yaml'

#: Name of each node → what it does.
_ABOUT = {
    'privatizer': 'Publishes, for each sensitive region of a robot, a private one that the map '
                  'allows.\nA lifecycle node that starts itself; it reports on /diagnostics.',
    'log_release': 'Privatizes the logs in log_dir, into release_dir, when the service ~/release '
                   'is called.\nA lifecycle node that starts itself; services '
                   '(std_srvs/srv/Trigger): ~/release, ~/status.',
    'patrol': 'Walks over the map and publishes where it is: a simulated robot.\nFor trying out '
              'the other nodes.',
    'fleet': 'Runs a privatizer for each robot of a fleet file, all in one process. `fleet FILE` '
             'is enough.\nThe service ~/reload (std_srvs/srv/Trigger) reads the file again; it '
             'reports on /diagnostics.',
}
#: Title → parameters, in this order; the first have none.
_SECTIONS = (
    ('', ('chain_file', 'initial_state', 'protect', 'epsilon', 'stay')),
    ('logs', ('log_dir', 'release_dir', 'topic', 'stamp_key', 'stamp_unit', 'symbol_key',
              'allow_unknown', 'format', 'keep_names', 'keep', 'keep_anyway', 'coarse_stamps')),
    ('restarts and budgets', ('state_file', 'ledger_file', 'subject', 'budget', 'subject_budget',
                              'accounting', 'delta', 'renew')),
    ('what comes in', ('input', 'message_type', 'field', 'where', 'symbol_map', 'no_region',
                       'unknown_symbol', 'regions_file', 'hysteresis', 'max_distance',
                       'level_field', 'map_frame', 'base_frame', 'broker', 'state_topic',
                       'broker_login', 'input_timeout')),
    ('what goes out', ('outputs', 'output_type', 'output_template', 'top', 'zones_file',
                       'output_domain')),
    ('which map', ('self_loops', 'graph', 'level', 'prune')),
    ('how it is hidden, where protect does not say it', (
        'adjacency', 'sampling', 'period', 'report_period', 'moves', 'delay', 'policy',
        'mechanism', 'base', 'trust', 'learn')),
)
#: Name of each node → arguments of an example.
_EXAMPLES = {
    'privatizer': f'{_CHAIN} -p protect:=30.0 -p epsilon:=2.0',
    'log_release': f'{_CHAIN} -p protect:=30.0 -p epsilon:=2.0 -p log_dir:=logs '
                   '-p release_dir:=releases -p ledger_file:=ledger -p subject:=robot_1',
    'patrol': f'{_CHAIN} -p period:=0.5',
    'fleet': '-p fleet:=fleet.yaml',
}


def help_of(node: str) -> str:
    """Return the text for a node of `options.PARAMETERS`."""
    run = f'  ros2 run symdp_ros {node} --ros-args'
    topics = [line for topic in TOPICS[node] for line in _entry(topic.name, topic.meaning)]
    parameters = [line for title, options in _sections(node) for line in (
        *([f'{title}:'] if title else []), *(line for option in options for line in _entry(
            _heading(option), option.description)), '')]
    return '\n'.join([
        f'{node}: {_ABOUT[node]}', '',
        'usage:', f'{run} -p NAME:=VALUE -r TOPIC:=NEW_NAME', f'{run} --params-file FILE', '',
        *(['topics:', *topics, ''] if topics else []),
        'parameters, fixed when the node starts:', *parameters,
        'example:', f'{run} {_EXAMPLES[node]}'])


def _sections(node: str) -> Iterator[tuple[str, Sequence[Option]]]:
    """Yield a title, and the parameters under it; first those that are mostly given."""
    left = {option.name: option for option in (*PARAMETERS[node], USE_SIM_TIME)}
    for title, names in _SECTIONS:
        options = [left.pop(name) for name in names if name in left]
        if options:
            yield title, options
    yield 'other parameters' if len(left) < len(PARAMETERS[node]) else '', [*left.values()]


def _heading(option: Option) -> str:
    kind = f'one of {", ".join(option.choices)}' if option.choices else _KINDS[option.kind]
    if option.kind is list and option.choices:
        kind = f'list; each {kind}'
    if option.default is None:
        return f'{option.name} ({kind}; required)'
    default = str(option.default).lower() if option.kind is bool else repr(option.default)
    return f'{option.name} ({kind}; default {default})'


def _entry(heading: str, text: str) -> list[str]:
    # No word is broken: names of files and types are to be copied.
    return [f'  {heading}', *textwrap.wrap(
        text, 90, initial_indent=' ' * 6, subsequent_indent=' ' * 6, break_long_words=False,
        break_on_hyphens=False)]
