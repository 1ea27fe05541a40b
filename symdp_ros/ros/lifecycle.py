# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base of this package's lifecycle nodes."""
import traceback

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from symdp_ros.core.compiled.notice import interrupted_if, on_slow_loops
from symdp_ros.errors import ConfigurationError, printable, SymdpError
from symdp_ros.options import PARAMETERS
from symdp_ros.ros.parameters import declare
from symdp_ros.ros.process.spinning import stop_requested

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE

#: Characters of the longest reason that is logged: values of parameters may be quoted in it.
LONGEST_SENTENCE = 2000

STOPPED = 'a signal asked to stop: not everything is compiled'


class ManagedNode(LifecycleNode):
    """
    A lifecycle node whose transitions fail with a sentence in the log instead of silently.

    Subclasses override `configure`, `activate`, `deactivate` and `cleanup`, which raise a
    SymdpError if they fail; `cleanup` and `deactivate` also undo half-done work, and may be called
    when there is nothing to undo.

    :param name: of the node in `options.PARAMETERS`. The values of its parameters are in
        `self.settings`.

    `failure` is why the last transition failed, '' if it did not.

    Its publishers and subscriptions have no events, unless a caller asks for some: rclpy's
    EventsExecutor crashes when an event, such as a reader whose QoS does not suit, comes just
    before its publisher is destroyed (rclpy issue 1644). Any peer could so end a node.
    """

    def __init__(self, name: str, **kwargs):
        super().__init__(name, start_parameter_services=False, **kwargs)
        self.failure = ''
        self.settings, self._problems = declare(self, PARAMETERS[name])
        for service in self.services:
            if service.srv_name.endswith('/change_state'):
                service.callback = _refusing(service.callback, self.get_logger())

    def create_publisher(self, *args, **kwargs):
        """Make a publisher without events."""
        kwargs.setdefault('event_callbacks', PublisherEventCallbacks(use_default_callbacks=False))
        return super().create_publisher(*args, **kwargs)

    def create_subscription(self, *args, **kwargs):
        """Make a subscription without events."""
        kwargs.setdefault('event_callbacks',
                          SubscriptionEventCallbacks(use_default_callbacks=False))
        return super().create_subscription(*args, **kwargs)

    def configure(self):
        """Read the settings, open what is needed."""

    def activate(self):
        """Begin to work."""

    def deactivate(self):
        """Stop working."""

    def cleanup(self):
        """Release what `configure` opened."""

    def autostart(self) -> bool:
        """Configure and activate if the parameter says so; return whether nothing failed."""
        if not self.settings['autostart'] and not self._problems:
            self.get_logger().info('waits for a lifecycle manager: configure it, then activate it')
            return True
        if self.trigger_configure() != _SUCCESS:
            return False
        return not self.settings['autostart'] or self.trigger_activate() == _SUCCESS

    def stop(self):
        """Leave the active state and release everything, before the node is destroyed."""
        self.deactivate()
        self.cleanup()

    def on_configure(self, state):
        def configure():
            if self._problems:
                raise ConfigurationError('; '.join(self._problems))
            with on_slow_loops(self.get_logger().info), interrupted_if(stop_requested):
                self.configure()

        return self._attempt(configure, self.cleanup)

    def on_activate(self, state):
        return self._attempt(self.activate, self.deactivate)

    def on_deactivate(self, state):
        return self._attempt(self.deactivate)

    def on_cleanup(self, state):
        return self._attempt(self.cleanup)

    def on_shutdown(self, state):
        return self._attempt(self.stop)

    def on_error(self, state):
        return self._attempt(self.stop)

    def _attempt(self, work, undo=None):
        # No transition ever handles a sensitive symbol, so no traceback from here shows one.
        try:
            work()
            self.failure = ''
            return _SUCCESS
        except KeyboardInterrupt:
            self.failure = STOPPED
            self.get_logger().info(self.failure)
        except SymdpError as error:
            self.failure = printable(error, LONGEST_SENTENCE)
            self.get_logger().fatal(self.failure)
        except Exception as error:
            self.failure = f'internal error: {type(error).__name__}'
            self.get_logger().fatal(traceback.format_exc())
        if undo is not None:
            undo()
        return _FAILURE


def _refusing(change_state, logger):
    """Refuse an impossible transition, instead of ending the node with an exception."""
    def callback(request, response):
        try:
            return change_state(request, response)
        except RuntimeError:  # RCLError: the state machine has no such transition now
            logger.error('a requested transition is not possible in the current state')
            response.success = False
            return response

    return callback
