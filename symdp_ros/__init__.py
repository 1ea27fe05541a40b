# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Private symbols for a robot's regions and modes: word differential privacy on Markov chains."""
from importlib import import_module

__version__ = '0.1.0'

_HOMES = {
    'offline.automaton': ['HammingAutomaton'],
    'chain': ['Chain'],
    'errors': ['BudgetError', 'ChainError', 'ConfigurationError', 'LedgerError', 'LogError',
               'PrivacyError', 'StateFileError', 'SymdpError', 'UnknownSymbolError'],
    'offline': ['OfflineMechanism'],
    'online': ['OnlineMechanism'],
    'privacy': ['Privacy'],
}
_HOME_OF = {name: f'symdp_ros.core.{home}' for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), '__version__']


def __getattr__(name):
    # On demand: a node says who it is to the others before it imports anything that it computes
    # with.
    if name == 'core':
        return import_module('symdp_ros.core')
    if name not in _HOME_OF:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    globals()[name] = found = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__():
    return sorted({*globals(), *__all__})
