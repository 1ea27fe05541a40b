# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Which arguments an include passes to a launch file of this package; needs launch.

An include sets its arguments as launch configurations of the file that has it, and does not take
them back (https://github.com/ros2/launch/issues/801). So an included file finds more than its own
arguments: what any file above it has set, and what was passed to any include before. No value
shows where it came from. The include does, the action `IncludeLaunchDescription`: its property
`launch_arguments` holds what it passes. `ros2 launch` passes the arguments of the command line by
such an action, too. The include is found in three steps:

1. Launch loads a file of this package while it executes the include, before it sets arguments. The
   file then registers an event handler in each launch context, by `watch_includes`. Launch does
   not hand a file its context, so the handler goes into all that exist (`gc.get_objects`).
2. Right after launch has executed an action, it asks each handler whether it wants the event of
   that, `ExecutionComplete`. Arguments are not yet set then. The handler wants no event. It notes
   the include, and what is set so far.
3. When the description of the file is executed, the include noted last must be the one whose
   source holds this very description. Its names are what was passed; their values are set now.

This holds at any depth, for includes in groups, in other languages, with a common source, and by
events. It uses what launch documents: properties of the include, the event, the handler. The names
that are passed are never guessed. If another version of launch does a step otherwise, the last
note does not have this description. Then `passed_to` returns None, and the caller refuses.
"""
from dataclasses import dataclass
import gc
from weakref import ref, WeakKeyDictionary

from launch.actions import IncludeLaunchDescription
from launch.event import Event
from launch.event_handler import EventHandler
from launch.events import ExecutionComplete
from launch.launch_context import LaunchContext
from launch.launch_description import LaunchDescription
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


@dataclass(frozen=True)
class Passed:
    """The arguments that an include passes; `before` are the configurations before it."""

    arguments: dict[str, str]
    before: dict[str, str]


class _Watch(EventHandler):
    """Notes the include that a context executed last, and what was set then."""

    def __init__(self, context: LaunchContext):
        super().__init__(matcher=self._note)
        self._context = ref(context)
        self.include: IncludeLaunchDescription | None = None
        self.before: dict[str, str] = {}

    def _note(self, event: Event) -> bool:
        context = self._context()
        if (context is not None and isinstance(event, ExecutionComplete)
                and isinstance(event.action, IncludeLaunchDescription)):
            self.include, self.before = event.action, dict(context.launch_configurations)
        return False


_watches: WeakKeyDictionary[LaunchContext, _Watch] = WeakKeyDictionary()


def watch_includes() -> None:
    """Note the includes of each launch context; to be called while a launch file is loaded."""
    # The type: `isinstance` would ask proxies for their class.
    for context in [item for item in gc.get_objects() if issubclass(type(item), LaunchContext)]:
        if context in _watches:
            context.unregister_event_handler(_watches[context])
        else:
            _watches[context] = _Watch(context)
        # As the first: launch asks no more handlers when one wants the event.
        context.register_event_handler(_watches[context])


def passed_to(description: LaunchDescription, context: LaunchContext) -> Passed | None:
    """
    Return what the include of a description passes to it; to be called while it is executed.

    None: that is not known, as no include was seen whose description this is.
    """
    watch = _watches.get(context)
    include = None if watch is None else watch.include
    if (watch is None or include is None or
            include.launch_description_source.get_launch_description(context) is not description):
        return None
    watch.include = None
    now = context.launch_configurations
    names = [perform_substitutions(context, normalize_to_list_of_substitutions(name))
             for name, _ in include.launch_arguments]
    if not now.keys() >= set(names):
        return None
    return Passed({name: now[name] for name in names}, watch.before)
