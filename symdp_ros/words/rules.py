# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of sampling, and which of them go together: for the live node and for logs."""
from collections.abc import Collection
from typing import TYPE_CHECKING

from symdp_ros.errors import ConfigurationError

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain

SAMPLING = ('message', 'change', 'period')
#: What is done with a symbol that is no state.
LIVE_UNKNOWN_SYMBOL = ('uniform', 'drop')
LOG_UNKNOWN_SYMBOL = (*LIVE_UNKNOWN_SYMBOL, 'split', 'hold')


def check_sampling(chain: 'Chain | None', *, sampling: str, input_timeout: float,
                   unknown_symbol: str,
                   unknown_symbols: Collection[str] = LIVE_UNKNOWN_SYMBOL) -> None:
    """
    Check that the settings of sampling are valid, and agree with one another and with the chain.

    :param chain: None: its states are not checked.
    :param input_timeout: in seconds; 0: never.
    :param unknown_symbols: what `unknown_symbol` may be.
    :raises ConfigurationError: a setting is not valid, or they do not agree.
    """
    _check_choice('sampling', sampling, SAMPLING)
    _check_choice('unknown_symbol', unknown_symbol, unknown_symbols)
    if sampling != 'period':
        if input_timeout != 0:
            raise ConfigurationError('input_timeout needs sampling: period',
                                     setting='input_timeout')
        return
    if unknown_symbol == 'drop':
        raise ConfigurationError('sampling: period and unknown_symbol: drop contradict each '
                                 'other: missing symbols would show when the region is unknown',
                                 setting='unknown_symbol')
    stuck = chain.states_without_staying() if chain is not None else ()
    if stuck:
        raise ConfigurationError(
            'sampling: period needs a chain in which every state can follow itself, and '
            f'{len(stuck)} of its states cannot, such as {stuck[0]!r}: set self_loops: true '
            '(--self-loops)', setting='self_loops')


def _check_choice(name: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        raise ConfigurationError(f'{name} is {value!r}: it must be one of {", ".join(choices)}',
                                 setting=name)
