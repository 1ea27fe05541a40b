# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `fleet`: runs a `privatizer` for each robot of a fleet file, in one process."""
if __name__ == '__main__':  # before the imports, which are slow
    from symdp_ros.nodes.program import run_program
    raise SystemExit(run_program('fleet'))

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
import gc
import sys
from threading import Thread
import traceback
from typing import Any, TYPE_CHECKING
from weakref import ref, WeakValueDictionary

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.executors import Executor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.errors import ConfigurationError, printable, SymdpError
from symdp_ros.files.resources import resolve_path
from symdp_ros.fleet.fleet_file import read_fleet, Robot
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.nodes.privatizer import live_choice_of, LiveChoice, Privatizer
from symdp_ros.options import PARAMETERS, USE_SIM_TIME
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.ros.graph.queues import CALLS
from symdp_ros.ros.guarded_node import GuardedNode, LONGEST_SENTENCE
from symdp_ros.ros.lifecycle import digests_of_files
from symdp_ros.ros.live.late_answers import LateAnswers
from symdp_ros.ros.process.output_domain import context_of
from symdp_ros.ros.process.shared_memory import fresh_ports
from symdp_ros.ros.process.spinning import run, spin_once, stop_requested
from symdp_ros.ros.rclpy_private import leave_graph, lifecycle_state, overrides_of
from symdp_ros.words.live_memory import LiveMemories
from symdp_ros.words.sampling_settings import SamplingSettings

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain

_BETWEEN_LOOKS = 0.02  # seconds, at a thread that makes tables
_LOOKS_FOR_NODES = 5  # times that the executor may turn until nothing holds a node that ended


class _Choices:
    """What draws for robots: those with the same settings share its tables, with a map a chain."""

    def __init__(self) -> None:
        self._found: WeakValueDictionary[tuple[object, ...], LiveChoice] = WeakValueDictionary()
        self._chains: WeakValueDictionary[Hashable, Chain] = WeakValueDictionary()

    def of(self, values: Mapping[str, Any]) -> LiveChoice:
        """Return `live_choice_of` the values of options."""
        key = (MapSettings.of(values), *digests_of_files(values).values(),
               SamplingSettings.of(values), MechanismSettings.of(values), values['epsilon'],
               values['adjacency'], 'belief' in values['outputs'])
        choice = self._found.get(key)
        if choice is None:
            self._found[key] = choice = live_choice_of(values, self._chains)
        return choice


class HostedPrivatizer(Privatizer):
    """
    A `privatizer` whose failure ends neither the process nor the other robots.

    After it has failed it processes nothing any more, until it is configured again.

    :param choices: of the other robots: robots with the same map and settings share one.
    :param on_failure: called when it has failed, in the callback that did: the node is still in
        use.
    """

    tells_what_remains = False  # fifty at once would take long

    def __init__(self, robot: Robot, choices: '_Choices',
                 on_failure: 'Callable[[HostedPrivatizer], None]', **kwargs):
        self._choices, self._on_failure = choices, on_failure
        super().__init__(
            namespace=robot.namespace, use_global_arguments=False,
            cli_args=['--ros-args', *(word for topic, name in robot.remappings.items()
                                      for word in ('-r', f'{topic}:={name}'))],
            parameter_overrides=[Parameter(name, value=value)
                                 for name, value in robot.parameters.items()], **kwargs)

    def on_failure(self):
        self._on_failure(self)

    def live_choice(self):
        return self._choices.of(self.settings)


class FleetNode(GuardedNode):
    """
    Runs a `privatizer` for each robot of the fleet file (`fleet_file`), in the robot's ROS domain.

    Service: `~/reload` (std_srvs/srv/Trigger) reads the file again: new robots start, removed
    ones stop, those whose settings changed and those that failed start anew; the others go on. A
    wrong file changes nothing. Publishes `/diagnostics` at 1 Hz, a status for each robot.
    Parameters: `options.PARAMETERS`. A robot that fails does not stop the others.

    All robots share one executor: each callback is short, and Python runs one thread at a time.
    """

    def __init__(self, **kwargs):
        super().__init__('fleet', **kwargs)
        self.declare('fleet')
        self._robots: dict[str, Robot] = {}
        self._nodes: dict[str, HostedPrivatizer] = {}
        self._failures: dict[str, str] = {}  # of robots without a node
        self._choices = _Choices()
        self._made: list[LiveChoice] = []  # for robots that start soon
        self._ended: list[ref[HostedPrivatizer]] = []  # nodes; dead ones are forgotten
        self._reloading = False
        # Of robots that have ended, too: a reload has no stay drawn again.
        self._memories = LiveMemories()
        self._publisher = None
        self._starting = True

    def autostart(self) -> bool:
        """Start all robots; return whether one of them, at least, did not fail."""
        try:
            self.check_settings()
            robots = self._read()
        except SymdpError as error:
            self.log_failure(error)
            return False
        self._answers = LateAnswers(self.create_service(
            Trigger, '~/reload', self._reload, qos_profile=QoSProfile(depth=CALLS)))
        self._publisher = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.create_steady_timer(1.0, self._report)
        thread = self._make_for(robots.values())
        while thread.is_alive():
            spin_once(self, _BETWEEN_LOOKS)
        self._start_all(robots.values())
        self._starting = False
        failed = self._failed()
        self.get_logger().info(
            f'{len(self._robots) - len(failed)} of {len(robots)} robots started{_named(failed)}')
        return len(failed) < len(robots)

    def stop(self) -> None:
        """Stop all robots."""
        for node in self._nodes.values():  # all at once, before the first waits for its readers
            _attempt(node.deactivate)
        for name in list(self._robots):
            self._stop(name)
        if self._publisher is not None:
            destroy_when_delivered(self, self._publisher)
            self._publisher = None

    @property
    def _spinner(self) -> Executor:
        assert self.executor is not None  # it was added to one before it starts
        return self.executor

    def _read(self) -> dict[str, Robot]:
        domain = self.context.get_domain_id()
        time = {name: value for name, value in overrides_of(self).items()
                if name == USE_SIM_TIME.name and isinstance(value, bool)}
        fleet = read_fleet(resolve_path(self.settings['fleet']), domain, overrides=time)
        for robot in fleet.robots.values():
            if robot.parameters.get('output_domain') == domain:
                raise ConfigurationError(
                    f'this process is in the ROS domain {domain}, where the private topics of '
                    f'{robot.name} go, and nothing else may be: set ROS_DOMAIN_ID to another')
        fleet.make_state_dir()
        return dict(fleet.robots)

    def _make_for(self, robots: Iterable[Robot]) -> Thread:
        """
        Return a thread that makes what draws for robots; `_start_all` drops it.

        Robots that started go on meanwhile.
        """
        def make_all():
            for robot in robots:
                if stop_requested():
                    return
                with suppress(SymdpError):  # its robot will say so
                    self._made.append(self._choices.of(_values(robot)))

        thread = Thread(target=make_all)
        thread.start()
        return thread

    def _start_all(self, robots: Iterable[Robot]) -> None:
        """Start robots, one by one, until a signal asks to stop."""
        for robot in robots:
            if stop_requested():
                return
            self._start(robot)
        self._made.clear()

    def _start(self, robot: Robot) -> None:
        """Start a robot; if that fails, its failure is logged and reported."""
        self._robots[robot.name] = robot
        assert robot.domain is not None  # `_read` gave one to each
        try:
            context = self.context if robot.domain == self.context.get_domain_id() else (
                context_of(robot.domain))
            with fresh_ports(robot.domain):
                node = HostedPrivatizer(robot, self._choices, self._on_failure, context=context,
                                        memories=self._memories)
            self._nodes[robot.name] = node
            self._spinner.add_node(node)
            node.autostart()  # it logs why it fails
        except Exception as error:  # of rclpy; nothing sensitive was read yet
            self._failures[robot.name] = printable(error, LONGEST_SENTENCE)
            self.get_logger().error(f'{robot.name} did not start: {self._failures[robot.name]}')

    def _stop(self, name: str) -> None:
        """Stop a robot, and forget it."""
        del self._robots[name]
        self._failures.pop(name, None)
        node = self._nodes.pop(name, None)
        if node is not None:
            for step in (node.stop, lambda: self._spinner.remove_node(node),
                         lambda: leave_graph(node)):
                _attempt(step)
            self._ended.append(ref(node))

    def _failed(self) -> dict[str, str]:
        """Return the failure of each robot that failed."""
        return {**self._failures,
                **{name: node.failure for name, node in self._nodes.items() if node.failure}}

    def _on_failure(self, node: HostedPrivatizer) -> None:
        # Not now: the callback that failed belongs to what is destroyed.
        self._spinner.create_task(self.guarded(self._give_up), node)

    def _give_up(self, node: HostedPrivatizer) -> None:
        """Deactivate and clean up a node that failed; it can be configured again."""
        if node not in self._nodes.values():  # it was stopped meanwhile
            return
        failure = node.failure
        for transition in node.trigger_deactivate, node.trigger_cleanup:
            with suppress(RuntimeError):  # RCLError: it is in another state already
                transition()
        node.failure = failure

    def _reload(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._starting or self._reloading:
            response.message = ('starting: not all robots have started yet' if self._starting else
                                'another reload is under way: call again')
            return response
        try:
            robots = self._read()
        except Exception as error:  # whatever it is, the robots go on
            if not isinstance(error, SymdpError):
                traceback.print_exc()
            self.get_logger().error(f'reload: {printable(error, LONGEST_SENTENCE)}')
            response.message = ('the fleet file is not valid: nothing was changed; the log of the '
                                'fleet says what is wrong')
            return response
        before, failed = set(self._robots), self._failed()
        left = {name for name in before & set(robots)
                if robots[name] == self._robots[name] and name not in failed}
        for name in before - left:
            self._stop(name)
        self._answers.put_off(response)
        self._reloading = True
        to_start = [robots[name] for name in robots if name not in left]
        self._spinner.create_task(
            self.guarded(self._start_successors), response, to_start,
            f'{len(set(robots) - before)} new, {len(before - set(robots))} removed, '
            f'{len((before & set(robots)) - left)} started again, {len(left)} left as they were',
            _LOOKS_FOR_NODES)
        return response

    def _start_successors(self, response: Trigger.Response, robots: Sequence[Robot], done: str,
                          looks: int) -> None:
        """
        Start robots once nothing is left of the nodes that ended.

        What rclpy still holds of a node takes its name from the graph, and the /rosout of its
        successor, when it is freed. The executor holds it until the callback that ended it has
        returned.
        """
        gc.collect()
        self._ended = [node for node in self._ended if node() is not None]
        if self._ended and looks:
            self._spinner.create_task(self.guarded(self._start_successors), response, robots, done,
                                      looks - 1)
            return
        thread = self._make_for(robots)

        def finish() -> None:
            if thread.is_alive():
                return
            timer.cancel()
            self._start_all(robots)
            failed = self._failed()
            response.success, response.message = not failed, done + _named(failed)
            self.get_logger().info(f'reload: {response.message}')
            self._reloading = False
            _attempt(lambda: self._answers.send(response))
            self.destroy_timer(timer)

        timer = self.create_steady_timer(_BETWEEN_LOOKS, finish)

    def _report(self) -> None:
        failed = self._failed()
        array = DiagnosticArray(status=[
            self._status(name, failed.get(name, '')) for name in self._robots])
        array.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(array)

    def _status(self, name: str, failure: str) -> DiagnosticStatus:
        state = lifecycle_state(self._nodes[name]) if name in self._nodes else 'absent'
        level = DiagnosticStatus.ERROR if failure else (
            DiagnosticStatus.OK if state == 'active' else DiagnosticStatus.WARN)
        return DiagnosticStatus(level=level, name=f'fleet: {name}', hardware_id=name,
                                message=f'{state}: {failure}' if failure else state)


def _values(robot: Robot) -> dict[str, Any]:
    """Return the values of a robot's options."""
    defaults = {option.name: option.default for option in PARAMETERS['privatizer']}
    return {**defaults, **robot.parameters}


def _named(failed: Iterable[str]) -> str:
    names = ', '.join(sorted(failed))
    return f'; failed: {names}' if names else ''


def _attempt(stop: Callable[[], object]) -> None:
    try:
        stop()
    except Exception:  # the other robots are to be stopped, too
        traceback.print_exc()


def main(arguments=None) -> int:
    """
    Run the fleet until SIGINT or SIGTERM; return the exit status.

    It is 1 if the file is wrong, or if all robots failed when they started. The first argument may
    be the file.
    """
    given = sys.argv if arguments is None else arguments
    if not given[1:]:
        print('fleet: name the file of the fleet: fleet FILE (--help explains it)',
              file=sys.stderr)
        return 1
    file = [Parameter('fleet', value=given[1])] if given[1][:1] != '-' else None
    return run(lambda: FleetNode(parameter_overrides=file), given)
