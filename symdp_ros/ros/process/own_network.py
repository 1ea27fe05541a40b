# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A network of its own for a demo or a test: no other program of the machine can be met there.

`python -I own_network.py COMMAND ARGUMENT…` runs a command in it. This file imports nothing but
the standard library: numpy starts threads, and a process with threads gets no user namespace.
"""
import ctypes
import fcntl
import os
import socket
import struct
import sys

#: In the environment of a command that was started here: '1', or '0' where it was not allowed.
MARK = 'SYMDP_OWN_NETWORK'

_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000  # unshare(2)
_RECURSIVE, _PRIVATE = 0x4000, 0x40000  # mount(2)
_NO_SETUID, _NO_DEVICES = 2, 4
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # netdevice(7)
_CAPABILITIES = 0x20080522  # capset(2), version 3

_libc = ctypes.CDLL(None, use_errno=True)


def isolate(shared_memory: bool = True) -> None:
    """
    Give this thread, and all that it starts from now on, a network and a /dev/shm of its own.

    The network has a loopback interface and nothing else. Fast DDS names its shared memory in
    /dev/shm by domain and port, so that must be separate, too. Files, users and processes stay as
    they are. Without the rights of an administrator, the process must have one thread only.

    :param shared_memory: whether Fast DDS finds room in /dev/shm. Without room, Fast DDS prints an
        error and uses the network alone. A read-only /dev/shm would not do: LTTng, which traces
        some rclpy, then forks again and again, and takes the exit statuses of other children.
    :raises OSError: the kernel does not allow it; the process may then be half-way: see
        :func:`may_isolate`.
    """
    try:
        _call('unshare', _NEW_MOUNTS | _NEW_NETWORK)
        new_user = False
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        _call('unshare', _NEW_USER | _NEW_MOUNTS | _NEW_NETWORK)
        new_user = True
        for file, line in (('setgroups', 'deny'), ('uid_map', f'{user} {user} 1'),
                           ('gid_map', f'{group} {group} 1')):
            with open(f'/proc/self/{file}', 'w') as stream:
                stream.write(line)
    _call('mount', None, b'/', None, _RECURSIVE | _PRIVATE, None)
    _call('mount', b'tmpfs', b'/dev/shm', b'tmpfs', _NO_SETUID | _NO_DEVICES,
          b'mode=1777' + (b'' if shared_memory else b',size=64k'))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack('16sh14x', b'lo', 0)
        name, flags = struct.unpack('16sh14x', fcntl.ioctl(any_socket, _GET_FLAGS, request))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack('16sh14x', name, flags | _UP))
    if new_user:  # it made this process an administrator, for whom file modes do not count
        _call('capset', struct.pack('Ii', _CAPABILITIES, 0), bytes(24))


def may_isolate() -> bool:
    """Return whether :func:`isolate` succeeds, tried in a child process."""
    child = os.fork()
    if child == 0:
        try:
            isolate()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _call(name, *arguments):
    """
    Call a function of the C library.

    :raises OSError: it failed.
    """
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f'{name}: {os.strerror(number)}')


def is_isolated() -> bool:
    """Return whether this process was started in a network of its own."""
    return os.environ.get(MARK) == '1'


def restart_isolated() -> None:
    """
    Start this program again in a network of its own; return only where that was done before.

    Use :func:`is_isolated` then: the kernel may not have allowed it.
    """
    if MARK not in os.environ:
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, '-I', __file__, sys.executable,
                                  *sys.orig_argv[1:]])


def main() -> None:
    """Run the command that the arguments hold; isolated, where the kernel allows it."""
    if allowed := may_isolate():
        isolate()
    os.environ[MARK] = str(int(allowed))
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == '__main__':
    main()
