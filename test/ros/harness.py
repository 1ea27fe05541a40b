# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes in processes of their own, each test in a ROS domain of its own, on this machine only."""
from contextlib import contextmanager, suppress
from functools import cache
import gc
from itertools import cycle
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
import warnings

import pytest

rclpy = pytest.importorskip('rclpy', reason='rclpy is not installed: no ROS 2 to test against')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402, I100
from geometry_msgs.msg import PoseStamped  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState, GetState  # noqa: E402
from node_server import NodeServer  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from symdp_ros.ros.graph.calling import PROBE  # noqa: E402
from symdp_ros.ros.graph.watch import subscriptions  # noqa: E402
from symdp_ros.ros.process.free_domain import FreeDomain  # noqa: E402
from symdp_ros.ros.process.own_network import is_isolated  # noqa: E402
from type_description_interfaces.srv import GetTypeDescription  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
#: Seconds that a condition may take: a busy machine takes long.
#: No test asserts a time.
PATIENCE = 150.0
_LOST = 40.0  # seconds after which an answer counts as lost
_SOON = 0.5   # and one of a call that may be repeated at will
_STOPPED = 20.0  # seconds after which a node that was told to stop is killed
_LISTED = 1.0    # seconds for which one that has ended may be listed
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
SURE = 1000.0  # an ε at which a feasible symbol passes unchanged, but for 1 in 10^16

LATCHED = QoSProfile(depth=5000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=5000)
BEST_EFFORT = QoSProfile(depth=5000, reliability=ReliabilityPolicy.BEST_EFFORT)

#: Transitions that stop a node and start it again.
REACTIVATE = Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE
RECONFIGURE = (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP,
               Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)


def send(publisher, *values):
    """Publish messages with these values in their field data."""
    for value in values:
        publisher.publish(publisher.msg_type(data=value))


def send_until(world, publisher, value, condition):
    """Send a value, or what a function returns, again and again, until a condition holds."""
    def spin():
        send(publisher, value() if callable(value) else value)
        world.spin(0.05)

    wait_until(condition, 'what was sent to arrive', spin)


def pose(x, y=0.5, frame='map'):
    """Return a message with a position."""
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.position.y = float(x), float(y)
    return message


def values_of(status):
    """Return key → value of a diagnostic status."""
    return {pair.key: pair.value for pair in status.values}


def wait_until(condition, what, spin=lambda: time.sleep(0.02)):
    """Wait for a condition; fail with `what`, or what it returns, where it does not come true."""
    until = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < until, (
            f'not within {PATIENCE:g} s: {what() if callable(what) else what}')
        spin()
    return value


#: Whether no program but those of this worker can be met.
ALONE = is_isolated()
#: In turn: a node that was killed is seen in its domain for another 20 s.
_domains = cycle(range(1, 102))
_claimed = []  # held until this process ends, or has claimed eight more


def free_domain() -> int:
    """Return a ROS domain that no other test uses."""
    if ALONE:
        return next(_domains)
    _claimed.append(FreeDomain())
    while len(_claimed) > 8:  # those of tests long ended
        _claimed.pop(0).close()
    return _claimed[-1].number


@cache
def _server():
    return NodeServer(ROOT)


def clear_ports():
    """
    Remove ports of shared memory that a killed process has left empty.

    Who opens one, in a domain of the same number, waits for ever until it is filled.
    """
    def empty():
        found = set()
        for file in Path('/dev/shm').glob('fast*_port*[0-9]'):
            with suppress(FileNotFoundError):
                if file.stat().st_size == 0:
                    found.add(file)
        return found

    if found := empty():
        time.sleep(0.1)  # one that is just being made is filled at once
        for file in found & empty():
            file.unlink(missing_ok=True)


def hiding(name, arguments, parameters):
    """Return the parameters of a node; where none says what is hidden, any symbol is."""
    says = {'protect', 'adjacency'} & parameters.keys() or '--params-file' in arguments
    return parameters if says or name not in ('privatizer', 'log_release') else {
        **parameters, 'adjacency': 1}


def arguments_of(parameters):
    """Return parameters as arguments of a node."""
    return [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]


class Crashed(AssertionError):
    """A node died of a signal that nobody sent."""


class Run:
    """A node of the package that runs in a process of its own."""

    def __init__(self, domain, home: Path, log: Path, name, arguments):
        self.log_file, self._crash_is_known = log, False
        self.process = _server().start(
            name, ['--ros-args', *arguments], log,
            {**os.environ, 'ROS_DOMAIN_ID': str(domain), 'ROS_HOME': str(home)})

    @property
    def log(self) -> str:
        """Return what it said; Fast DDS may add that another process opens a port just then."""
        return re.sub(r'.*RTPS_TRANSPORT_SHM.*Failed init_port.*\n', '',
                      self.log_file.read_text(errors='replace'))

    def wait_for(self, text):
        """Wait for a text in the log."""
        def found():
            assert self.process.poll() is None or text in self.log, \
                f'ended with {self.process.returncode}, without {text!r} in:\n{self.log}'
            return text in self.log

        wait_until(found, f'{text!r} in {self.log_file.name}')

    def look_for_crash(self):
        """
        Fail, once, where it has crashed.

        :raises Crashed: it has.
        """
        number = -(self.process.poll() or 0)
        if number in _CRASHES and not self._crash_is_known:
            self._crash_is_known = True
            raise Crashed(f'died of {signal.Signals(number).name}:\n{self.log[-5000:]}')

    def wait(self) -> int:
        """Wait for the end of the process; return its exit status."""
        return self.process.wait(PATIENCE)

    def stop(self, number=signal.SIGINT) -> int:
        """Send a signal; return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def kill(self):
        """Kill the process without warning, and clear the shared memory that is its own."""
        left = self._shared_memory()
        self.process.kill()
        self.process.wait()
        for file in left:
            file.unlink(missing_ok=True)
        clear_ports()

    def _shared_memory(self):
        """Return the segments of which it holds the lock; ports are others' too."""
        files = []
        for descriptor in Path(f'/proc/{self.process.pid}/fd').glob('*'):
            with suppress(OSError):  # closed meanwhile
                file = descriptor.readlink()
                if re.fullmatch(r'/dev/shm/fast(rtps|dds)_[0-9a-f]{16}_el', str(file)):
                    files += [file, file.with_name(file.name.removesuffix('_el'))]
        return files

    def close(self):
        if self.process.poll() is None:
            self.kill()


class World:
    """One ROS domain, with an observer node in this process and nodes in others."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.home = directory / 'ros'  # ROS_HOME of the nodes
        self.runs, self._clients = [], {}
        self._known = set()  # names of services whose nodes know their clients
        clear_ports()
        self._join()
        while not ALONE and self._company(0.5):  # another program's
            self._leave()
            self._join()

    def _join(self):
        self.domain = free_domain()
        self.context = Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node(  # without what nobody asks it for, and each spin looks at
            'observer', context=self.context, start_parameter_services=False, enable_rosout=False)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def _leave(self):
        self.executor.remove_node(self.node)
        self.executor.shutdown()  # before its context: what is left of it may crash later
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
        # It keeps its last callbacks, with their nodes, until it looks for new ones.
        del self.executor

    def _company(self, seconds):
        """Look for some seconds; return the names of all other nodes of the domain."""
        self.settle(seconds)
        names = sorted(self.node.get_node_names())
        names.remove('observer')  # this one; another one of the name is company
        return names

    def nodes_for_a_newcomer(self) -> list:
        """
        Return the full names of the nodes that a program sees which joins the domain now.

        The end of a context's last node ends its DDS participant. On a busy machine a program that
        was there may take in what the participant said last after it has forgotten it, and then
        lists the node for ever: rmw_dds_common's `GraphCache` adds whoever a message is from.
        """
        context = Context()
        rclpy.init(context=context, domain_id=self.domain)
        node = rclpy.create_node('newcomer', context=context)
        try:
            self.wait_until(lambda: 'observer' in node.get_node_names(), 'the observer')
            self.settle(1.0)
            return sorted(f'{namespace.rstrip("/")}/{name}' for name, namespace
                          in node.get_node_names_and_namespaces()
                          if name not in ('observer', 'newcomer'))
        finally:
            node.destroy_node()
            rclpy.shutdown(context=context)

    def start(self, name, *arguments, **parameters) -> Run:
        """Start a node; parameters become -p name:=value. By default, a symbol is hidden."""
        given = arguments_of(hiding(name, arguments, parameters))
        run = Run(self.domain, self.home, self.directory / f'{len(self.runs)}-{name}.log', name,
                  [*arguments, *given])
        self.runs.append(run)
        self._known.clear()
        return run

    def privatizer(self, *arguments, wait=True, **parameters) -> Run:
        """Start a privatizer; wait until it is active, unless told not to."""
        run = self.start('privatizer', *arguments, **parameters)
        if wait:
            run.wait_for('active')
        return run

    def spin(self, seconds=0.02):
        self.executor.spin_once(timeout_sec=seconds)

    def wait_until(self, condition, what):
        """Do what the function does; fail at once where a node crashes."""
        def spin():
            self.spin()
            for run in self.runs:
                run.look_for_crash()

        return wait_until(condition, what, spin)

    def settle(self, seconds=0.5):
        """Let the other side of a connection learn what this one knows; that is not seen here."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.spin()

    def publisher(self, topic='region', message_type=String, qos=LATCHED, subscribers=1):
        """
        Return a publisher, once there is a subscriber of a node that has not ended.

        Latched by default: what is sent is kept for a reader that is found later.
        """
        publisher = self.node.create_publisher(message_type, topic, qos)
        self.wait_until(lambda: publisher.get_subscription_count() >= subscribers
                        + self._ended_readers(topic), f'{subscribers} subscribers on {topic}')
        return publisher

    def latch(self, region, topic='region'):
        """Return a publisher that has published a region, which is kept for later readers."""
        publisher = self.node.create_publisher(String, topic, LATCHED)
        send(publisher, region)
        return publisher

    def _ended_readers(self, topic):
        """Count the subscriptions of a topic that are listed, though their process has ended."""
        ended = {run.process.pid % 2**16 for run in self.runs if run.process.poll() is not None}
        return sum(int.from_bytes(info.endpoint_gid[4:6], 'little') in ended  # as Fast DDS does
                   for info in (subscriptions(self.node, topic).infos if ended else []))

    def listen(self, topic='private_region', message_type=String, qos=LATCHED) -> list:
        """Return the list that values (field data) of a topic are appended to."""
        values = []
        self.node.create_subscription(message_type, topic,
                                      lambda message: values.append(message.data), qos)
        return values

    def listen_whole(self, topic, message_type) -> list:
        """Return the list that whole messages of a topic are appended to."""
        messages = []
        self.node.create_subscription(message_type, topic, messages.append, LATCHED)
        return messages

    def diagnostics(self) -> list:
        """Return the list that diagnostic statuses are appended to."""
        statuses = []
        self.node.create_subscription(DiagnosticArray, '/diagnostics',
                                      lambda array: statuses.extend(array.status), 10)
        return statuses

    def client(self, service_type, name):
        """Return the client of a service."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(service_type, name)
        return self._clients[name]

    def _ready_client(self, service_type, name):
        """
        Return the client of a service that is there and knows of it.

        A client that was made before the service is no better known: the node learns of what reads
        answers apart from what sends requests, and answers one whose reader it does not know.
        """
        client = self.client(service_type, name)
        self.wait_until(client.service_is_ready, f'service {name}')
        if name not in self._known:
            self._wait_until_known(name.rpartition('/')[0])
            self._known.add(name)
        return client

    def _wait_until_known(self, node):
        """
        Wait until a node knows of the clients that were made so far, so that no answer is lost.

        It learns of them in turn: of all others before one that is made now.
        """
        last = self.node.create_client(GetTypeDescription, f'{node}/get_type_description')
        self.wait_until(last.service_is_ready, f'{node}/get_type_description')
        self._answer_of(last, PROBE, _SOON)
        self.node.destroy_client(last)

    def call(self, service_type, name, request):
        """Call a service; return the response."""
        return self._answer_of(self._ready_client(service_type, name), request, _LOST)

    def _answer_of(self, client, request, seconds):
        """Call a service, again after some seconds without an answer; return the response."""
        calls = []

        def answered():
            if not calls or time.monotonic() > calls[-1][0] + seconds:
                calls.append((time.monotonic(), client.call_async(request)))
            return next((future for _, future in calls if future.done()), None)

        return self.wait_until(answered, f'a response of {client.srv_name}').result()

    def change(self, node, *transitions) -> bool:
        """Ask a node for transitions, one after another; return whether all succeeded."""
        return all(self.call(ChangeState, f'/{node}/change_state', ChangeState.Request(
            transition=Transition(id=transition))).success for transition in transitions)

    def state_of(self, node) -> str:
        """Return the name of a node's lifecycle state."""
        return self.call(GetState, f'/{node}/get_state', GetState.Request()).current_state.label

    def begin_call(self, name):
        """Call a service (Trigger); return the future of its response."""
        return self._ready_client(Trigger, name).call_async(Trigger.Request())

    def trigger(self, name):
        """Call a service (Trigger) once its node has started; return the response."""
        def answer():
            response = self.call(Trigger, name, Trigger.Request())
            return None if 'starting: ' in response.message[:50] else response

        return self.wait_until(answer, f'an answer of {name} that is not "starting"')

    def _end_others(self):
        """Stop all nodes; wait, but not for long, until they have left the domain."""
        for run in self.runs:
            run.process.send_signal(signal.SIGINT)
        until = time.monotonic() + _STOPPED
        for run in self.runs:
            with suppress(subprocess.TimeoutExpired):
                run.process.wait(max(0.0, until - time.monotonic()))
        ends = [run.process.returncode for run in self.runs]
        # Who was killed is listed for 20 s more; and some who have left, for ever: see above.
        until = time.monotonic() + (_LISTED if ends and None not in ends and min(ends) >= 0 else 0)
        while time.monotonic() < until:
            with suppress(UnicodeDecodeError, RuntimeError):  # a name that is no text, or empty
                if self.node.get_node_names() == ['observer']:
                    return
            time.sleep(0.01)  # nothing is received: what the test has heard stays as it is

    def close(self):
        if not ALONE and all(run.process.returncode == 0 for run in self.runs):
            if company := self._company(0.5):
                warnings.warn(f'ROS domain {self.domain} was shared with {company}: what this '
                              'test saw may be theirs', stacklevel=1)
        # Others end first, and properly. Who dies may hold a lock in Fast DDS's shared memory, and
        # who leaves within the second in which this is found out can crash there. And who leaves
        # while a discovery callback runs may wait for it for ever, with the lock that it needs
        # (Fast DDS, issue 6513): in an empty domain there is none.
        self._end_others()
        self._leave()
        for run in self.runs:
            run.close()
        gc.collect()  # what is left of a node goes when Python frees it
        left = _ports_here(self.domain)
        assert not left, (f'a node of this process is left in ROS domain {self.domain}, which a '
                          f'later test may be given: it holds the UDP ports {left}')


_APART = 'SYMDP_TEST_APART'  # in the environment of such a process


def apart(test):
    """
    Decorate a test to run in a pytest of its own.

    A crash of rclpy or of Fast DDS then fails this test, with the traceback, and ends no worker.
    Where the kernel allows a network of its own, this has no shared memory: see the conftest.
    """
    if _APART in os.environ:
        return test

    def run(request):
        done = subprocess.run(
            [sys.executable, '-X', 'faulthandler', '-m', 'pytest', '-q', '-s', '-p',
             'no:cacheprovider', request.node.nodeid], cwd=ROOT, text=True, errors='replace',
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**{name: value for name, value in os.environ.items()
                    if not name.startswith('PYTEST_')}, _APART: '1'})
        assert done.returncode >= 0, (
            f'the process of this test died of {signal.Signals(-done.returncode).name}:\n'
            + done.stdout)
        assert done.returncode == 0, done.stdout

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def _ports_here(domain):
    """Return the ports of a ROS domain that this process has open."""
    own = set()
    for descriptor in Path('/proc/self/fd').iterdir():
        with suppress(OSError):  # closed meanwhile
            own.add(str(descriptor.readlink()))
    lines = [line.split() for line in Path('/proc/self/net/udp').read_text().splitlines()[1:]]
    ports = {int(line[1].rpartition(':')[2], 16) for line in lines if f'socket:[{line[9]}]' in own}
    return sorted(ports.intersection(range(7400 + 250 * domain, 7650 + 250 * domain)))


@contextmanager
def world_in(directory):
    world = World(directory)
    try:
        yield world
    finally:
        world.close()
