# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Real nodes under load for as long as SYMDP_SOAK_SECONDS: what is lost, what they take.

Each test prints loss, memory and processor time; it fails where something is lost, or where the
memory has grown by more than 30 MB since the first tenth of the time. That of a fleet may grow by
2 % from where each robot's histories in DDS, of 5,000 messages, are full (`make soak`).
"""
from contextlib import suppress
import os
from pathlib import Path
import subprocess
import sys
import time

from bench.fleet import Observer, write_fleet
from harness import apart, Crashed, RECONFIGURE, RELIABLE, wait_until
from long_runs import first_seed, report, SOAK_SECONDS
from std_msgs.msg import String
from symdp_ros import Chain
from symdp_ros.fleet.fleet_file import read_fleet

_MOST_GROWTH = 30.0  # MB
_RATE = 500          # messages a second
_MOST_WAITING = 1000  # messages that are not answered yet
_OVER = 30.0          # seconds in which a process of a storm ends
#: Robots, messages a second to each; processes of a storm, with 50 publishers each.
_FLEET, _FLEET_RATE, _STORM = (100, 50, 2) if SOAK_SECONDS > 60 else (20, 25, 1)
_TICKS = os.sysconf('SC_CLK_TCK')


class Watched:
    """A node's process: its memory and its processor time since it was first looked at."""

    def __init__(self, run):
        self.run, self._memory = run, None
        self._cpu = self._seconds()

    def _seconds(self):
        fields = Path(f'/proc/{self.run.process.pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self):
        """Return how many MB it takes now."""
        lines = Path(f'/proc/{self.run.process.pid}/status').read_text().splitlines()
        [size] = [line for line in lines if line.startswith('VmRSS:')]
        return int(size.split()[1]) / 1024

    def warm(self):
        """Remember how much memory it takes once it works."""
        self._memory = self._memory or self.memory()

    def figures(self, count, what='message', most_growth=_MOST_GROWTH):
        """Check that it lives and has not grown; return what it took for so many, as text."""
        assert self.run.process.poll() is None, self.run.log[-5000:]
        assert 'Traceback' not in self.run.log
        memory = self.memory()
        assert memory - self._memory < most_growth, f'{self._memory:.1f} → {memory:.1f} MB'
        each = (self._seconds() - self._cpu) / max(count, 1)
        return (f'{self._memory:.0f} → {memory:.0f} MB, {each * 1e6:,.0f} µs of processor time a '
                f'{what}')


def feed(world, publisher, words, seconds, meanwhile=lambda: None):
    """
    Publish at a steady rate; less, where an observed word falls behind.

    :return: how many messages, once each word has become longer by as many.
    """
    begin, known = time.monotonic(), [len(word) for word in words]
    count, word = 0, 'abbcad'

    def behind():
        return max(count + start - len(word) for start, word in zip(known, words, strict=True))

    while (passed := time.monotonic() - begin) < seconds:
        while count < passed * _RATE and behind() < _MOST_WAITING:
            publisher.publish(String(data=word[count % len(word)]))
            count += 1
        world.spin(0.001)
        meanwhile()
    wait_until(lambda: behind() <= 0, 'all symbols', lambda: (world.spin(), meanwhile()))
    world.settle()
    assert behind() == 0, f'{-behind()} symbols more than messages'
    return count


def test_privatizer(world, chain_file):
    private = world.listen()
    privatizer = Watched(world.privatizer(chain_file=chain_file, epsilon=2.0, policy='guided'))
    publisher = world.latch('a')
    world.wait_until(lambda: len(private) == 1, 'the first symbol')
    sent = feed(world, publisher, [private], SOAK_SECONDS / 10)
    privatizer.warm()
    sent += feed(world, publisher, [private], SOAK_SECONDS * 9 / 10)
    report(f'{sent:,} messages in {SOAK_SECONDS:.0f} s', f'none lost; '
           f'{privatizer.figures(sent)}')
    assert Chain.from_yaml(chain_file).is_feasible(private)


def test_a_fleet(world):
    file = write_fleet(world.directory, {f'r{i}': {} for i in range(_FLEET)})
    run = Watched(world.start('fleet', fleet=file))
    observer = Observer(read_fleet(file).robots, world.domain)
    observer.wait_for_all()
    private, before, sent = observer.received, dict(observer.received), 0

    def send(seconds):
        nonlocal sent
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            sent += observer.send(_FLEET_RATE, min(left, 1.0))
            observer.wait(lambda: all(private[name] - before[name] >= sent for name in private))

    send(SOAK_SECONDS / 2)
    run.warm()
    most_growth = 0.02 * run.memory() if sent > 6000 else _MOST_GROWTH
    send(SOAK_SECONDS / 2)
    observer.wait(lambda: False, 1.0)
    lost = {name: sent - (private[name] - before[name]) for name in private}
    observer.close()
    assert not any(lost.values()), lost
    report(f'{sent * _FLEET:,} messages to {_FLEET} robots in one process in {SOAK_SECONDS:.0f} s',
           f'none lost; {run.figures(sent * _FLEET, most_growth=most_growth)}')


class Storm:
    """
    Processes in which publishers come and go.

    They end when told to, or half a minute later than a test needs them: what a node of a busy
    machine has not answered, it answers when the storm is over.

    :param texts: what each publisher publishes once.
    """

    def __init__(self, world, *texts, count):
        self._world, self._texts = world, texts
        self._until = time.monotonic() + SOAK_SECONDS + _OVER
        self._seeds = iter(range(first_seed(), sys.maxsize))
        self._members = [self._start() for _ in range(count)]
        world.wait_until(lambda: world.node.count_publishers('region') > 1, 'the storm')

    def _start(self):
        member = Member(self._world, str(next(self._seeds)), str(self._until - time.monotonic()),
                        *self._texts)
        self._world.runs.append(member)
        return member

    def keep_on(self):
        """Start another process in the place of each that Fast DDS has crashed in."""
        self._members = [self._start() if (member.process.poll() or 0) < 0 else member
                         for member in self._members]

    def end(self):
        """Let all processes leave; kill what cannot (Fast DDS, issue 6513)."""
        for member in self._members:
            member.process.terminate()
        for member in self._members:
            with suppress(subprocess.TimeoutExpired):
                member.process.wait(_OVER)
            member.close()


class Member:
    """
    One process of a storm.

    Its Fast DDS is set as it is on robots: with discovery.xml it would ask 150 times as often
    whether its messages have come, and processes of a busy machine would do little else.
    """

    def __init__(self, world, *arguments):
        with (world.directory / 'storm.log').open('ab') as log:
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name('storm.py')), *arguments],
                stdout=log, stderr=log, env={
                    **{name: value for name, value in os.environ.items()
                       if not name.endswith('_DEFAULT_PROFILES_FILE')},
                    'ROS_DOMAIN_ID': str(world.domain)})

    def look_for_crash(self):
        """Do nothing: another one is started in its place."""

    def close(self):
        self.process.kill()
        self.process.wait()


@apart
def test_in_a_storm_of_publishers_nothing_is_lost_or_drawn_twice(world, chain_file):
    """They publish nothing; a steady publisher's messages are counted."""
    private = world.listen()
    run = Watched(world.privatizer(chain_file=chain_file, epsilon=2.0))
    publisher = world.publisher(qos=RELIABLE)
    world.settle()
    storm = Storm(world, count=_STORM)
    sent = feed(world, publisher, [private], SOAK_SECONDS / 10, storm.keep_on)
    run.warm()
    sent += feed(world, publisher, [private], SOAK_SECONDS * 9 / 10, storm.keep_on)
    report(f'{sent:,} messages in {SOAK_SECONDS:.0f} s, while {50 * _STORM} publishers come and '
           'go', f'none lost; {run.figures(sent)}')


@apart
def test_a_storm_of_publishers_and_of_transitions_ends_no_node(world, chain_file):
    """
    Nothing but a known fault of Fast DDS 2.14 does, and not twice: another node then takes over.

    Where a node destroys its subscription just when a publisher of its topic is found, Fast DDS
    calls a listener that is gone (its issue 3303), in a thread that runs no Python.
    """
    def start():
        return Watched(world.privatizer(chain_file=chain_file, epsilon=2.0))

    run, transitions, crashes = start(), 0, 0
    storm = Storm(world, *'abcd', count=2 * _STORM)
    until = time.monotonic() + SOAK_SECONDS
    while not transitions or time.monotonic() < until:
        try:
            assert world.change('privatizer', *RECONFIGURE)
        except Crashed as crash:
            crashes += 1
            assert crashes == 1 and 'Current thread' not in run.run.log, crash
            run, transitions = start(), 0
        else:
            transitions += len(RECONFIGURE)
            run.warm()
        storm.keep_on()
    report(f'{transitions:,} transitions in {SOAK_SECONDS:.0f} s, while {100 * _STORM} publishers '
           'come and go', f'crashes of Fast DDS: {crashes}; '
           + run.figures(transitions, 'transition'))
    storm.end()  # who leaves while others are found may wait for ever, too
    assert run.run.stop() == 0
