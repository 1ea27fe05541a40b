"""One publisher of a private topic at a time on one machine."""
import socket

from symdp_ros.core.errors import ConfigurationError


class TopicClaim:
    """
    A claim on a topic of a ROS domain, held by this process until it is released or ends.

    Two privatizers of one region on one private topic would publish two draws for each symbol,
    which costs 2ε, and moves that the map does not allow. The claim is a socket name in Linux's
    abstract namespace: no file is left behind, whatever ends the process.

    :raises ConfigurationError: another process on this machine holds the claim.
    """

    def __init__(self, domain: int, topic: str):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(f'\0symdp_ros/{domain}{topic}'[:107])
        except OSError:
            self._socket.close()
            raise ConfigurationError(
                f'another process of this machine already privatizes onto {topic}: stop it, or '
                'give this one a private topic of its own (remap private_region)') from None

    def close(self) -> None:
        """Let others claim the topic."""
        self._socket.close()
