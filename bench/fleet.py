# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
One process for many robots, against one process for each: `python -m bench.fleet`.

Real processes, real DDS, all robots in one ROS domain, or (`--domains`) each in its own and the
private topics in another. The same fleet file drives both: the processes of their own get what
`fleet.launch.py processes:=each` gives them. Not part of `make bench`: 50 processes need 4 GB.
"""
import argparse
from contextlib import contextmanager, ExitStack
import json
import os
from pathlib import Path
import re
import signal
from statistics import median
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

from bench.nodes import CHAIN, memory, processor_time, REGIONS
import rclpy
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from studies.common import table
from symdp_ros.fleet.fleet_file import read_fleet
from symdp_ros.ros.process.free_domain import FreeDomain

_PATIENCE = 300.0  # seconds
_LATCHED = QoSProfile(depth=100_000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Processes:
    """Started processes, and what they take."""

    def __init__(self, commands, directory: Path):
        self.log = directory / 'output'  # 'log' is the folder of ROS
        with self.log.open('ab') as log:
            self.all = [subprocess.Popen(
                [sys.executable, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, 'ROS_HOME': str(directory), **environment})
                for command, environment in commands]

    def memory(self) -> float:
        """Return the memory of all together in MB."""
        return sum(memory(process.pid) for process in self.all) / 2**20

    def processor_time(self) -> float:
        """Return the seconds of processor time of all together."""
        return sum(processor_time(process.pid) for process in self.all)

    def end(self) -> None:
        """Interrupt all, and wait."""
        for process in self.all:
            process.send_signal(signal.SIGINT)
        for process in self.all:
            process.wait(_PATIENCE)


class Observer:
    """Publishes regions to all robots, and counts their private ones."""

    def __init__(self, robots, domain: int):
        self._contexts: dict[int, Context] = {}
        self.received = dict.fromkeys(robots, 0)
        self._executor, self._nodes, self._subscriptions = None, [], []
        # Fast DDS numbers the participants of a process, and on one machine those with numbers
        # above 31 find only such as have smaller ones. So here the private topics come first, and
        # the robots in another order than the fleet's.
        for robot in robots.values():
            self._node(robot.parameters.get('output_domain', domain))
        self._publishers = [
            self._node(robot.domain or domain).create_publisher(
                String, robot.topic('region'), QoSProfile(depth=100_000))
            for robot in reversed(robots.values())]
        for name, robot in robots.items():
            node = self._node(robot.parameters.get('output_domain', domain))
            self._subscriptions.append(node.create_subscription(
                String, robot.topic('private_region'), self._counter(name), _LATCHED, raw=True))

    def _node(self, domain):
        if domain not in self._contexts:
            context = self._contexts[domain] = Context()
            context.init([], domain_id=domain)
            self._executor = self._executor or EventsExecutor(context=context)
            self._nodes.append(rclpy.create_node(
                'observer', context=context, start_parameter_services=False,
                enable_rosout=False))
            self._executor.add_node(self._nodes[-1])
        return next(node for node in self._nodes if node.context is self._contexts[domain])

    def _counter(self, name):
        def count(message):
            self.received[name] += 1

        return count

    def send(self, rate: float, seconds: float) -> int:
        """Publish to every robot at a rate; return how many each was sent."""
        begin, count = time.monotonic(), round(rate * seconds)
        for number in range(count):
            message = String(data=REGIONS[number % len(REGIONS)])
            for publisher in self._publishers:
                publisher.publish(message)
            while (left := begin + (number + 1) / rate - time.monotonic()) > 0:
                self._executor.spin_once(timeout_sec=left)
        return count

    def wait(self, condition, patience: float = _PATIENCE) -> bool:
        """Spin until a condition holds; return whether it does."""
        until = time.monotonic() + patience
        while not condition():
            if time.monotonic() > until:
                return False
            self._executor.spin_once(timeout_sec=0.01)
        return True

    def wait_for_topics(self) -> None:
        """Wait until every private topic has a publisher."""
        assert self.wait(lambda: all(subscription.get_publisher_count()
                                     for subscription in self._subscriptions))

    def wait_for_all(self) -> None:
        """Send slowly until every robot has answered."""
        for _ in range(600):
            self.send(5.0, 0.2)
            if all(self.received.values()):
                break
        else:
            raise RuntimeError('not every robot answers')
        while True:  # what is on its way
            before = sum(self.received.values())
            self.wait(lambda: False, 1.0)
            if sum(self.received.values()) == before:
                return

    def close(self) -> None:
        """Leave all domains."""
        for node in self._nodes:
            self._executor.remove_node(node)
            node.destroy_node()
        self._executor = None
        for context in self._contexts.values():
            context.shutdown()


@contextmanager
def _running(make, count: int, own_domains: bool, observed: bool = True):
    """Give (processes, when they were started, observer or None) of so many robots."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory()))
        domain = stack.enter_context(FreeDomain()).number
        robots, top = {f'r{i}': {} for i in range(count)}, {}
        if own_domains:
            for robot in robots.values():
                robot['domain'] = stack.enter_context(FreeDomain()).number
            top = {'fleet_domain': stack.enter_context(FreeDomain()).number}
        file, observer = write_fleet(directory, robots, **top), None
        if observed:
            observer = Observer(read_fleet(file).robots, domain)
            stack.callback(observer.close)
        begin = time.monotonic()
        processes = Processes(make(file, domain), directory)
        stack.callback(processes.end)
        yield processes, begin, observer


def write_fleet(directory: Path, robots: dict[str, dict[str, int]], **top) -> Path:
    """Write a fleet file; return its path."""
    file = directory / 'fleet.yaml'
    file.write_text(json.dumps({**top, 'robots': robots, 'defaults': {
        'chain_file': str(CHAIN), 'initial_state': '0', 'epsilon': 2.0, 'adjacency': 1}}))
    return file


def _one(file, domain):
    return [(['-m', 'symdp_ros.nodes.fleet', str(file)], {'ROS_DOMAIN_ID': str(domain)})]


def _each(file, domain):
    for robot in read_fleet(file).robots.values():
        given = [word for name, value in robot.parameters.items()
                 for word in ('-p', f'{name}:={json.dumps(value)}')]
        yield (['-m', 'symdp_ros.nodes.privatizer', '--ros-args', '-r',
                f'__ns:={robot.namespace}', *given],
               {'ROS_DOMAIN_ID': str(domain if robot.domain is None else robot.domain)})


def _measure(make, count, own_domains, seconds) -> dict[str, float]:
    """Return what so many robots take; `make`: the commands."""
    with _running(make, count, own_domains) as (processes, begin, observer):
        observer.wait_for_topics()
        found = {'start': time.monotonic() - begin}
        observer.wait_for_all()
        before, began = processes.processor_time(), time.monotonic()
        observer.send(10.0, seconds)
        found['processor'] = (processes.processor_time() - before) / (time.monotonic() - began)
        found['memory'] = processes.memory()
        if len(processes.all) == 1:
            observer.wait(lambda: False, 2.0)
            already = dict(observer.received)
            sent = observer.send(100.0, seconds)
            observer.wait(lambda: all(observer.received[name] - already[name] >= sent
                                      for name in already), 20.0)
            found['lost'] = sum(sent - (observer.received[name] - already[name])
                                for name in already)
            found['sent'] = sent * len(already)
    return found


def _active(make, count: int, own_domains: bool) -> float:
    """Return the seconds until so many robots are active, with nobody who discovers them."""
    with _running(make, count, own_domains, observed=False) as (processes, begin, _):
        while len(re.findall(r'\]: active', processes.log.read_text())) < count:
            if time.monotonic() > begin + _PATIENCE:
                raise RuntimeError(processes.log.read_text())
            time.sleep(0.01)
        return time.monotonic() - begin


def main() -> None:
    """Print a table."""
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', type=int, default=50)
    parser.add_argument('--seconds', type=float, default=10.0, help='of each burst')
    parser.add_argument('--domains', action='store_true', help='a ROS domain for each robot')
    parser.add_argument('--rounds', type=int, default=3, help='of the start')
    given = parser.parse_args()
    n, own = given.robots, given.domains
    single = [_measure(_one, 1, own, 1.0)['start'] for _ in range(given.rounds)]
    one = [_measure(_one, n, own, given.seconds) for _ in range(given.rounds)]
    each = _measure(_each, n, own, given.seconds)
    active = [median(_active(make, count, own) for _ in range(given.rounds))
              for make, count in ((_one, 1), (_one, n), (_each, n))]

    def of(name):
        return median(found[name] for found in one)

    print(table((f'goal, {n} robots', 'measured', 'limit'), [
        ('resident memory', f'{of("memory"):.0f} MB : {each["memory"]:.0f} MB = '
         f'1/{each["memory"] / of("memory"):.1f}', '1/15'),
        ('processor at 10 Hz each', f'{of("processor"):.3f} : {each["processor"]:.3f} cores = '
         f'{of("processor") / each["processor"]:.2f}×', '0.5×'),
        ('start, until all are active', f'{active[1]:.2f} s : {active[0]:.2f} s of one robot = '
         f'{active[1] / active[0]:.2f}× ({active[2]:.1f} s in {n} processes)', '5×'),
        ('start, until one process has found all topics', f'{of("start"):.2f} s : '
         f'{median(single):.2f} s of one robot = {of("start") / median(single):.2f}× '
         f'({each["start"]:.1f} s in {n} processes)', '5×'),
        ('lost at 100/s each', f'{sum(found["lost"] for found in one)} of '
         f'{sum(found["sent"] for found in one):,}', '0')]))


if __name__ == '__main__':
    main()
