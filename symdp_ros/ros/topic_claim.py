"""One privatizer of a topic at a time on one machine."""
import errno
import socket
from hashlib import sha256

from symdp_ros.core.errors import ConfigurationError


class TopicClaim:
    """
    A claim on a topic of a ROS domain, held by this process until it is closed or ends.

    The claim is a socket name in Linux's abstract namespace: no file is left behind, whatever ends
    the process.

    :raises ConfigurationError: another process on this machine holds the claim; `said` is why
        that will not do.
    """

    def __init__(self, domain: int, topic: str, said: str):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = sha256(f'{domain} {topic}'.encode()).hexdigest()
        try:
            self._socket.bind(f'\0symdp_ros/{name}')
        except OSError as error:
            self._socket.close()
            if error.errno != errno.EADDRINUSE:
                raise
            raise ConfigurationError(said) from None

    def close(self) -> None:
        """Let others claim the topic."""
        self._socket.close()
