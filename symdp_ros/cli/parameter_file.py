# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of a node, for numbers that were computed."""
import argparse
from collections.abc import Mapping
from math import inf

from symdp_ros.analysis.visits import Errors
from symdp_ros.core.mechanism_settings import CHOICES
from symdp_ros.core.registry import DEFAULT_TRUST
from symdp_ros.files.quoted import quoted
from symdp_ros.files.resources import resolve_path
from symdp_ros.maps.zones import LEVELS
import yaml


def parameters_of(errors: Errors, period: float, epsilon: float, options: argparse.Namespace,
                  tick: float, *, by_rule: bool = False) -> dict[str, object]:
    """
    Return the parameters of a privatizer, or of log_release, the map and its initial state apart.

    :param errors: of symbols every `period` seconds.
    :param options: with self_loops, trust, protect, stay and zones_file.
    :param tick: seconds; `moves` is for reports that are further apart.
    :param by_rule: whether all else follows from the visit (`words.visit_rule`): it is left out.
    """
    draws: dict[str, object] = {'policy': errors.mechanism}
    if errors.delay is None:
        settings = CHOICES[errors.mechanism]
        draws = {'mechanism': settings.selection, **settings.opened}
    by_hand = {} if by_rule else {
        'period': period, 'report_period': errors.report_period,
        'moves': 0 if errors.report_period == tick else errors.moves, **draws}
    parameters = {
        'protect': options.protect, 'epsilon': epsilon, 'stay': options.stay or 0.0,
        'delay': errors.delay or 0.0, 'zones_file': options.zones_file or '',
        'self_loops': options.self_loops, 'trust': options.trust, **by_hand}
    left_out = {'self_loops': False, 'trust': DEFAULT_TRUST, 'zones_file': '', 'moves': 0,
                'stay': 0.0, 'delay': 0.0}
    return {name: value for name, value in parameters.items() if left_out.get(name) != value}


def parameter_text(parameters: Mapping[str, object], options: argparse.Namespace,
                   command: str) -> str:
    """
    Return the text of a parameter file with the map; paths in it are absolute.

    :param command: what it was made by.
    """
    values = {'chain_file': str(resolve_path(options.chain_file).absolute()),
              **{name: getattr(options, name) for name in ('initial_state', 'level')
                 if getattr(options, name)},
              **({'graph': options.graph} if options.graph >= 0 else {}),
              **({'prune': True} if options.prune else {}), **parameters}
    if values.get('zones_file', LEVELS) != LEVELS:
        values['zones_file'] = str(resolve_path(options.zones_file).absolute())
    values = {name: quoted(value) for name, value in values.items()}
    text = yaml.safe_dump({'/**': {'ros__parameters': values}}, sort_keys=False,
                          allow_unicode=True, width=inf)
    return f'# Made by `{command}`.\n{text}'
