"""Private symbols for a robot's regions and modes: word differential privacy on Markov chains."""
from symdp_ros.core.automaton import HammingAutomaton
from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import (BudgetError, ChainError, ConfigurationError, LedgerError,
                                   LogError, PrivacyError, StateFileError, SymdpError,
                                   UnknownSymbolError)
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

__version__ = '0.1.0'

__all__ = ['BudgetError', 'Chain', 'ChainError', 'ConfigurationError', 'HammingAutomaton',
           'LedgerError', 'LogError', 'OfflineMechanism', 'OnlineMechanism', 'Privacy',
           'PrivacyError', 'StateFileError', 'SymdpError', 'UnknownSymbolError', '__version__']
