# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo`: a simulated robot, made private, live in a terminal."""
from dataclasses import replace
from itertools import zip_longest
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from symdp_ros.analysis.accuracy import accuracy
from symdp_ros.analysis.alternatives import single_moves
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.check import add_chain_arguments, chain_of, graph_of
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import printable, SymdpError
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.options import ADJACENCY, DURATION, EPSILON, FIGURE, POLICY, RATE, ROBOTS
from symdp_ros.ros.free_domain import FreeDomain
from symdp_ros.ros.own_network import is_isolated, restart_isolated

_ROWS = 14          # of the live table
_SHOWN = 20         # symbols of a route in the summary
_PATIENCE = 60.0    # seconds for a node to start, or to catch up
_TOPICS = ('region', 'private_region', 'believed_region')
_LEGEND = ('true?     the private region is the true one\n'
           'allowed?  the map has a move to it from the previous private region\n'
           'believed  the region that others find most probable: they know the map, and see '
           'the private regions')
_NAMESPACE = '/symdp_demo'  # separate from a robot's own topics in the same ROS domain


class DemoError(SymdpError):
    """The demo cannot start, or one of its processes failed."""


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'demo', help='run a simulated robot and its privatizer, and show both regions',
        description='Runs the nodes patrol, privatizer and belief as processes of their own, and '
                    'shows the true, the private and the most probable region side by side. '
                    'Then lets the node log_release release the same patrol as a log. With '
                    '--robots: several robots, in one process that lets nothing but private '
                    'regions into the ROS domain of the fleet. Other programs see nothing of it, '
                    'where the kernel allows that, unless ROS_DOMAIN_ID is set: then they find '
                    'it (of a fleet: its private regions) in that domain.')
    add_chain_arguments(parser)
    add_arguments(parser, (replace(EPSILON, default=2.0), ADJACENCY, POLICY, DURATION, RATE,
                           FIGURE, ROBOTS))
    parser.set_defaults(run=run)


def run(options) -> int:
    """Run the demo; return 0 where every private move was feasible."""
    try:
        import rclpy  # noqa: F401
    except ImportError:
        raise DemoError('the demo needs ROS 2 (rclpy): source it, or use `make demo`') from None
    if not options.chain_file.isprintable():
        raise DemoError('the nodes cannot open a file of this name: rename it')
    graph = graph_of(options)
    if graph.initial_state is None:
        options.initial_state = next(iter(graph.successors), None)
    if options.figure:
        from symdp_ros.figures.routes import check_figure
        check_figure(options.figure, graph)
    chain = chain_of(options)
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if options.robots > 1 and options.figure:
        raise DemoError('--figure is for one robot')
    if not (given := os.environ.get('ROS_DOMAIN_ID')):
        restart_isolated()
    elif not given.isascii() or not given.isdigit() or int(given) > 232:
        raise DemoError(f'ROS_DOMAIN_ID is {printable(given)}: it must be a number from 0 to 232')
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that the nodes are stopped properly
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    if options.robots > 1:
        from symdp_ros.cli.demo_fleet import run_fleet
        return run_fleet(options, chain)
    mechanism = OnlineMechanism(chain, Privacy(options.epsilon, options.adjacency),
                                policy=options.policy)
    if not os.environ.get('ROS_DOMAIN_ID'):
        domain = FreeDomain()  # held until the demo ends
        os.environ['ROS_DOMAIN_ID'] = str(domain.number)
    shared = map_parameters(options, chain)
    screen = _Screen(chain, options)
    with tempfile.TemporaryDirectory() as work, _Observer() as observer:
        settings = {**shared, 'epsilon': options.epsilon, 'adjacency': options.adjacency,
                    'policy': options.policy}
        charged = {**settings, 'ledger_file': os.path.join(work, 'demo.ledger'), 'subject': 'demo'}
        privatizer = NodeProcess('privatizer', work, charged)
        belief = NodeProcess('belief', work, settings)
        with privatizer, belief:
            observer.wait(lambda: all(map(observer.publishers, _TOPICS[1:])), privatizer, belief)
            patrol = NodeProcess('patrol', work, {
                **shared, 'period': 1 / options.rate, 'wait_for_subscribers': 2})
            with patrol:
                observer.wait(lambda: observer.words['region'], privatizer, belief, patrol)
                finished = watch(options, screen.console,
                                 lambda: observer.spin(0.1, privatizer, belief, patrol),
                                 lambda title: screen.table(observer.words, title))
            observer.spin(0.3, privatizer, belief)  # for messages in transit
            observer.wait(lambda: min(len(observer.words[topic]) for topic in _TOPICS[1:])
                          >= len(observer.words['region']), privatizer, belief)
        for process in (privatizer, belief, patrol):
            process.check()
        true, private, believed = (list(observer.words[topic]) for topic in _TOPICS)
        infeasible = screen.summary(mechanism, true, private, believed, observer.readers)
        if finished:
            screen.released(true, private, *_release(observer, work, charged, true))
    if options.figure:
        from symdp_ros.figures.routes import draw_routes
        right = len(true) - _wrong(true, private)
        draw_routes(graph, {'true': true, f'private: ε = {options.epsilon:g}, {right} of '
                                          f'{len(true)} true': private}, options.figure)
        print(f'the two routes are drawn in {printable(options.figure)}')
    return 0 if infeasible == 0 and len(true) == len(private) else 1


def visibility() -> str:
    """Return a line that says who sees the demo's topics."""
    if not is_isolated():
        return 'other programs of this machine see the demo in that domain'
    return ('no other program of this machine sees the demo; to look on, start it by '
            '`ROS_DOMAIN_ID=7 symdp demo …`')


def map_parameters(options, chain) -> dict:
    """Return the parameters of nodes that name the map."""
    path = os.path.abspath(MapSettings.of(vars(options)).path)
    return {'chain_file': path, 'initial_state': chain.initial_state,
            'self_loops': options.self_loops, 'level': options.level or '',
            'graph': options.graph, 'prune': options.prune}


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
        **parameters, 'log_dir': logs, 'release_dir': releases, 'mechanism': 'causal'})
    with node:
        answers = [observer.call(f'log_release/{name}', node) for name in ('release', 'status')]
    node.check()
    [path] = [entry.path for entry in os.scandir(releases) if not entry.name.startswith('.')]
    return [symbol for _, symbol in read_log(path)], answers


#: Runs a module as `python -m` does, until the process that started it ends, however it ends.
_NODE = """
import ctypes, os, runpy, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
demo, module = int(sys.argv.pop(1)), sys.argv.pop(1)
if os.getppid() == demo:
    runpy.run_module(module, run_name='__main__', alter_sys=True)
"""


class NodeProcess:
    """A node of this package in a process of its own, stopped at the end of the context."""

    def __init__(self, name, logs, parameters, namespace=_NAMESPACE):
        self.name = name
        self._log = open(os.path.join(logs, name + namespace.replace('/', '_')), 'w+b')
        # json.dumps quotes strings that YAML would read as numbers, and writes true and false.
        arguments = [part for name, value in parameters.items()
                     for part in ('-p', f'{name}:={json.dumps(value)}')]
        self._process = subprocess.Popen(
            [sys.executable, '-c', _NODE, str(os.getpid()), f'symdp_ros.nodes.{name}',
             '--ros-args', '-r', f'__ns:={namespace}', *arguments],
            stdout=self._log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True)  # Ctrl+C reaches this process alone; it stops the others

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def check(self, running=False):
        """
        Raise where the process ended with a problem, or at all while it should be running.

        :raises DemoError: with what the process printed.
        """
        status = self._process.poll()
        if status is None and running or status == 0 and not running:
            return
        self._log.seek(0)
        print(self._log.read().decode(errors='replace').strip(), file=sys.stderr)
        raise DemoError(f'{self.name} ended with status {status}, after the lines above')


class _Observer:
    """A ROS node that reads all topics; only a demo may, as `region` is the sensitive one."""

    def __enter__(self) -> '_Observer':
        from diagnostic_msgs.msg import DiagnosticArray
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from rclpy.signals import SignalHandlerOptions
        from std_msgs.msg import String

        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node('demo', namespace=_NAMESPACE)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self.words: dict[str, list[str]] = {topic: [] for topic in _TOPICS}
        self.readers = ''
        latched = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for topic in _TOPICS:
            def read(message, word=self.words[topic]):
                word.append(message.data)

            self._node.create_subscription(String, topic, read, latched)
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 10)
        return self

    def __exit__(self, *exception):
        import rclpy

        self._executor.remove_node(self._node)
        self._node.destroy_node()
        rclpy.shutdown()

    def _hear(self, array):
        for status in array.status:
            if status.name.startswith(f'{_NAMESPACE}/'):
                self.readers = '; '.join(part for part in status.message.split('; ')
                                         if 'raw topic' in part) or self.readers

    def publishers(self, topic):
        return self._node.count_publishers(topic)

    def call(self, name, *processes):
        """Return the answer of a service (Trigger)."""
        from std_srvs.srv import Trigger

        client = self._node.create_client(Trigger, name)
        self.wait(client.service_is_ready, *processes)
        self.spin(0.3, *processes)  # the service discovers the client a moment later
        until = time.monotonic() + _PATIENCE
        while True:
            answer = client.call_async(Trigger.Request())
            self.wait(answer.done, *processes)
            message = answer.result().message
            if not message.startswith('starting: ') or time.monotonic() > until:
                return message
            self.spin(0.5, *processes)  # it compiles its loops

    def spin(self, seconds, *processes):
        """Receive messages for some time, while the processes run."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)
        for process in processes:
            process.check(running=True)

    def wait(self, condition, *processes):
        """
        Receive messages until the condition holds.

        :raises DemoError: it does not, within a minute.
        """
        wait_until(condition, lambda: self.spin(0.05, *processes), _PATIENCE)


def wait_until(condition, spin, patience):
    """
    Call `spin` until the condition holds.

    :raises DemoError: it does not, within so many seconds.
    """
    until = time.monotonic() + patience
    while not condition():
        if time.monotonic() > until:
            raise DemoError('the nodes do not receive from each other: is something blocking '
                            'loopback multicast or shared memory?')
        spin()


def watch(options, console, spin, table) -> bool:
    """
    Draw a table again and again until the demo has lasted long enough, or Ctrl-C is pressed.

    :param spin: receives messages for a moment.
    :param table: a function of the title.
    :return: whether it has lasted long enough.
    """
    from rich.live import Live

    begin = time.monotonic()
    try:
        with Live(console=console, refresh_per_second=8) as live:
            while (now := time.monotonic() - begin) < options.duration:
                spin()
                live.update(table(f'{now:.1f} s of {options.duration:g} s (Ctrl-C: end now)'))
    except KeyboardInterrupt:
        return False
    return True


def heading(options, chain, more) -> str:
    """Return a line about the map and the settings, as markup."""
    from rich.markup import escape

    single = single_moves(chain)
    name = escape(printable(os.path.basename(options.chain_file)))
    return (f'[bold]{name}[/]: {len(chain)} states, {chain.edge_count} moves, from state '
            f'{escape(chain.initial_state)}; '
            f'ε = {options.epsilon:g}, k = {options.adjacency}, policy {options.policy}; {more}'
            + (f'\n{single}' if single else ''))


class _Screen:
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

        true, private, believed = (words[topic] for topic in _TOPICS)
        table = Table(title=title, title_justify='left')
        for name, justify in (('time', 'right'), ('true region', 'left'),
                              ('private region', 'left'), ('true?', 'center'),
                              ('allowed?', 'center'), ('believed region', 'left')):
            table.add_column(name, justify=justify, min_width=8)
        start = max(0, len(true) - _ROWS)
        for t, (s, o, b) in enumerate(zip_longest(true[start:], private[start:], believed[start:]),
                                      start):
            before = [self._chain.initial_state, *private][min(t, len(private))]
            feasible = o in self._chain.successors(before)
            table.add_row(f'{t / self._options.rate:.1f}', escape(s or '…'), escape(o or '…'),
                          '' if o is None else '[green]✓[/]' if s == o else '[yellow]✗[/]',
                          '' if o is None else '[green]✓[/]' if feasible else '[red]✗[/]',
                          '' if b is None else f'[green]{escape(b)}[/]' if b == s else escape(b))
        return table

    def summary(self, mechanism, true, private, believed, readers):
        """Print the summary; return the number of infeasible moves."""
        from rich.table import Table

        before = [self._chain.initial_state, *private[:-1]]
        infeasible = sum(o not in self._chain.successors(p)
                         for p, o in zip(before, private, strict=True))
        errors, mistaken = _wrong(true, private), _wrong(true, believed)
        expected = accuracy(mechanism, true)
        count = max(1, min(len(true), len(private)))
        table = Table(title='summary', title_justify='left', show_header=False)
        table.add_row('symbols', f'{len(true)} true, {len(private)} private')
        table.add_row('error', f'{errors / count:.3f}: share of private symbols that are wrong '
                               f'({errors} of {count})')
        table.add_row('expected error', f'{expected.mean / count:.3f} ± '
                      f'{expected.variance**0.5 / count:.3f}, if this route were released again '
                      f'and again{" (simulated)" if expected.standard_error else ""}')
        if mistaken != errors:
            table.add_row('error of others', f'{mistaken / count:.3f}: share of believed regions '
                                             'that are wrong')
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
        table.add_row('error', f'{_wrong(true, released) / max(1, len(true)):.3f}: share of '
                               'released symbols that are wrong')
        for name, answer in zip(('~/release', '~/status'), answers, strict=True):
            table.add_row(f'answer of {name}', escape(answer))
        self.console.print('', table, sep='\n')


def _wrong(true, others):
    """Return how many symbols differ from the true ones."""
    return sum(s != o for s, o in zip(true, others, strict=False))
