# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What the settings of all concerns share.

The settings of a concern are one frozen dataclass in the room of the concern: made from options,
checked, described and passed whole. `maps.map_settings`: which map; `messages.input_settings`:
what is read from messages; `words.sampling_settings`: what a symbol is; `core.mechanism_settings`:
what draws; `ledger.charging`: what may be spent. `release.settings` has all that a release needs.
"""
from collections.abc import Collection, Mapping
from dataclasses import fields
from hashlib import sha256
import json
from numbers import Integral
from typing import Any, TypeVar

from symdp_ros.errors import ConfigurationError

_Settings = TypeVar('_Settings')


def settings_of(kind: type[_Settings], values: Mapping[str, Any], /,
                **names: str) -> _Settings:
    """
    Return the settings of a kind, whose fields are named like options.

    :param kind: a dataclass with a default for each field but those that are always given.
    :param values: option → value; a field whose option is missing, or None, has its default. A
        list becomes a tuple.
    :param names: field → option, where the two have different names.
    """
    given = {field.name: values.get(names.get(field.name, field.name))
             for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: tuple(value) if isinstance(value, list) else value
                   for name, value in given.items() if value is not None})


def is_whole(value: object, least: int) -> bool:
    """Return whether a value is a whole number ≥ `least`, of Python or NumPy; no boolean is."""
    return (isinstance(value, (int, Integral)) and not isinstance(value, bool)
            and int(value) >= least)


def check_choice(setting: str, value: object, choices: Collection[str]) -> None:
    """Raise ConfigurationError where a value is none of the choices of a setting."""
    if value not in choices:
        raise ConfigurationError(f'{setting} is {value!r}: it must be one of {", ".join(choices)}',
                                 setting=setting)


def digest_of_settings(described: Mapping[str, Any]) -> str:
    """Return a SHA-256 (hex) of settings as they are described: names → what JSON can hold."""
    return sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
