# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`privatizer` against a bare relay of rclpy in its place: real processes, real DDS.

The relay (`relay.py`) has the QoS, the executor and the loop of `privatizer`, which is stricter
than a plain `rclpy.spin`: that one carries fewer messages. A second relay is the control: its
ratio to the first is what this machine makes of equal things. Every function runs all contestants
in rounds, in an order that turns from round to round; they are compared round by round.
"""
from contextlib import contextmanager, ExitStack
from importlib.util import find_spec
import json
import os
from pathlib import Path
import random
import signal
from statistics import median
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

from bench.measure import NotMeasured
from symdp_ros.ros.process.free_domain import FreeDomain

RATE = 16_000      # messages a second, of the burst that must not lose any
LATER_RATE = 1_000  # the same of a node whose reports come later
DELAY = 3
_AIM = 1.02         # times the rate: what the sender aims at, as it is held up now and then
_PERIOD = 0.005    # seconds between the regions that a starting node finds
_BLOCK = 25        # round trips through one contestant before the next one's turn
_HERE = Path(__file__).resolve().parent
CHAIN = _HERE.parent / 'config' / 'depot.geojson'
REGIONS = [str(state) for state in range(22)]  # of that map
_PATIENCE = 20.0   # seconds for a process to end
#: Seconds of each contestant ('privatizer', 'relay', 'control', …), one for each round.
Seconds = dict[str, list[float]]


def round_trip(rounds: int = 7, pings: int = 4000) -> Seconds:
    """
    Measure the time from a region's publication to its answer, one at a time.

    :param pings: round trips of each contestant in a round, whose median counts.
    """
    names = ['relay', 'privatizer', 'control']
    with _world() as world, world.nodes(names):
        probe = world.probe(names)
        probe.call('connect')
        for name in names:  # first symbols, first rows
            probe.call('ping', name, REGIONS * 5)
        seconds = {name: [] for name in names}
        for number in range(rounds):
            trips = {name: [] for name in names}
            for block in range(max(1, pings // _BLOCK)):
                regions = [random.choice(REGIONS) for _ in range(_BLOCK)]
                for name in _turned(names, number + block):
                    trips[name] += probe.call('ping', name, regions)
            for name in names:
                seconds[name].append(median(trips[name]))
    return seconds


def service(rounds: int = 7,
            duration: float = 1.0) -> tuple[Seconds, dict[str, int], list[float]]:
    """
    Measure the processor time of a node's process for each message, and count what is lost.

    All threads together, in bursts of `RATE` messages a second.

    :param duration: of a burst, in seconds.
    :return: seconds a message; by contestant, how many messages all bursts lost; the rates that
        the sender reached, in messages a second, ascending.
    """
    names = ['relay', 'privatizer', 'privatizer with a state file', 'privatizer, policy auto',
             'control']
    topics = {name: f'n{i}' for i, name in enumerate(names)}
    count = round(RATE * duration)
    seconds, lost = {name: [] for name in names}, dict.fromkeys(names, 0)
    rates = []
    with _world() as world, world.nodes(names, topics) as nodes:
        sender, receiver = world.probe(topics.values()), world.probe(topics.values())
        for probe in (sender, receiver):
            probe.call('connect')
        for name in names:
            sender.call('ping', topics[name], REGIONS * 5)
        for number in range(rounds):
            for name in _turned(names, number):
                before = nodes[name].processor_time()
                receiver.ask('receive', topics[name], count)
                took = sender.call('send', topics[name], REGIONS, count, _AIM * RATE)
                rates.append(count / took)
                lost[name] += count - receiver.answer()
                seconds[name].append((nodes[name].processor_time() - before) / count)
    return seconds, lost, sorted(rates)


def lost_later(seconds: float) -> tuple[int, int]:
    """
    Count the messages that a node loses which reports `DELAY` symbols later.

    Policy auto on 100 states, `LATER_RATE` messages a second.

    :return: how many were lost, and how many sent.
    """
    name, count = 'privatizer, policy auto, later', round(LATER_RATE * seconds)
    with _world() as world, world.nodes([name], {name: 'n0'}):
        sender, receiver = world.probe(['n0']), world.probe(['n0'])
        for probe in (sender, receiver):
            probe.call('connect')
        for regions, sent, come in ((REGIONS[:1], DELAY + 1, 1), (REGIONS, count, count)):
            receiver.ask('receive', 'n0', come)
            sender.call('send', 'n0', regions, sent, LATER_RATE)
            received = receiver.answer()
    return count - received, count


def start(rounds: int = 7) -> tuple[Seconds, Seconds, Seconds]:
    """
    Measure a process from its start to its first message.

    Regions are published every 5 ms meanwhile.

    :return: the time, the processor time, and then the memory, in MB.
    """
    names = ['relay', 'privatizer', 'privatizer, policy auto', 'control']
    topics = {name: f'n{i}' for i, name in enumerate(names)}
    seconds, processor, memory = ({name: [] for name in names} for _ in range(3))
    with _world() as world:
        probe = world.probe(topics.values())
        probe.call('publish_always', REGIONS[0], _PERIOD)
        time.sleep(1.0)
        for number in range(rounds):
            for name in _turned(names, number):
                probe.call('silent', topics[name])
                time.sleep(random.uniform(0.1, 0.2))
                probe.ask('first', topics[name])
                begin = time.monotonic()
                with world.nodes([name], topics) as nodes:
                    seconds[name].append(probe.answer() - begin)
                    processor[name].append(nodes[name].processor_time())
                    memory[name].append(nodes[name].memory() / 1e6)
    return seconds, processor, memory


def _turned(names, number):
    """Return the names, beginning at another each time, and every other time backwards."""
    turn = number % len(names)
    turned = names[turn:] + names[:turn]
    return turned[::-1] if number // len(names) % 2 else turned


def _neighbours(number):
    """Return a place of a grid of 10 × 10, and those next to it."""
    row, column = divmod(number, 10)
    return [str(10 * r + c) for r, c in ((row, column), (row - 1, column), (row + 1, column),
                                         (row, column - 1), (row, column + 1))
            if 0 <= r < 10 and 0 <= c < 10]


class _World:
    """A ROS domain on this machine only, and a folder for what its processes write."""

    def __init__(self, directory: Path, log, stack):
        self.directory, self.log, self._stack = directory, log, stack
        self._grid = directory / 'grid.chain.yaml'  # 100 states; those of `REGIONS` among them
        self._grid.write_text('transitions:\n' + ''.join(
            f"  '{i}': [{', '.join(map(repr, _neighbours(i)))}]\n" for i in range(100)))
        self.environment = {
            **os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'ROS_DOMAIN_ID': str(stack.enter_context(FreeDomain()).number),
            'ROS_HOME': str(directory)}

    def probe(self, names):
        """Start a probe of these topics; it ends with the world."""
        return self._stack.enter_context(_Probe(self, [str(_HERE / 'probe.py'), *names]))

    @contextmanager
    def nodes(self, names, topics=None):
        """Run the contestants, by name; each in the namespace of its topics."""
        with ExitStack() as stack:
            yield {name: stack.enter_context(_Process(
                self, self._command(name), (topics or {}).get(name, name))) for name in names}

    def _command(self, name):
        if not name.startswith('privatizer'):
            return [str(_HERE / 'relay.py'), '--ros-args']
        chain = self._grid if 'auto' in name else CHAIN
        command = ['-m', 'symdp_ros.nodes.privatizer', '--ros-args', '-p',
                   f'chain_file:={chain}', '-p', f"initial_state:='{REGIONS[0]}'",
                   '-p', 'epsilon:=2.0', '-p', 'adjacency:=1',
                   '-p', f'policy:={"auto" if "auto" in name else "guided"}']
        if 'later' in name:
            command += ['-p', f'delay:={DELAY}']
        if 'state file' not in name:
            command += ['-p', 'state_file:=none']
        return command


@contextmanager
def _world():
    # Only looked for: the wheels of rclpy start the process anew when it is imported.
    if find_spec('rclpy') is None:
        raise NotMeasured('needs ROS 2 (rclpy)')
    with TemporaryDirectory() as directory, ExitStack() as stack:
        log = stack.enter_context(open(Path(directory, 'output'), 'w'))
        yield _World(Path(directory), log, stack)


def processor_time(pid: int) -> float:
    """Return the seconds of processor time that all threads of a process have taken."""
    times = Path(f'/proc/{pid}/task').glob('*/schedstat')
    return sum(int(file.read_text().split()[0]) for file in times) / 1e9


def memory(pid: int) -> float:
    """Return the memory that a process has now, in bytes, with what it shares."""
    text = Path(f'/proc/{pid}/smaps_rollup').read_text()
    [line] = [line for line in text.splitlines() if line.startswith('Rss:')]
    return 1024.0 * int(line.split()[1])


class _Process:
    """A contestant in a process of its own."""

    def __init__(self, world, command, namespace):
        self._process = subprocess.Popen(
            [sys.executable, *command, '-r', f'__ns:=/{namespace}'], stdin=subprocess.DEVNULL,
            stdout=world.log, stderr=world.log, env=world.environment)

    def processor_time(self) -> float:
        """Return the seconds of processor time that it has taken."""
        return processor_time(self._process.pid)

    def memory(self) -> float:
        """Return the memory that it has now, in bytes, with what it shares."""
        return memory(self._process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Probe:
    """A `probe.py` that does as it is told."""

    def __init__(self, world, command):
        self._process = subprocess.Popen(
            [sys.executable, *command, '--ros-args'], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=world.log, env=world.environment, text=True)

    def ask(self, *question):
        """Ask for a method of `probe.Probe`, with its arguments."""
        print(json.dumps(question), file=self._process.stdin, flush=True)

    def answer(self):
        """Return the answer to what was asked first; `RuntimeError` where there is none."""
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError('a probe of the benchmark ended before its answer')
        return json.loads(line)

    def call(self, *question):
        """Ask, and return the answer; `RuntimeError` where it is no."""
        self.ask(*question)
        answer = self.answer()
        if answer is False:
            raise RuntimeError(f'{question[0]}: not within the time that it may take')
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait(_PATIENCE)
        self._process.stdout.close()
