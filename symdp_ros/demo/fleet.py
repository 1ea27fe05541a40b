# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo --robots N`: a fleet whose private regions alone reach another ROS domain."""
from contextlib import ExitStack
import json
import os
import tempfile

from symdp_ros.demo.observer import Observer
from symdp_ros.demo.processes import NodeProcess, patrol_file
from symdp_ros.demo.screen import heading, share_wrong, visibility, watch
from symdp_ros.ros.process.free_domain import FreeDomain

_TRAIL = 8  # places of a robot that the table shows


def run_fleet(options, chain, graph, settings) -> int:
    """
    Run the demo; return 0 where every private move was feasible and nothing else came out.

    :param chain: of private regions.
    :param graph: the map.
    :param settings: those of each robot's privatizer.
    """
    claims = FreeDomain(), FreeDomain()  # held until the demo ends
    outside = int(os.environ.get('ROS_DOMAIN_ID') or claims[0].number)
    inside = next(claim.number for claim in claims if claim.number != outside)
    os.environ['ROS_DOMAIN_ID'] = str(inside)
    names = [f'robot_{i + 1}' for i in range(options.robots)]
    screen = _Screen(chain, options, names, inside, outside)
    with tempfile.TemporaryDirectory() as work, Observer(
            {'region': inside, 'private_region': outside}, names) as observer:
        true, private = (observer.words[topic] for topic in ('region', 'private_region'))
        file = os.path.join(work, 'fleet.yaml')
        with open(file, 'w') as stream:  # JSON is YAML
            json.dump({'fleet_domain': outside, 'defaults': settings,
                       'robots': {name: {} for name in names}}, stream)
        fleet = NodeProcess('fleet', work, {'fleet': file}, '/')
        with fleet:
            observer.wait(lambda: observer.are_published('private_region'), fleet)
            walk = patrol_file(graph, settings, work) | {'wait_for_subscribers': 2}
            with ExitStack() as stack:
                walks = [stack.enter_context(NodeProcess('patrol', work, walk, f'/{name}'))
                         for name in names]
                observer.wait(lambda: all(map(observer.pairs, names)), fleet, *walks)
                watch(options, screen.console, lambda: observer.spin(0.1, fleet, *walks),
                      lambda title: screen.table(true, private, observer, title))
            seen = _seen(observer.nodes['private_region'])
        for process in (fleet, *walks):
            process.check()
    return screen.summary(private, observer, seen)


def _seen(node) -> set[str]:
    """Return the topics and services of a node's domain that are not the demo's own."""
    from symdp_ros.ros.graph.watch import publishers

    topics = set()
    for name, _ in node.get_topic_names_and_types():
        endpoints = publishers(node, name)
        if endpoints.problem or any(info.node_name != 'demo' for info in endpoints.infos):
            topics.add(name)
    services = {name for name, _ in node.get_service_names_and_types()
                if not name.startswith('/demo/')}
    return topics | services


class _Screen:
    """What the demo shows in the terminal."""

    def __init__(self, chain, options, names, inside, outside):
        from rich.console import Console

        self._chain, self._names, self._outside = chain, names, outside
        self.console = Console(highlight=False)
        domains = (f'{len(names)} robots in ROS domain {inside}; their private regions alone in '
                   f'domain {outside}, by one process')
        self.console.print(heading(options, chain, 'each robot'), visibility(domains),
                           'starting the nodes: some seconds …', sep='\n')

    def table(self, true, private, observer, title):
        """Return the last regions of each robot."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=title, title_justify='left')
        for name, justify in (('robot', 'left'), ('where it was', 'left'),
                              ('where others saw it', 'left'), ('wrong', 'right')):
            table.add_column(name, justify=justify)
        for name in self._names:
            words = true[name], private[name]
            table.add_row(name, *(escape(' '.join(word[-_TRAIL:])) for word in words),
                          f'{share_wrong(observer.pairs(name)):.0%}')
        return table

    def summary(self, private, observer, seen) -> int:
        """Print the summary; return the exit status."""
        infeasible = sum(not self._chain.is_feasible(private[name]) for name in self._names)
        wanted = {f'/{name}/private_region' for name in self._names}
        others = sorted(seen - wanted)
        pairs = [pair for name in self._names for pair in observer.pairs(name)]
        show = self.console.print
        show()
        show(f'others saw a wrong place for {share_wrong(pairs):.0%} of the time')
        show(f'private routes that the map does not allow: {infeasible}')
        show(f'in ROS domain {self._outside}, others see {len(seen & wanted)} private topics and '
             + (f'[red]{", ".join(others)}[/]' if others else 'nothing else'))
        return 1 if infeasible or others else 0
