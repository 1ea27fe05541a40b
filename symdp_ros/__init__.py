"""Private symbols for a robot's regions and modes: word differential privacy on Markov chains."""
from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import (ChainError, ConfigurationError, PrivacyError, StateFileError,
                                   SymdpError, UnknownSymbolError)
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

__version__ = '0.1.0'

__all__ = ['Chain', 'ChainError', 'ConfigurationError', 'OnlineMechanism', 'Privacy',
           'PrivacyError', 'StateFileError', 'SymdpError', 'UnknownSymbolError', '__version__']
