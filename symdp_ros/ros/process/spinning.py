# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Running one node in one process, until SIGINT, SIGTERM or SIGHUP."""
from collections.abc import Iterator
from contextlib import contextmanager
import gc
import signal
import sys

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from symdp_ros.errors import printable, SymdpError
from symdp_ros.ros.guarded_node import LONGEST_SENTENCE
from symdp_ros.ros.live.watchdog import ends_if_stuck
from symdp_ros.ros.parameter_order import order_problems
from symdp_ros.ros.process.output_domain import leave_domains
from symdp_ros.ros.process.shared_memory import fresh_ports
from symdp_ros.ros.process.stop_signals import stop_signals

_LONGEST_WAIT = 0.1  # seconds until a signal is noticed
_STUCK = 60.0        # seconds; leaving DDS takes less than one
_stopping = False
_interruptible = False  # the main thread


def stop_requested() -> bool:
    """Return whether a signal has asked this process to stop: for long work in callbacks."""
    return _stopping


@contextmanager
def stops_at_once() -> Iterator[None]:
    """
    Raise KeyboardInterrupt as soon as a signal asks to stop, in the main thread of `run`.

    At once where one has asked before.
    """
    global _interruptible
    _interruptible = True
    try:
        if _stopping:
            raise KeyboardInterrupt
        yield
    finally:
        _interruptible = False


def run(make_node, arguments=None, *, coroutines: bool = False) -> int:
    """
    Make a node, start it, and spin until a signal asks to stop; return the exit status.

    The end of a node that has failed (`GuardedNode`) has status 1, and so has that of one for
    which ROS takes another value of a parameter than the one that was said last.

    :param make_node: called without arguments, returns a `GuardedNode`. Its `autostart()` returns
        whether it started (if not, the status is 1); its `stop()` is called at the end.
    :param arguments: the command line; sys.argv by default.
    :param coroutines: whether the node has callbacks that are coroutines.
    """
    global _stopping
    _stopping = False

    def ask_to_stop(number, frame):
        global _stopping
        first, _stopping = not _stopping, True
        if first and _interruptible:
            raise KeyboardInterrupt

    # Our own handlers: those of rclpy shut the context down before the node can stop properly.
    for number in stop_signals():
        signal.signal(number, ask_to_stop)
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # such as wrong arguments after --ros-args
        print(f'ROS cannot be started: {printable(error, 1000)}', file=sys.stderr)
        return 2
    try:
        return _make_and_spin(make_node, sys.argv if arguments is None else arguments, coroutines)
    finally:
        with ends_if_stuck(_STUCK):
            gc.collect()  # others see what is left of the node until Python frees it
            leave_domains()
            rclpy.try_shutdown()
        # A second Ctrl+C, while the interpreter ends, has no effect.
        for number in stop_signals():
            signal.signal(number, signal.SIG_IGN)


def _make_and_spin(make_node, arguments, coroutines: bool) -> int:
    """Do what `run` does while rclpy is initialized; return the exit status, and keep no node."""
    try:
        with fresh_ports(rclpy.get_default_context().get_domain_id()):
            node = make_node()
    except (ParameterException, RuntimeError) as error:  # such as use_sim_time: 1
        print(f'the node cannot be made: {printable(error, 1000)}', file=sys.stderr)
        return 1
    executor = SingleThreadedExecutor() if coroutines else _executor()
    executor.add_node(node)
    try:
        if problems := _problems(node, arguments):
            node.get_logger().fatal(printable(problems, LONGEST_SENTENCE))
            return 1
        if not node.autostart():
            return 0 if _stopping else 1
        while not (_stopping or node.has_failed):
            spin_once(node, _LONGEST_WAIT)
    finally:
        node.stop()
        if coroutines:  # pending calls get their answers
            for _ in range(20):
                spin_once(node, 0.01)
        with ends_if_stuck(_STUCK):
            executor.remove_node(node)
            node.destroy_node()
    return int(node.has_failed)


def _problems(node, arguments) -> str:
    """Return what is wrong with the arguments; '' if nothing is."""
    try:
        return '; '.join(order_problems(node, arguments))
    except SymdpError as error:
        return str(error)


def spin_once(node, seconds: float) -> None:
    """
    Have the executor of a `GuardedNode` do what is next, or wait some seconds for it.

    The node's own callbacks raise nothing. What is raised here is so by rclpy, before or after
    one: it could not read what was sent, or not write the answer.
    """
    try:
        node.executor.spin_once(timeout_sec=seconds)
    except Exception:
        node.refuse()


def _executor():
    """
    Return the executor that carries most messages a second.

    To be used in a loop of `spin_once`: `EventsExecutor.spin()` can keep a core busy and ignore a
    shutdown. It does not take coroutines.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:  # the first releases of Jazzy
        return SingleThreadedExecutor()
    return EventsExecutor()
