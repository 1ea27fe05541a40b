# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base of all nodes of this package: no message and no request of others can end one."""
from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
import re
import sys
import traceback
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.timer import Timer
from symdp_ros.errors import ConfigurationError, printable, SymdpError
from symdp_ros.options import PARAMETERS
from symdp_ros.ros.parameters import declare
from type_description_interfaces.srv import GetTypeDescription

#: Characters of the longest reason that is logged: values of parameters may be quoted in it.
LONGEST_SENTENCE = 2000

_ROS = {'rclpy', 'tf2_ros'}  # packages whose callbacks our nodes have
_QUIET = 10.0                # seconds from one refusal in the log to the next
_LABELS = {'', 'configure', 'activate', 'deactivate', 'cleanup', 'shutdown'}
_HASH = re.compile('RIHS01_[0-9a-fA-F]{64}')
#: Type of a service → whether a request is right. rcl logs a wrong one as it came: with lines and
#: terminal codes of whoever sent it.
_IS_RIGHT: dict[type, Callable[[Any], bool]] = {
    ChangeState: lambda request: request.transition.label in _LABELS,
    GetTypeDescription: lambda request: bool(_HASH.fullmatch(request.type_hash))}


class GuardedNode(Node):
    """
    A node with a guard around every callback of its services, subscriptions and timers.

    What a callback of rclpy or TF raises comes from what another node sent: a parameter of an
    unknown type, a /clock before time began. It is refused, with a fixed sentence in the log (its
    text could quote the request), and the node goes on.

    After an exception in a callback of ours the node has failed: no callback of ours is run any
    more, and the log says why. The text of an error of rclpy's or Python's own may hold a region,
    so its type and place go to stderr, and its text nowhere.

    The publishers and subscriptions have no events, unless a caller asks for some: rclpy's
    EventsExecutor crashes when an event, such as a reader whose QoS does not suit, comes just
    before its publisher is destroyed (rclpy issue 1644). Any peer could so end a node.

    `failure` is why it failed, '' if it did not.
    """

    def __init__(self, name: str, **kwargs):
        self.failure, self.has_failed = '', False
        # Not `super`: of a lifecycle node, this is the first of two steps.
        Node.__init__(self, name, start_parameter_services=False, **kwargs)
        self.guard_services()

    def declare(self, name: str) -> None:
        """Declare the options of a node of `options.PARAMETERS`; `settings` has their values."""
        self.settings, self._problems = declare(self, PARAMETERS[name])

    def check_settings(self) -> None:
        """Raise ConfigurationError where a parameter has a problem."""
        if self._problems:
            raise ConfigurationError('; '.join(self._problems))

    def guard_services(self, known: int = 0) -> None:
        """Guard the services that rclpy has made without `create_service`, but so many of them."""
        for service in [*self.services][known:]:
            service.callback = self.guarded(
                _checking(service.srv_type, service.callback), service.srv_name)

    def create_publisher(self, *args, **kwargs):
        """Make a publisher without events."""
        kwargs.setdefault('event_callbacks', PublisherEventCallbacks(use_default_callbacks=False))
        return super().create_publisher(*args, **kwargs)

    def create_subscription(self, msg_type, topic, callback, *args, **kwargs):
        """Make a subscription without events, its callback guarded."""
        kwargs.setdefault('event_callbacks',
                          SubscriptionEventCallbacks(use_default_callbacks=False))
        return super().create_subscription(msg_type, topic, self.guarded(callback, topic),
                                           *args, **kwargs)

    def create_service(self, srv_type, srv_name, callback, *args, **kwargs):
        """Make a service, its callback guarded."""
        return super().create_service(srv_type, srv_name, self.guarded(callback, srv_name),
                                      *args, **kwargs)

    def create_timer(self, timer_period_sec, callback, *args, **kwargs):
        """Make a timer, its callback guarded."""
        return super().create_timer(timer_period_sec, self.guarded(callback), *args, **kwargs)

    def create_steady_timer(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Make a timer by a clock that nobody sets, its callback guarded."""
        return self.create_timer(seconds, callback,
                                 clock=Clock(clock_type=ClockType.STEADY_TIME))

    def guarded(self, callback: Callable[..., Any], name: str = '') -> Callable[..., Any]:
        """
        Return a callback that raises nothing; a service then answers what it has so far.

        :param name: of the topic or service.
        """
        guard = _Guard(self, (callback.__module__ or '').partition('.')[0] in _ROS, name)

        if iscoroutinefunction(callback):
            @wraps(callback)
            async def guarded(*args):
                if guard.is_open:
                    with guard:
                        return await callback(*args)
                return args[-1]
        else:
            @wraps(callback)
            def guarded(*args):
                if guard.is_open:
                    with guard:
                        return callback(*args)
                return args[-1] if args else None

        return guarded

    def refuse(self, name: str = 'this node') -> None:
        """Log that something was sent that ROS cannot take; not each time."""
        self.get_logger().error(
            f'refused what was sent to {name}: ROS cannot take it. The node goes on',
            throttle_duration_sec=_QUIET)

    def fail(self, error: Exception) -> None:
        """Note that a callback of ours raised an error."""
        self.has_failed = True
        self.log_failure(error)
        self.on_failure()

    def log_failure(self, error: Exception) -> None:
        """Log an error, and keep it as `failure`."""
        if isinstance(error, SymdpError):
            self.failure = printable(error, LONGEST_SENTENCE)
        else:
            self.failure = 'internal error: the traceback is on stderr'
            print('Traceback (most recent call last):\n'
                  + ''.join(traceback.format_tb(error.__traceback__)) + type(error).__name__,
                  file=sys.stderr, flush=True)
        self.get_logger().fatal(self.failure)

    def on_failure(self) -> None:
        """Do what is to be done after the first failure; in the callback that failed."""


class _Guard:
    """Keeps what is raised inside it; `of_ros`: in a callback that is not ours."""

    def __init__(self, node: GuardedNode, of_ros: bool, name: str):
        self._node, self._of_ros, self._name = node, of_ros, name

    @property
    def is_open(self) -> bool:
        return self._of_ros or not self._node.has_failed

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        if not isinstance(error, Exception):
            return False
        if self._of_ros:
            self._node.refuse(self._name)
        else:
            self._node.fail(error)
        return True


def _checking(srv_type, callback):
    is_right = _IS_RIGHT.get(srv_type, lambda request: True)

    @wraps(callback)
    def checked(request, response):
        if not is_right(request):
            raise ValueError  # for the guard
        return callback(request, response)

    return checked
