# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base of this package's lifecycle nodes."""
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from symdp_ros.core.compiled.notice import interrupted_if, on_slow_loops
from symdp_ros.errors import ConfigurationError
from symdp_ros.options import PARAMETERS
from symdp_ros.ros.guarded_node import GuardedNode
from symdp_ros.ros.parameters import declare
from symdp_ros.ros.process.spinning import stop_requested

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE

STOPPED = 'a signal asked to stop: not everything is compiled'


class ManagedNode(GuardedNode, LifecycleNode):
    """
    A lifecycle node whose transitions fail with a sentence in the log instead of silently.

    Subclasses override `configure`, `activate`, `deactivate` and `cleanup`, which raise a
    SymdpError if they fail; `cleanup` and `deactivate` also undo half-done work, and may be called
    when there is nothing to undo.

    :param name: of the node in `options.PARAMETERS`. The values of its parameters are in
        `self.settings`.

    `failure` is why the last transition failed, or why the node did; '' if all went well.
    """

    def __init__(self, name: str, **kwargs):
        super().__init__(name, **kwargs)
        self.settings, self._problems = declare(self, PARAMETERS[name])

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
            self.has_failed = False
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
        try:
            work()
            self.failure = ''
            return _SUCCESS
        except KeyboardInterrupt:
            self.failure = STOPPED
            self.get_logger().info(self.failure)
        except Exception as error:
            self.log_failure(error)
        if undo is not None:
            undo()
        return _FAILURE
