# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One kind of map: how it is recognised, and what reads it."""
from collections.abc import Callable
from dataclasses import dataclass

from symdp_ros.maps.graph import TransitionGraph
import yaml

YAML_SUFFIXES = ('.yaml', '.yml', '.tmap2')


@dataclass(frozen=True)
class MapFormat:
    """
    One kind of map: made in its module, and listed in `maps.FORMATS`.

    A YAML file is recognised by its content, any other by the suffix of its name.

    :param name: of the format, with its article.
    :param mark: how to recognise it, for messages: a key, or a suffix.
    :param read: (root, source, **choices) → graph of a YAML file; (path, **choices) → graph of
        another. It raises ChainError.
    :param recognises: of YAML files, whether the composed root is of this format.
    :param suffixes: of other files, in lower case.
    :param choices: which of `graph` and `level` its reader takes, by keyword.
    """

    name: str
    mark: str
    read: Callable[..., TransitionGraph]
    recognises: Callable[[yaml.Node], bool] | None = None
    suffixes: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
