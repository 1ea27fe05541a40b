# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from the messages of a recording."""
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from symdp_ros.core.errors import ConfigurationError, LogError
from symdp_ros.core.field_paths import Fields, NotInput, symbol_reader
from symdp_ros.core.message_fields import useless_field

#: (number of a message, what is wanted of it) for each message that is input.
Values = list[tuple[int, str | None]]


class Wanted(NamedTuple):
    """
    What is read from the messages of a recording.

    :param field: path (`core.field_paths`) to a string, integer or boolean.
    :param where: conditions; a message that does not meet all of them is left out.
    :param naming: the values that name a state: the field must be able to have one of them.
    """

    field: str = 'data'
    where: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()

    def reader(self, fields: Fields,
               message_type: str) -> Callable[[Any], str | None | NotInput]:
        """
        Return a function from a message to what is wanted of it.

        :raises LogError: a field or condition is not one of this type; a field that can have none
            of the values that name a state.
        """
        try:
            read, kind = symbol_reader(fields, message_type, self.field, self.where)
            problem = useless_field(self.field, kind, self.naming) if self.naming else None
        except ConfigurationError as error:
            problem = str(error)
        if problem:
            raise LogError(problem)
        return read


def values_of(read: Iterable[str | None | NotInput]) -> Values:
    """Return the values of the messages that are input, each with the message's number."""
    return [(number, value) for number, value in enumerate(read)
            if not isinstance(value, NotInput)]
