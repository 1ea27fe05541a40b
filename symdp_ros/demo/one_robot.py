# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The demo of one robot: a patrol, its privatizer, and a release as a log."""
from collections import Counter
from itertools import groupby
import json
import os
import tempfile
import time

from symdp_ros.demo.observer import Observer
from symdp_ros.demo.processes import NodeProcess, patrol_file
from symdp_ros.demo.screen import heading, share_wrong, visibility, watch
from symdp_ros.errors import printable
from symdp_ros.maps.reports import certainty
from symdp_ros.ros.process.free_domain import FreeDomain

_PATIENCE = 60.0    # seconds for log_release to be ready
_TOPICS = ('region', 'private_region')
_ROBOT = 'symdp_demo'  # separate from a robot's own topics in the same ROS domain
_NAMESPACE = f'/{_ROBOT}'


def run_robot(options, chain, graph, settings) -> int:
    """
    Run the demo; return 0 where every private move was feasible.

    :param chain: of private regions.
    :param graph: the map, which the screen and `options.figure` show.
    :param settings: the parameters of the privatizer.
    """
    if not os.environ.get('ROS_DOMAIN_ID'):
        claim = FreeDomain()  # held until the demo ends
        os.environ['ROS_DOMAIN_ID'] = str(claim.number)
    domains = dict.fromkeys(_TOPICS, int(os.environ['ROS_DOMAIN_ID']))
    screen = Screen(chain, graph, options)
    with tempfile.TemporaryDirectory() as work, Observer(
            domains, [_ROBOT], _NAMESPACE) as observer:
        readers = _Readers(observer.nodes['region'])
        true, private = (observer.words[topic][_ROBOT] for topic in _TOPICS)
        charged = {**settings, 'ledger_file': os.path.join(work, 'demo.ledger'), 'subject': 'demo'}
        privatizer = NodeProcess('privatizer', work, charged, _NAMESPACE)
        with privatizer:
            observer.wait(lambda: observer.are_published('private_region'), privatizer)
            patrol = NodeProcess('patrol', work, patrol_file(graph, settings, work) | {
                'wait_for_subscribers': 2}, _NAMESPACE)
            with patrol:
                observer.wait(lambda: observer.pairs(_ROBOT), privatizer, patrol)
                finished = watch(options, screen.console,
                                 lambda: observer.spin(0.1, privatizer, patrol),
                                 lambda title: screen.picture(observer.pairs(_ROBOT), true[-1],
                                                              title))
            observer.spin(0.3, privatizer)  # for messages in transit
        for process in (privatizer, patrol):
            process.check()
        true, private, pairs = list(true), list(private), observer.pairs(_ROBOT)
        if finished:
            screen.console.print('\nreleasing the same route as a log: some seconds …')
            released, status = _release(observer, work, charged, true)
        infeasible = screen.summary(private, pairs, readers.text)
        if finished:
            screen.released(share_wrong([*zip(true, released, strict=False)]), status)
    if options.figure:
        from symdp_ros.figures.routes import draw_routes
        draw_routes(graph, {'true': true, f'private: ε = {options.epsilon:g}': private},
                    options.figure)
        print(f'the two routes are drawn in {printable(options.figure)}')
    return 0 if infeasible == 0 else 1


def _release(observer, work, parameters, true):
    """
    Log the true route and let the node log_release release it.

    :return: the released word, and the node's answer to ~/status.
    """
    from symdp_ros.logs import read_log, write_log

    logs, releases = os.path.join(work, 'logs'), os.path.join(work, 'releases')
    os.mkdir(logs)
    os.mkdir(releases)
    write_log(os.path.join(logs, 'patrol.csv'), true, format='csv',
              period=parameters['report_period'])
    node = NodeProcess('log_release', work, {
        **parameters, 'log_dir': logs, 'release_dir': releases, 'mechanism': 'causal'},
        _NAMESPACE)
    with node:
        _, status = (_call(observer, f'log_release/{name}', node) for name in (
            'release', 'status'))
    node.check()
    [path] = [entry.path for entry in os.scandir(releases) if not entry.name.startswith('.')]
    return [symbol for _, symbol in read_log(path)], status


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
        status = json.loads(answer.result().message)
        if status['code'] != 'starting' or time.monotonic() > until:
            return status['summary']
        observer.spin(0.5, process)  # it makes its tables


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

    def __init__(self, chain, graph, options):
        from rich.console import Console
        from symdp_ros.demo.picture import Picture

        self._chain, self._options = chain, options
        self.console = Console(highlight=False)
        self._picture = Picture(graph, self.console)
        domain = f'ROS domain {os.environ["ROS_DOMAIN_ID"]}'
        self.console.print(heading(options, chain), visibility(domain),
                           'starting the nodes: some seconds …', sep='\n')

    def picture(self, pairs, true, title):
        """Return the map with the robot and where others see it."""
        from rich.console import Group
        from rich.text import Text

        private = pairs[-1][1]
        right = 'which is right' if true == private else 'which is wrong'
        return Group('', self._picture.draw(true, private), Text(
            f'{title}: it is at {printable(true)}, others see it at {printable(private)}, {right}'
            f'. So far wrong for {share_wrong(pairs):.0%} of the time.'))

    def summary(self, private, pairs, readers):
        """Print the summary; return the number of infeasible moves."""
        from rich.markup import escape

        before = [self._chain.initial_state, *private[:-1]]
        infeasible = sum(o not in self._chain.successors(p)
                         for p, o in zip(before, private, strict=True))
        options, show = self._options, self.console.print
        show(f'\n[bold]Hidden[/]: where the robot was during any {options.protect:g} s, at '
             f'ε = {options.epsilon:g}: {certainty(options.epsilon)}.')
        show(f'[bold]Seen instead[/]: a wrong place for {share_wrong(pairs):.0%} of the time; '
             f'forbidden moves: [{"red" if infeasible else "green"}]{infeasible}[/].')
        stays = [[*run] for _, run in groupby(pairs, key=lambda pair: pair[0])]
        if stays:
            longest = max(stays, key=len)
            step = options.period_of_reports
            seen = ', '.join(f'{escape(printable(place))} ({count * step:g} s)' for place, count
                             in Counter(place for _, place in longest).most_common())
            show(f'The longest stay: {len(longest) * step:g} s at '
                 f'{escape(printable(longest[0][0]))}. Meanwhile others saw it at {seen}.')
        show('[bold]Not hidden[/]: roughly where the robot goes, to whoever watches for longer; '
             'and all of it to whoever reads the true region.')
        show(f'Who reads it: {escape(readers or "not yet reported")}.')
        return infeasible

    def released(self, wrong, status):
        """Print what was charged, and how the log of the same patrol was released."""
        from rich.markup import escape

        epsilon, show = self._options.epsilon, self.console.print
        show(f'[bold]Charged[/]: ε = {epsilon:g} + {epsilon:g} = {2 * epsilon:g}. What went out '
             'live was one release of this route. The demo then released it once more, as a log '
             f'(by the node log_release; wrong for {wrong:.0%} of the time). Whoever has both '
             'knows more, so both are charged.')
        show(f'What log_release says: {escape(status)}')
