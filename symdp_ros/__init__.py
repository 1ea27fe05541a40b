# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Private symbols for a robot's regions and modes: word differential privacy on Markov chains."""
from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers and editors; a test compares with _HOMES
    from symdp_ros.core.chain import Chain
    from symdp_ros.core.offline import OfflineMechanism
    from symdp_ros.core.offline.automaton import HammingAutomaton
    from symdp_ros.core.online import OnlineMechanism
    from symdp_ros.core.privacy import Privacy
    from symdp_ros.errors import (BudgetError, ChainError, ConfigurationError, LedgerError,
                                  LogError, PrivacyError, StateFileError, SymdpError,
                                  UnknownSymbolError)
    from symdp_ros.ledger.ledger import Ledger
    from symdp_ros.maps import read_chain
    from symdp_ros.release.session import Releaser
    from symdp_ros.release.settings import ReleaseSettings

__version__ = '0.1.0'

__all__ = ['BudgetError', 'Chain', 'ChainError', 'ConfigurationError', 'HammingAutomaton',
           'Ledger', 'LedgerError', 'LogError', 'OfflineMechanism', 'OnlineMechanism', 'Privacy',
           'PrivacyError', 'ReleaseSettings', 'Releaser', 'StateFileError', 'SymdpError',
           'UnknownSymbolError', '__version__', 'read_chain']

_HOMES = {
    'Chain': 'maps.chain_file',  # which sets what `Chain.from_yaml` calls
    'HammingAutomaton': 'core.offline.automaton',
    'Ledger': 'ledger.ledger',
    'OfflineMechanism': 'core.offline',
    'OnlineMechanism': 'core.online',
    'Privacy': 'core.privacy',
    'ReleaseSettings': 'release.settings',
    'Releaser': 'release.session',
    'read_chain': 'maps',
}


def __getattr__(name: str) -> Any:
    # On demand: a node joins the ROS graph before it imports what it computes with.
    if name == 'core':
        return import_module('symdp_ros.core')
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    exported = getattr(import_module(f'symdp_ros.{_HOMES.get(name, "errors")}'), name)
    globals()[name] = exported
    return exported


def __dir__() -> list[str]:
    return __all__
