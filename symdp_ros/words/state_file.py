# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The file that lets a word go on after a restart: its last private symbol, which is public anyway.

It holds two records of one layout, little-endian: the word that runs, and after it the word that
was reserved last. Each is written whole by one call of the operating system, so that it is there
whole or not at all, and survives the process. A record of zeros is none.

    16 bytes  magic
    32        digest of the settings under which the word runs
    16        digest of the topics that it runs between
    16        name of the word: random; the ledger knows its charge by this name
     8        name of the process that wrote the record: random
     8        the clock of the time below
     4        position of the last private symbol in the chain's states; 2³² − 1: none yet
     8        when that symbol was drawn, in nanoseconds of that clock; −1: not kept
     4        CRC-32 of all that

A word is **reserved** before it is charged, and **begun** after it. Both are flushed to the disk,
with the file's directory. So nothing is charged for which the disk has no room; a word that was
charged and not begun is found by its name and not charged again; no word is carried on that was
not charged; and where the charge is refused, the word that the file held is still there.

Symbols are not flushed. After a power failure the file may hold an older symbol. The word then
goes on from there; that costs no privacy, as each symbol is drawn from public history alone, but
the move across the gap may be one that the chain does not list.
"""
from contextlib import suppress
import fcntl
from hashlib import sha256
import os
from pathlib import Path
import stat
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from symdp_ros.errors import StateFileError

_KIND = b'symdp_ros word '
_MAGIC = _KIND + b'2'
_RECORD = Struct('<16s32s16s16s8s8sIqI')
_LAST = Struct('<Iq')   # what changes with every symbol: position, time
_CHECKSUM = Struct('<I')
_NOTHING = 0xFFFFFFFF   # a word that has no symbol yet
_NOT_KEPT = -1

NAME_BYTES, PROCESS_BYTES = 16, 8


class StoredWord(NamedTuple):
    """A word that a state file holds."""

    name: bytes
    position: int | None   #: of its last private symbol; None: it has none yet
    drawn_at: int          #: when that was drawn; −1: not kept, or by another clock
    process: bytes         #: who wrote it


class StateFile:
    """
    The last private symbol of one word, on disk.

    :param path: created where it is absent, with mode 0600; its folder must exist.
    :param settings: 32 bytes, a digest of all that the word depends on, and of its ledger.
    :param states: how many states the chain has.
    :param topics: text that names the topics between which the word runs.
    :param clock: text that names the clock of the times that are stored.
    :param process: 8 bytes that identify this process.
    :raises StateFileError: the file cannot be opened, is not a file of this kind, another process
        holds it, or it holds a word between other topics.

    `found` says what was there: 'a word to carry on' (it is `stored`, a `StoredWord`), 'no word',
    'a word of other settings', 'a word of another version' or 'a damaged word'; `reserved` is the
    name of the word of these settings that was reserved and has not begun, or None. The file
    stays as it is until `reserve` or `begin`.
    """

    def __init__(self, path: Path, settings: bytes, states: int, *, topics: str = '',
                 clock: str = '', process: bytes = bytes(PROCESS_BYTES)):
        self._path, self._settings, self._process = path, settings, process
        self._topics = sha256(topics.encode()).digest()[:16]
        self._clock = sha256(clock.encode()).digest()[:8]
        self.stored = self.reserved = None
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
                                 | os.O_NOCTTY, 0o600)
        except OSError as error:
            raise StateFileError(f'state_file {path} cannot be opened: {error.strerror}') from None
        try:
            self._lock()
            self.found = self._read(topics, states)
        except (OSError, StateFileError) as error:
            os.close(self._file)
            if isinstance(error, StateFileError):
                raise
            raise StateFileError(f'state_file {path} cannot be used: {error.strerror}') from None

    def reserve(self, name: bytes) -> None:
        """
        Make room for a new word, durably; the word that the file holds stays.

        :param name: of the new word, 16 bytes.
        :raises StateFileError: the file cannot be written; then nothing should be charged.
        """
        self._write_durably(_RECORD.size, name, None, _NOT_KEPT)
        try:
            folder = os.open(self._path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._cannot_be_written(error.strerror) from None

    def begin(self, name: bytes, position: int | None = None,
              drawn_at: int = _NOT_KEPT) -> None:
        """
        Begin a word, or carry one on, durably; needed before `store`.

        :raises StateFileError: the file cannot be written.
        """
        self._write_durably(0, name, position, drawn_at)

    def store(self, position: int, drawn_at: int = _NOT_KEPT) -> None:
        """
        Store the position of a private symbol; call it before the symbol is published.

        :param drawn_at: in nanoseconds of the file's clock; −1: not kept.
        :raises StateFileError: the file cannot be written: the symbol must not be published.
        """
        last = _LAST.pack(position, drawn_at)
        self._write(self._start + last + _CHECKSUM.pack(crc32(last, self._start_checksum)), 0)

    def close(self) -> None:
        """Flush and release the file."""
        with suppress(OSError):
            os.fsync(self._file)
        os.close(self._file)

    def _write_durably(self, offset, name, position, drawn_at):
        self._start = b''.join((_MAGIC, self._settings, self._topics, name, self._process,
                                self._clock))
        self._start_checksum = crc32(self._start)
        last = _LAST.pack(_NOTHING if position is None else position, drawn_at)
        record = self._start + last + _CHECKSUM.pack(crc32(last, self._start_checksum))
        try:
            if os.fstat(self._file).st_size != 2 * _RECORD.size:
                # Another layout, or nothing yet: there is nothing to keep.
                self._write(bytes(2 * _RECORD.size), 0)
                os.ftruncate(self._file, 2 * _RECORD.size)
            self._write(record, offset)
            os.fsync(self._file)
        except OSError as error:
            raise self._cannot_be_written(error.strerror) from None

    def _write(self, data, offset):
        try:
            written = os.pwrite(self._file, data, offset)
        except OSError as error:
            raise self._cannot_be_written(error.strerror) from None
        if written != len(data):
            raise self._cannot_be_written('there is no room for it')

    def _cannot_be_written(self, why):
        return StateFileError(f'state_file {self._path} cannot be written: {why}')

    def _lock(self):
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            # A device would keep nothing.
            raise StateFileError(f'state_file {self._path} is not a file: name one that this node '
                                 'may write')
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateFileError(f'state_file {self._path} is in use by another process: stop it, '
                                 'or give each node a state file of its own') from None

    def _read(self, topics, states):
        """Take in what the file holds and return `found`."""
        size = _RECORD.size
        content = os.pread(self._file, 2 * size + 1, 0)
        if not content.strip(b'\0'):
            return 'no word'
        if not content.startswith((_KIND, bytes(size))):
            raise StateFileError(f'state_file {self._path} is a file of another kind: name one '
                                 'that this node may write')
        if content.startswith(_KIND) and content[:len(_MAGIC)] not in (_MAGIC, _KIND):
            return 'a word of another version'
        if len(content) != 2 * size:
            return 'a damaged word'
        found = self._read_word(content[:size], topics, states)
        reserved = _fields(content[size:])
        if reserved is not None and reserved[1:3] == (self._settings, self._topics):
            if self.stored is None or self.stored.name != reserved[3]:
                self.reserved = reserved[3]
        return found

    def _read_word(self, record, topics, states):
        if not record.strip(b'\0'):
            return 'no word'
        fields = _fields(record)
        if fields is None:
            return 'a damaged word'
        _, settings, topics_digest, name, process, clock, position, drawn_at, _ = fields
        if topics_digest != self._topics:
            raise StateFileError(
                f'state_file {self._path} holds a word between other topics than {topics}: it is '
                "another robot's, or topics were renamed. Give each robot its own state_file. "
                'If that word is not needed any more, remove the file')
        if settings != self._settings:
            return 'a word of other settings'
        if not (position < states or position == _NOTHING):
            return 'a damaged word'
        self.stored = StoredWord(name, None if position == _NOTHING else position,
                                 drawn_at if clock == self._clock else _NOT_KEPT, process)
        return 'a word to carry on'


def _fields(record):
    """Return the fields of a record; None where it is damaged."""
    fields = _RECORD.unpack(record)
    whole = fields[0] == _MAGIC and fields[-1] == crc32(record[:-_CHECKSUM.size])
    return fields if whole else None
