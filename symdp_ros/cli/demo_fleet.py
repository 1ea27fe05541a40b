# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp demo --robots N`: a fleet whose private regions alone reach another ROS domain."""
import json
import os
import tempfile
import time

from symdp_ros.cli.demo import (heading, map_parameters, NodeProcess, visibility,
                                wait_until, watch)
from symdp_ros.ros.free_domain import FreeDomain

_PATIENCE = 90.0  # seconds for all nodes to start, or to catch up
_TRAIL = 5        # regions of a robot that the table shows


def run_fleet(options, chain) -> int:
    """Run the demo; return 0 where every private move was feasible and nothing else came out."""
    claims = FreeDomain(), FreeDomain()  # held until the demo ends
    outside = int(os.environ.get('ROS_DOMAIN_ID') or claims[0].number)
    inside = next(claim.number for claim in claims if claim.number != outside)
    os.environ['ROS_DOMAIN_ID'] = str(inside)
    names = [f'robot_{i + 1}' for i in range(options.robots)]
    shared = map_parameters(options, chain)
    screen = _Screen(chain, options, names, inside, outside)
    with tempfile.TemporaryDirectory() as work, _Observer(
            inside, outside, names) as observer:
        file = os.path.join(work, 'fleet.yaml')
        with open(file, 'w') as stream:  # JSON is YAML
            json.dump({'fleet_domain': outside, 'defaults': {
                **shared, 'epsilon': options.epsilon, 'adjacency': options.adjacency,
                'policy': options.policy}, 'robots': {name: {} for name in names}}, stream)
        fleet = NodeProcess('fleet', work, {'fleet': file}, '/')
        walks = []
        with fleet:
            try:
                observer.wait(observer.private_topics_are_there, fleet)
                walks += [NodeProcess('patrol', work, {
                    **shared, 'period': 1 / options.rate, 'wait_for_subscribers': 2}, f'/{name}')
                    for name in names]
                observer.wait(lambda: all(observer.true.values()), fleet, *walks)
                watch(options, screen.console, lambda: observer.spin(0.1, fleet, *walks),
                      lambda title: screen.table(observer, title))
            finally:
                for walk in walks:
                    walk.__exit__()
            observer.wait(lambda: all(len(observer.private[name]) >= len(observer.true[name])
                                      for name in names), fleet)
            seen = observer.seen_outside()
        for process in (fleet, *walks):
            process.check()
    return screen.summary(observer, seen)


class _Observer:
    """Reads the true regions in the robots' domain, and the private ones in the fleet's."""

    def __init__(self, inside, outside, names):
        self._domains, self._names = (inside, outside), names
        self.true: dict[str, list[str]] = {name: [] for name in names}
        self.private: dict[str, list[str]] = {name: [] for name in names}

    def __enter__(self) -> '_Observer':
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from std_msgs.msg import String

        latched = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._nodes, self._executors = [], []
        for domain, topic, words in zip(self._domains, ('region', 'private_region'),
                                        (self.true, self.private), strict=True):
            context = Context()
            rclpy.init(args=[], context=context, domain_id=domain)
            node = rclpy.create_node('demo', context=context, enable_rosout=False,
                                     start_parameter_services=False)
            executor = SingleThreadedExecutor(context=context)
            executor.add_node(node)
            for name in self._names:
                def read(message, word=words[name]):
                    word.append(message.data)

                node.create_subscription(String, f'/{name}/{topic}', read, latched)
            self._nodes.append(node)
            self._executors.append(executor)
        return self

    def __exit__(self, *exception):
        import rclpy

        for node, executor in zip(self._nodes, self._executors, strict=True):
            executor.remove_node(node)
            executor.shutdown()
            node.destroy_node()
            rclpy.shutdown(context=node.context)

    def private_topics_are_there(self):
        return all(self._nodes[1].count_publishers(f'/{name}/private_region')
                   for name in self._names)

    def seen_outside(self) -> set[str]:
        """Return the topics and services of the fleet's domain that are not the demo's own."""
        from symdp_ros.ros.watch import publishers

        node, topics = self._nodes[1], set()
        for name, _ in node.get_topic_names_and_types():
            found = publishers(node, name)
            if found.problem or any(info.node_name != 'demo' for info in found.infos):
                topics.add(name)
        services = {name for name, _ in node.get_service_names_and_types()
                    if not name.startswith('/demo/')}
        return topics | services

    def spin(self, seconds, *processes):
        """Receive messages for some time, while the processes run."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for executor in self._executors:
                executor.spin_once(timeout_sec=0.002)
        for process in processes:
            process.check(running=True)

    def wait(self, condition, *processes):
        """
        Receive messages until the condition holds.

        :raises DemoError: it does not, within a minute and a half.
        """
        wait_until(condition, lambda: self.spin(0.05, *processes), _PATIENCE)


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

    def table(self, observer, title):
        """Return the last regions of each robot."""
        from rich.markup import escape
        from rich.table import Table

        table = Table(title=title, title_justify='left')
        for name, justify in (('robot', 'left'), ('true regions', 'left'),
                              ('private regions', 'left'), ('symbols', 'right'),
                              ('error', 'right')):
            table.add_column(name, justify=justify)
        for name in self._names:
            true, private = observer.true[name], observer.private[name]
            table.add_row(name, *(escape(' '.join(word[-_TRAIL:])) for word in (true, private)),
                          str(len(private)), f'{_error(true, private):.2f}')
        return table

    def summary(self, observer, seen) -> int:
        """Print the summary; return the exit status."""
        infeasible = sum(not self._chain.is_feasible(observer.private[name])
                         for name in self._names)
        wanted = {f'/{name}/private_region' for name in self._names}
        others = sorted(seen - wanted)
        true, private = ([s for name in self._names for s in words[name]]
                         for words in (observer.true, observer.private))
        show = self.console.print
        show()
        show(f'error: {_error(true, private):.3f}: share of private symbols that are wrong')
        show(f'private routes that the map does not allow: {infeasible}')
        show(f'in ROS domain {self._outside}, others see {len(seen & wanted)} private topics and '
             + (f'[red]{", ".join(others)}[/]' if others else 'nothing else'))
        return 1 if infeasible or others else 0


def _error(true, private):
    """Return the share of symbols that differ, of those that both words have."""
    count = min(len(true), len(private))
    return sum(s != o for s, o in zip(true, private, strict=False)) / max(1, count)
