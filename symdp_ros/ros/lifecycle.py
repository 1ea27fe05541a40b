# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base of this package's lifecycle nodes."""
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from rclpy.lifecycle import LifecycleNode, LifecycleNodeMixin, TransitionCallbackReturn
from symdp_ros.errors import SymdpError
from symdp_ros.files.resources import resolve_path
from symdp_ros.files.text_file import read_map_text
from symdp_ros.ros.guarded_node import GuardedNode
from symdp_ros.ros.live.manager_bond import ManagerBond
from symdp_ros.ros.process.spinning import stops_at_once

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE

STOPPED = 'a signal asked to stop: not everything was prepared'


class ManagedNode(GuardedNode, LifecycleNode):
    """
    A lifecycle node whose transitions fail with a sentence in the log instead of silently.

    Subclasses override `configure`, `activate`, `deactivate` and `cleanup`, which raise a
    SymdpError if they fail; `cleanup` and `deactivate` also undo half-done work, and may be called
    when there is nothing to undo.

    What takes long is done in `prepare`, which they override, too: lifecycle managers give
    `configure` a few seconds (Nav2 5 s, from Kilted on). It runs before the lifecycle services are
    there, which managers wait for. `configure` uses `prepared()`. The subclass sets what `prepare`
    needs before it calls `super().__init__`.

    :param name: of the node in `options.PARAMETERS`. The values of its parameters are in
        `self.settings`.

    `failure` is why the last transition failed, or why the node did; '' if all went well.
    """

    def __init__(self, name: str, **kwargs):
        GuardedNode.__init__(self, name, **kwargs)
        self._bond: ManagerBond | None = None
        self.declare(name)
        if not self._problems:
            self._prepare()
        made = len([*self.services])
        LifecycleNodeMixin.__init__(self)
        self.guard_services(made)

    def prepare(self) -> Any:
        """Do what of `configure` takes long, from settings and their files alone; return it."""

    def prepared(self) -> Any:
        """Return what `prepare` has returned, or raise what it has raised: of the files of now."""
        if self._prepared_files != digests_of_files(self.settings):
            self._prepare()
        if isinstance(self._prepared, BaseException):
            raise self._prepared
        return self._prepared

    def _prepare(self):
        self._prepared_files = digests_of_files(self.settings)
        try:
            with stops_at_once():
                self._prepared = self.prepare()
        except BaseException as error:  # for `configure` to report, whenever it is called
            self._prepared = error

    def configure(self):
        """Open what is needed."""

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
        self._deactivate()
        self.cleanup()

    def _deactivate(self):
        if self._bond is not None:
            self._bond.end()
            self._bond = None
        self.deactivate()

    def on_configure(self, state):
        def configure():
            self.has_failed = False
            self.check_settings()
            self.configure()

        return self._attempt(configure, self.cleanup)

    def on_activate(self, state):
        def activate():
            self.activate()
            if not self.settings['autostart']:  # else no manager drives it
                self._bond = ManagerBond(self)

        return self._attempt(activate, self.deactivate)

    def on_deactivate(self, state):
        return self._attempt(self._deactivate)

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


def digests_of_files(values: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of each file of the map (times and sizes may lie), '' where none is read."""
    digests = {}
    for name in ('chain_file', 'regions_file', 'zones_file'):
        try:
            digests[name] = sha256(read_map_text(resolve_path(values[name])).encode()).hexdigest()
        except (KeyError, SymdpError):
            digests[name] = ''
    return digests
