"""The online mechanism: one private symbol for each sensitive one, as it comes."""
from symdp_ros.core.online.mechanism import OnlineMechanism
from symdp_ros.core.policies import POLICIES

__all__ = ['OnlineMechanism', 'POLICIES']
