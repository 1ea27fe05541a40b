"""
The file that carries a word over a restart: the last private symbol, which is public anyway.

Layout (64 bytes): 16 bytes magic, 32 bytes digest of the settings, 8 bytes slot, 8 bytes free.
The slot holds the position of the symbol in the chain's states and, in its upper half, the
complement of that, written by one call of the operating system, so that it is there whole or not
at all, and survives the process. It is not flushed to the disk: after a power failure it may hold
an older symbol. The word then goes on from there; that costs no privacy, as each symbol is drawn
from public history alone, but the move across the gap may be one that the chain does not list.
"""
import fcntl
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG

from symdp_ros.core.errors import StateFileError

_MAGIC = b'symdp_ros word 1'
_SIZE = 64
_NOTHING = 0xFFFFFFFF  # a word that has no symbol yet


def settings_digest(*settings) -> bytes:
    """Return a SHA-256 of settings: of the text of each."""
    return sha256('\n'.join(str(setting) for setting in settings).encode()).digest()


class StateFile:
    """
    The last private symbol of one word, on disk.

    :param path: created where it is absent, with mode 0600; its folder must exist.
    :param digest: 32 bytes that tell the settings (chain, ε, k, policy) under which the word runs.
    :param states: how many states the chain has.
    :raises StateFileError: the file cannot be opened, is not a file of this kind, or another
        process holds it.

    `found` says what was there: 'a word to carry on', 'no word', 'a word of other settings' or
    'a damaged word'; `position` is the symbol to carry on from: None before the first symbol.
    Where there is no word to carry on, the file stays as it is until `begin`.
    """

    def __init__(self, path: Path, digest: bytes, states: int):
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK,
                                 0o600)
        except OSError as error:
            raise StateFileError(f'state_file {path} cannot be opened: {error.strerror}') from None
        try:
            self._lock(path)
            self.found, self.position = self._read(path, digest, states)
        except (OSError, StateFileError) as error:
            os.close(self._file)
            if isinstance(error, StateFileError):
                raise
            raise StateFileError(f'state_file {path} cannot be used: {error.strerror}') from None
        self._path, self._digest = path, digest

    def begin(self) -> None:
        """
        Begin a new word: from now on there is one to carry on.

        :raises StateFileError: the file cannot be written.
        """
        try:
            os.pwrite(self._file, _MAGIC + self._digest + _slot(_NOTHING) + bytes(_SIZE - 56), 0)
            os.ftruncate(self._file, _SIZE)
        except OSError as error:
            raise StateFileError(f'state_file {self._path} cannot be written: '
                                 f'{error.strerror}') from None

    def store(self, position: int) -> None:
        """Store the position of a private symbol; call it before the symbol is published."""
        os.pwrite(self._file, _slot(position), 48)

    def close(self) -> None:
        """Flush and release the file."""
        with suppress(OSError):
            os.fsync(self._file)
        os.close(self._file)

    def _lock(self, path):
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateFileError(f'state_file {path} is in use by another process: stop that one, '
                                 'or give each node a state file of its own') from None

    def _read(self, path, digest, states):
        if not S_ISREG(os.fstat(self._file).st_mode):  # a device would keep nothing
            raise StateFileError(f'state_file {path} is not a file: name one that this node may '
                                 'write')
        content = os.pread(self._file, _SIZE + 1, 0)
        if not content:
            return 'no word', None
        if not content.startswith(_MAGIC[:-1]):
            raise StateFileError(f'state_file {path} is a file of another kind: name one that '
                                 'this node may write')
        if len(content) != _SIZE or not content.startswith(_MAGIC):
            return 'a damaged word', None
        if content[16:48] != digest:
            return 'a word of other settings', None
        slot = int.from_bytes(content[48:56], 'little')
        position = slot & 0xFFFFFFFF
        if position ^ 0xFFFFFFFF != slot >> 32 or not (position < states or position == _NOTHING):
            return 'a damaged word', None
        return 'a word to carry on', None if position == _NOTHING else position


def _slot(position):
    return ((position ^ 0xFFFFFFFF) << 32 | position).to_bytes(8, 'little')
