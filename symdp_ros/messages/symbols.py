# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From the values that robots and logs hold to the symbols of a chain."""
from collections.abc import Iterable, Mapping

from symdp_ros.core.naming import instead_of, quoted
from symdp_ros.errors import ConfigurationError


def parse_symbol_map(items: Iterable[str]) -> dict[str, str]:
    """
    Return value → state of items such as '1=dock'.

    :raises ConfigurationError: a malformed or repeated item.
    """
    mapped = {}
    for item in items:
        value, _, state = item.partition('=')
        if not value or not state:
            raise ConfigurationError(f'symbol_map has the item {item!r}: write it as value=state',
                                     setting='symbol_map')
        if value in mapped:
            raise ConfigurationError(f'symbol_map lists the value {value!r} twice',
                                     setting='symbol_map')
        mapped[value] = state
    return mapped


def symbol_table(states: Iterable[str], symbol_map: Mapping[str, str] = {},
                 no_region: Iterable[str] = ()) -> dict[str, str]:
    """
    Return value → state; whatever it lacks is an unknown region.

    :param symbol_map: value → state; a value that is not listed stands for itself.
    :param no_region: values that mean that no region is known.
    :raises ConfigurationError: the map names no state, or a value in `no_region` names one.
    """
    table = {state: state for state in states}
    for state in symbol_map.values():
        if state not in table:
            raise ConfigurationError(f'symbol_map names {quoted(state)}, which is not a state of '
                                     f'the chain: {instead_of(state, table)}',
                                     setting='symbol_map')
    table |= symbol_map
    for value in no_region:
        if value in table:
            raise ConfigurationError(f'{value!r} is listed in no_region and also names a state: '
                                     'rename the state, or change no_region', setting='no_region')
    return table
