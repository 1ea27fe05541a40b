# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One privatizer of a topic at a time on one machine."""
import errno
from functools import cache
from hashlib import sha256
import os
import select
import socket
import struct
import threading
import time

from symdp_ros.errors import ConfigurationError

_PATIENCE = 0.05  # seconds from a holder's bind to its listen, at most
_BUSY = 1.0       # seconds until a holder that many ask at once answers, at most
_held: dict[int, socket.socket] = {}  # of all claims of this process, by file descriptor


class TopicClaim:
    """
    A claim on a topic of a ROS domain, held by this process until it is closed or ends.

    What has topics of its own beside those of ROS, such as a broker, counts as one more domain.

    The claim is a socket name in Linux's abstract namespace: no file is left behind, however the
    process ends. Any user can take any such name; so the kernel is asked which user's process
    listens there, and only a process of this user, or of root, counts. There are two names, one
    for all users and one for each: if another user blocks the first, the second still finds a
    process of this user.

    `blocked_by` describes another holder of a name, or is empty. If it is not empty, another
    process that claims the topic may not be noticed.

    :param message: of the error.
    :raises ConfigurationError: another process of this user, or of root, holds the claim.
    """

    def __init__(self, domain: int | str, topic: str, message: str):
        name = f'\0symdp_ros/{sha256(f"{domain} {topic}".encode()).hexdigest()}'
        self._sockets = []
        self.blocked_by = ''
        for address in (name, f'{name}/{os.getuid()}'):
            held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._sockets.append(held)
            try:
                held.bind(address)
                held.listen()
                held.setblocking(False)
                _held[held.fileno()] = held
                _poll().register(held, select.EPOLLIN)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    self.close()
                    raise
                holder = _user_of(address)
                if holder in (0, os.getuid()):
                    self.close()
                    raise ConfigurationError(message) from None
                self.blocked_by = 'a process of an unknown user' if holder is None else (
                    f'a process of the user with the number {holder}')

    def close(self) -> None:
        """Let others claim the topic."""
        for held in self._sockets:
            _held.pop(held.fileno(), None)
            held.close()  # the poll forgets it
        self._sockets = []


@cache
def _poll() -> select.epoll:
    """Return what waits for connections to any claim. One thread answers them all."""
    poll = select.epoll()
    threading.Thread(target=_answer, args=[poll], daemon=True).start()
    return poll


os.register_at_fork(after_in_child=_poll.cache_clear)  # a child has no such thread


def _answer(poll):
    """Accept and close connections: the kernel has already told the callers what they ask."""
    while True:
        for number, _ in poll.poll():
            try:
                _held[number].accept()[0].close()
            except (KeyError, OSError):  # it was closed meanwhile, or too many files are open
                time.sleep(_PATIENCE)


def _user_of(address) -> int | None:
    """Return the user whose process listens at an address; None where the kernel cannot tell."""
    begin = time.monotonic()
    while True:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.setblocking(False)
            try:
                asking.connect(address)
                credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                return struct.unpack('3i', credentials)[1]  # process, user, group
            except ConnectionRefusedError:  # bound, but not listening: not yet, or no claim
                if time.monotonic() > begin + _PATIENCE:
                    return None
            except BlockingIOError:  # its queue is full
                if time.monotonic() > begin + _BUSY:
                    return None
            except OSError:  # a socket of another kind, or one that refuses connections
                return None
        time.sleep(0.005)
