# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Texts that YAML writers put in quotes, so that every reader takes them for texts."""
from typing import Any

import yaml


class Quoted(str):
    """A text that PyYAML writes in quotes: without them, rcl takes 08 for a number."""


def quoted(value: Any) -> Any:
    """Return a value with its text, or the texts of a list, to be quoted."""
    if isinstance(value, (list, tuple)):
        return [quoted(item) for item in value]
    return Quoted(value) if isinstance(value, str) else value


def _represent(dumper: yaml.SafeDumper | yaml.Dumper, text: Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar('tag:yaml.org,2002:str', str(text), style='"')


for _dumper in yaml.SafeDumper, yaml.Dumper:  # launch writes files of parameters with the second
    _dumper.add_representer(Quoted, _represent)
