# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A ROS domain that no other program of this package uses on this machine."""
import errno
import random
import socket

from symdp_ros.errors import ConfigurationError
from symdp_ros.files.closable import Closable

_DOMAINS = range(1, 102)  # the ports of higher ones may be taken by ordinary connections


class FreeDomain(Closable):
    """
    A ROS domain that no other holder of a `FreeDomain` on this machine has, until it is closed.

    Demos, benchmarks and tests use it, so that several of them can run at once. The claim is a
    socket name in Linux's abstract namespace: no file is left behind, however the process ends.

    :ivar number: the domain, 1 to 101, chosen at random.
    :raises ConfigurationError: all are taken.
    """

    def __init__(self):
        for self.number in random.SystemRandom().sample(_DOMAINS, len(_DOMAINS)):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                self._socket.bind(f'\0symdp_ros test domain {self.number}')
                return
            except OSError as error:
                self._socket.close()
                if error.errno != errno.EADDRINUSE:
                    raise
        raise ConfigurationError(
            f'all ROS domains from {_DOMAINS[0]} to {_DOMAINS[-1]} are taken by demos, benchmarks '
            'and tests of this package on this machine: wait until some have ended, or set '
            'ROS_DOMAIN_ID')

    def close(self) -> None:
        """Free the domain."""
        self._socket.close()
