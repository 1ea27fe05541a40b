# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One kind of map: how it is recognised, and what reads it."""
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from symdp_ros.maps.graph import TransitionGraph


@dataclass(frozen=True)
class MapFormat:
    """
    One kind of map: made in its module, and listed in `maps.FORMATS`.

    :param name: of the format, with its article.
    :param mark: how to recognise it, for messages.
    :param read: (content, source, **choices) → graph. It raises ChainError.
    :param recognises: whether the content of a file is of this format, whatever its name.
    :param content: what the reader gets: the composed root of YAML, what JSON holds, or the text.
    :param suffixes: of its files, in lower case, where they are not YAML. A file that nothing
        recognises is read as what its name promises, for a message that says what is wrong.
    :param choices: which of `graph` and `level` its reader takes, by keyword.
    """

    name: str
    mark: str
    read: Callable[..., TransitionGraph]
    recognises: Callable[[Any], bool]
    content: Literal['yaml', 'json', 'text'] = 'yaml'
    suffixes: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
