# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from the messages of a recording."""
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from symdp_ros.errors import ConfigurationError, LogError
from symdp_ros.messages.field_paths import Fields, NotInput, symbol_reader
from symdp_ros.messages.fields import useless_field
from symdp_ros.messages.poses import FloorPosition, pose_advice, position_reader

Value = str | FloorPosition | None
#: (number of a message, what is wanted of it) for each message that is input.
Values = list[tuple[int, Value]]


class Wanted(NamedTuple):
    """
    What is read from the messages of a recording.

    :param field: path (`messages.field_paths`) to a string, integer or boolean.
    :param where: conditions; a message that does not meet all of them is left out.
    :param naming: the values that name a state: the field must be able to have one of them.
    :param pose: instead, the position to which the field leads is read.
    :param level_field: with `pose`, path to the name of the floor; '': there is none.
    :param map_frame: with `pose`, the frame that positions must be in.
    :param refuse_frames: whether a position in another frame is refused by the frame's name. That
        tells something of the poses; if not, it is a position that is not known.
    """

    field: str = 'data'
    where: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    pose: bool = False
    level_field: str = ''
    map_frame: str = 'map'
    refuse_frames: bool = False

    def reader(self, fields: Fields, message_type: str) -> Callable[[Any], Value | NotInput]:
        """
        Return a function from a message to what is wanted of it.

        With `refuse_frames`, it raises LogError at a position in another frame.

        :raises LogError: a field or condition is not one of this type; a field that can have none
            of the values that name a state, or leads to no position.
        """
        try:
            if self.pose:
                return position_reader(
                    fields, message_type, self.field, where=self.where,
                    level_field=self.level_field, map_frame=self.map_frame,
                    on_foreign_frame=self._on_foreign_frame)
            read, kind = symbol_reader(fields, message_type, self.field, self.where)
            problem = useless_field(self.field, kind, self.naming) if self.naming else None
            if problem is None:
                return read
        except ConfigurationError as error:
            problem = str(error)
            if not self.pose:
                problem += pose_advice(fields, message_type)
        raise LogError(problem)

    def _on_foreign_frame(self, frame: str) -> None:
        if self.refuse_frames:
            raise LogError(f'it holds a pose in the frame {frame!r}, and map_frame is '
                           f'{self.map_frame!r}: the regions would be wrong. Record poses in the '
                           'frame of the map, or correct map_frame')


def values_of(read: Iterable[Value | NotInput]) -> Values:
    """Return the values of the messages that are input, each with the message's number."""
    return [(number, value) for number, value in enumerate(read)
            if not isinstance(value, NotInput)]
