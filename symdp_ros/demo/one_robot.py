# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The demo of one robot: a patrol, its privatizer, and a release as a log."""
from itertools import zip_longest
import json
import os
import tempfile
import time

from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.demo.observer import Observer
from symdp_ros.demo.processes import NodeProcess
from symdp_ros.demo.screen import heading, visibility, watch, wrong
from symdp_ros.errors import printable
from symdp_ros.ros.process.free_domain import FreeDomain

_ROWS = 14          # of the live table
_SHOWN = 20         # symbols of a route in the summary
_PATIENCE = 60.0    # seconds for log_release to be ready
_TOPICS = ('region', 'private_region')
_LEGEND = ('true?     the private region is the true one\n'
           'allowed?  the map has a move to it from the previous private region')
_ROBOT = 'symdp_demo'  # separate from a robot's own topics in the same ROS domain
_NAMESPACE = f'/{_ROBOT}'


def run_robot(options, chain, graph, of_map) -> int:
    """
    Run the demo; return 0 where every private move was feasible.

    :param graph: of the map, which `options.figure` draws.
    :param of_map: the parameters of nodes that name the map.
    """
    mechanism = OnlineMechanism(chain, Privacy(options.epsilon, options.adjacency),
                                policy=options.policy)
    if not os.environ.get('ROS_DOMAIN_ID'):
        claim = FreeDomain()  # held until the demo ends
        os.environ['ROS_DOMAIN_ID'] = str(claim.number)
    domains = dict.fromkeys(_TOPICS, int(os.environ['ROS_DOMAIN_ID']))
    screen = Screen(chain, options)
    with tempfile.TemporaryDirectory() as work, Observer(
            domains, [_ROBOT], _NAMESPACE) as observer:
        readers = _Readers(observer.nodes['region'])
        words = {topic: found[_ROBOT] for topic, found in observer.words.items()}
        settings = {**of_map, 'epsilon': options.epsilon, 'adjacency': options.adjacency,
                    'policy': options.policy}
        charged = {**settings, 'ledger_file': os.path.join(work, 'demo.ledger'), 'subject': 'demo'}
        privatizer = NodeProcess('privatizer', work, charged, _NAMESPACE)
        with privatizer:
            observer.wait(lambda: observer.are_published('private_region'), privatizer)
            patrol = NodeProcess('patrol', work, {
                **of_map, 'period': 1 / options.rate, 'wait_for_subscribers': 2}, _NAMESPACE)
            with patrol:
                observer.wait(lambda: words['region'], privatizer, patrol)
                finished = watch(options, screen.console,
                                 lambda: observer.spin(0.1, privatizer, patrol),
                                 lambda title: screen.table(words, title))
            observer.spin(0.3, privatizer)  # for messages in transit
            observer.wait(lambda: len(words['private_region']) >= len(words['region']), privatizer)
        for process in (privatizer, patrol):
            process.check()
        true, private = (list(words[topic]) for topic in _TOPICS)
        infeasible = screen.summary(mechanism, true, private, readers.text)
        if finished:
            screen.released(true, private, *_release(observer, work, charged, true))
    if options.figure:
        from symdp_ros.figures.routes import draw_routes
        right = len(true) - wrong(true, private)
        draw_routes(graph, {'true': true, f'private: ε = {options.epsilon:g}, {right} of '
                                          f'{len(true)} true': private}, options.figure)
        print(f'the two routes are drawn in {printable(options.figure)}')
    return 0 if infeasible == 0 and len(true) == len(private) else 1


def _release(observer, work, parameters, true):
    """
    Log the true route and let the node log_release release it.

    :return: the released word, and the node's answers to ~/release and ~/status.
    """
    from symdp_ros.logs import read_log, write_log

    logs, releases = os.path.join(work, 'logs'), os.path.join(work, 'releases')
    os.mkdir(logs)
    os.mkdir(releases)
    write_log(os.path.join(logs, 'patrol.csv'), true, format='csv')
    node = NodeProcess('log_release', work, {
        **parameters, 'log_dir': logs, 'release_dir': releases, 'mechanism': 'causal'},
        _NAMESPACE)
    with node:
        answers = [_call(observer, f'log_release/{name}', node) for name in ('release', 'status')]
    node.check()
    [path] = [entry.path for entry in os.scandir(releases) if not entry.name.startswith('.')]
    return [symbol for _, symbol in read_log(path)], answers


def _call(observer, name, process):
    """Return the sentence that a service (Trigger) answers with."""
    from std_srvs.srv import Trigger

    client = observer.nodes['region'].create_client(Trigger, name)
    observer.wait(client.service_is_ready, process)
    observer.spin(0.3, process)  # the service discovers the client a moment later
    until = time.monotonic() + _PATIENCE
    while True:
        answer = client.call_async(Trigger.Request())
        observer.wait(answer.done, process)
        found = json.loads(answer.result().message)
        if found['code'] != 'starting' or time.monotonic() > until:
            return found['summary']
        observer.spin(0.5, process)  # it compiles its loops


class _Readers:
    """
    Who reads the true regions, by the diagnostics of the privatizer.

    :ivar text: what it said last; '': nothing yet.
    """

    def __init__(self, node):
        from diagnostic_msgs.msg import DiagnosticArray

        self.text = ''
        node.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 10)

    def _hear(self, array):
        for status in array.status:
            if status.name.startswith(f'{_NAMESPACE}/'):
                self.text = '; '.join(part for part in status.message.split('; ')
                                      if 'raw topic' in part) or self.text


class Screen:
    """What the demo shows in the terminal."""

    def __init__(self, chain, options):
        from rich.console import Console

        self._chain, self._options = chain, options
        self.console = Console(highlight=False)
        self.console.print(heading(options, chain, f'ROS domain {os.environ["ROS_DOMAIN_ID"]}'),
                           visibility(), _LEGEND, 'starting the nodes …', sep='\n')

    def table(self, words, title):
        """Return the last symbols."""
        from rich.markup import escape
        from rich.table import Table

        true, private = (words[topic] for topic in _TOPICS)
        table = Table(title=title, title_justify='left')
        for name, justify in (('time', 'right'), ('true region', 'left'),
                              ('private region', 'left'), ('true?', 'center'),
                              ('allowed?', 'center')):
            table.add_column(name, justify=justify, min_width=8)
        start = max(0, len(true) - _ROWS)
        for t, (s, o) in enumerate(zip_longest(true[start:], private[start:]), start):
            before = [self._chain.initial_state, *private][min(t, len(private))]
            feasible = o in self._chain.successors(before)
            table.add_row(f'{t / self._options.rate:.1f}', escape(s or '…'), escape(o or '…'),
                          '' if o is None else '[green]✓[/]' if s == o else '[yellow]✗[/]',
                          '' if o is None else '[green]✓[/]' if feasible else '[red]✗[/]')
        return table

    def summary(self, mechanism, true, private, readers):
        """Print the summary; return the number of infeasible moves."""
        from rich.table import Table

        before = [self._chain.initial_state, *private[:-1]]
        infeasible = sum(o not in self._chain.successors(p)
                         for p, o in zip(before, private, strict=True))
        errors = wrong(true, private)
        expected = accuracy(mechanism, true)
        count = max(1, min(len(true), len(private)))
        table = Table(title='summary', title_justify='left', show_header=False)
        table.add_row('symbols', f'{len(true)} true, {len(private)} private')
        table.add_row('error', f'{errors / count:.3f}: share of private symbols that are wrong '
                               f'({errors} of {count})')
        table.add_row('expected error', f'{expected.mean / count:.3f} ± '
                      f'{expected.variance**0.5 / count:.3f}, if this route were released again '
                      f'and again{" (simulated)" if expected.standard_error else ""}')
        table.add_row('forbidden moves', f'[{"red" if infeasible else "green"}]{infeasible}[/] in '
                                         'the private route')
        table.add_row('who reads the truth', readers or 'not yet reported')
        self.console.print('', table, sep='\n')
        return infeasible

    def released(self, true, private, released, answers):
        """Print the release of the log of the same patrol."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(title='the same route as a log, released by the node log_release '
                            '(service ~/release)', title_justify='left', show_header=False)
        for name, word in (('true route', true), ('live', private), ('released', released)):
            shown = escape(' '.join(word[:_SHOWN]))
            table.add_row(name, shown + (' …' if len(word) > _SHOWN else ''))
        table.add_row('error', f'{wrong(true, released) / max(1, len(true)):.3f}: share of '
                               'released symbols that are wrong')
        for name, answer in zip(('~/release', '~/status'), answers, strict=True):
            table.add_row(f'answer of {name}', escape(answer))
        self.console.print('', table, sep='\n')
