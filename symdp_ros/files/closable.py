# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is closed at the end of a `with` block."""
from typing import TypeVar

_Self = TypeVar('_Self')


class Closable:
    """The base of what has a `close`."""

    def close(self) -> None:
        """Release what is open."""
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
