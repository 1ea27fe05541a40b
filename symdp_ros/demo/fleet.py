# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo --robots N`: a fleet whose private regions alone reach another ROS domain."""
import json
import os
import tempfile

from symdp_ros.demo.observer import Observer
from symdp_ros.demo.processes import NodeProcess
from symdp_ros.demo.screen import heading, visibility, watch, wrong
from symdp_ros.ros.process.free_domain import FreeDomain

_TRAIL = 5  # regions of a robot that the table shows


def run_fleet(options, chain, of_map) -> int:
    """
    Run the demo; return 0 where every private move was feasible and nothing else came out.

    :param of_map: the parameters of nodes that name the map.
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
            json.dump({'fleet_domain': outside, 'defaults': {
                **of_map, 'epsilon': options.epsilon, 'adjacency': options.adjacency,
                'policy': options.policy}, 'robots': {name: {} for name in names}}, stream)
        fleet = NodeProcess('fleet', work, {'fleet': file}, '/')
        walks = []
        with fleet:
            try:
                observer.wait(lambda: observer.are_published('private_region'), fleet)
                walks += [NodeProcess('patrol', work, {
                    **of_map, 'period': 1 / options.rate, 'wait_for_subscribers': 2}, f'/{name}')
                    for name in names]
                observer.wait(lambda: all(true.values()), fleet, *walks)
                watch(options, screen.console, lambda: observer.spin(0.1, fleet, *walks),
                      lambda title: screen.table(true, private, title))
            finally:
                for walk in walks:
                    walk.__exit__()
            observer.wait(lambda: all(len(private[name]) >= len(true[name]) for name in names),
                          fleet)
            seen = _seen(observer.nodes['private_region'])
        for process in (fleet, *walks):
            process.check()
    return screen.summary(true, private, seen)


def _seen(node) -> set[str]:
    """Return the topics and services of a node's domain that are not the demo's own."""
    from symdp_ros.ros.graph.watch import publishers

    topics = set()
    for name, _ in node.get_topic_names_and_types():
        found = publishers(node, name)
        if found.problem or any(info.node_name != 'demo' for info in found.infos):
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
        domains = (f'{len(names)} robots in ROS domain {inside}, their private regions in domain '
                   f'{outside}; one process privatizes all')
        self.console.print(heading(options, chain, domains),
                           visibility(),
                           'error: share of private symbols that are wrong', sep='\n')

    def table(self, true, private, title):
        """Return the last regions of each robot."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=title, title_justify='left')
        for name, justify in (('robot', 'left'), ('true regions', 'left'),
                              ('private regions', 'left'), ('symbols', 'right'),
                              ('error', 'right')):
            table.add_column(name, justify=justify)
        for name in self._names:
            words = true[name], private[name]
            table.add_row(name, *(escape(' '.join(word[-_TRAIL:])) for word in words),
                          str(len(private[name])), f'{_error(*words):.2f}')
        return table

    def summary(self, true, private, seen) -> int:
        """Print the summary; return the exit status."""
        infeasible = sum(not self._chain.is_feasible(private[name]) for name in self._names)
        wanted = {f'/{name}/private_region' for name in self._names}
        others = sorted(seen - wanted)
        words = ([s for name in self._names for s in found[name]] for found in (true, private))
        show = self.console.print
        show()
        show(f'error: {_error(*words):.3f}: share of private symbols that are wrong')
        show(f'private routes that the map does not allow: {infeasible}')
        show(f'in ROS domain {self._outside}, others see {len(seen & wanted)} private topics and '
             + (f'[red]{", ".join(others)}[/]' if others else 'nothing else'))
        return 1 if infeasible or others else 0


def _error(true, private):
    """Return the share of symbols that differ, of those that both words have."""
    return wrong(true, private) / max(1, min(len(true), len(private)))
