# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The file from which a word goes on after a restart: the state of its mechanism.

It holds the word that was reserved last, and two slots, which are written in turn: whenever a
process is killed, and whatever it was writing, one of them is whole. The whole one with the larger
number is the word that runs. All numbers are little-endian.

    front, 76 bytes, written by one call of the operating system: it is whole or not at all
    16  magic
     8  room of a slot, in bytes
    48  the word that was reserved and has not begun, as below: its settings and name;
        zeros: none
     4  CRC-32 of all that

    slot
    32  digest of the settings under which the word runs
    16  name of the word: random; the ledger knows its charge by this name
     8  name of the process that wrote the slot: random
     8  the clock of the time when the last symbol was drawn
     8  when the word began, in nanoseconds of a clock that goes on while the machine is off; −1:
        not kept
     8  number of the slot: one more than that of the other one
     8  when the last symbol was drawn, in nanoseconds; −1: not kept
     4  position of the last private symbol in the chain's states; 2³² − 1: none yet
     8  length of the state
     …  the state: all that the next draws depend on (`OnlineMechanism.state`)
     4  CRC-32 of all that

Where a state needs more room, the slot that counts is copied to the first one before the second
one moves.

A word is **reserved** before it is charged, and **begun** after it. Both are flushed to the disk,
with the file's directory. So nothing is charged for which the disk has no room; a word that was
charged and not begun is found by its name and not charged again; no word is carried on that was
not charged; and where the charge is refused, the word that the file held is still there.

Symbols are not flushed. After a power failure the file may hold an older state. The word then
goes on from there; that costs no privacy, as each draw depends on former draws alone, and not on
what they were drawn for; but the move across the gap may be one that the chain does not list.
Where a state takes several pages of the disk, there may be none that is whole: a new word begins.
"""
from contextlib import AbstractContextManager, suppress
import fcntl
from hashlib import sha256
from operator import attrgetter
import os
from pathlib import Path
import stat
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from symdp_ros.errors import raising, StateFileError

_KIND = b'symdp_ros word '
_MAGIC = _KIND + b'5'
_FRONT = Struct('<16sQ32s16s')
_SLOT = Struct('<32s16s8s8sqQqIQ')
_CHANGES = Struct('<QqIQ')  # the part of a slot that changes with every symbol
_BEGUN_AT = Struct('<q')
_CHECKSUM = Struct('<I')
_FIRST_SLOT = _FRONT.size + _CHECKSUM.size
_ROOM, _MOST_ROOM = 1024, 2**40
_NONE = bytes(48)       # no word is reserved
_NOTHING = 0xFFFFFFFF   # a word that has no private symbol yet
_NOT_KEPT = -1

NAME_BYTES, PROCESS_BYTES = 16, 8


class StoredWord(NamedTuple):
    """A word that a slot of a state file holds."""

    settings: bytes
    name: bytes
    process: bytes
    begun_at: int | None   #: when it began; None: not kept
    number: int            #: of the slot
    drawn_at: int          #: when its last symbol was drawn; −1: not kept, or by another clock
    position: int | None   #: of its last private symbol; None: it has none yet
    state: bytes           #: of what draws it


class StateFile:
    """
    The state of one word, on disk.

    :param path: created where it is absent, with mode 0600; its folder must exist.
    :param settings: 32 bytes, a digest of all that the word depends on, and of its ledger.
    :param states: how many states the chain has.
    :param clock: text that names the clock of the times that are stored.
    :param process: 8 bytes that identify this process.
    :raises StateFileError: the file cannot be opened, is not a file of this kind, or another
        process holds it.

    `found` says what was there: 'a word to carry on' (it is `stored`, a `StoredWord`), 'no word',
    'a word of other settings', 'a word of another version' or 'a damaged word'; `reserved` is the
    name of the word of these settings that was reserved and has not begun, or None. `writer` is
    the process that wrote the word that runs, whatever its settings; None: not known. The file
    stays as it is until `reserve` or `begin`.
    """

    def __init__(self, path: Path, settings: bytes, states: int, *, clock: str = '',
                 process: bytes = bytes(PROCESS_BYTES)):
        self._path, self._settings, self._process = path, settings, process
        self._problem = f'state_file {path} cannot be written'
        self._clock = sha256(clock.encode()).digest()[:8]
        self.stored: StoredWord | None = None
        self.reserved: bytes | None = None
        self.writer: bytes | None = None
        self._has_front, self._room, self._reservation = False, _ROOM, _NONE
        self._newest = self._number = 0  # of the slot that counts: which one, and its number
        with raising(StateFileError, f'state_file {path} cannot be opened', OSError):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
                                 | os.O_NOCTTY, 0o600)
        try:
            with raising(StateFileError, f'state_file {path} cannot be used', OSError):
                self._lock()
                self.found = self._read(states)
        except StateFileError:
            os.close(self._file)
            raise

    def reserve(self, name: bytes, length: int) -> None:
        """
        Make room for a new word, durably; the word that the file holds stays.

        :param name: of the new word, 16 bytes.
        :param length: of its state, in bytes.
        :raises StateFileError: the file cannot be written; then nothing should be charged.
        """
        with self._writing():
            if not self._has_front:  # another layout, or nothing yet: there is nothing to keep
                os.ftruncate(self._file, 0)
            os.posix_fallocate(self._file, 0, _FIRST_SLOT + 2 * self._room_for(length))
            self._write_front(self._room, self._settings + name)
            os.fsync(self._file)
            folder = os.open(self._path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def begin(self, name: bytes, state: bytes, position: int | None = None,
              drawn_at: int = _NOT_KEPT, begun_at: int | None = None) -> None:
        """
        Begin a word, or carry one on, durably; needed before `store`.

        :param begun_at: when it began, in nanoseconds of a clock that outlives the machine's
            starts; None: not kept.
        :raises StateFileError: the file cannot be written.
        """
        self._start = b''.join((
            self._settings, name, self._process, self._clock,
            _BEGUN_AT.pack(_NOT_KEPT if begun_at is None else begun_at)))
        self._start_checksum = crc32(self._start)
        with self._writing():
            if not self._has_front:
                os.ftruncate(self._file, 0)
                self._write_front(self._room, _NONE)
            self.store(state, position, drawn_at)
            os.fsync(self._file)
        if self._start.startswith(self._reservation):
            self._write_front(self._room, _NONE)

    def store(self, state: bytes, position: int | None, drawn_at: int = _NOT_KEPT) -> None:
        """
        Store what a draw has led to; call it before anything of it is published.

        :param position: of the last private symbol.
        :param drawn_at: when that draw was, in nanoseconds of the file's clock; −1: not kept.
        :raises StateFileError: the file cannot be written: nothing must be published.
        """
        number = self._number + 1
        changes = _CHANGES.pack(number, drawn_at, _NOTHING if position is None else position,
                                len(state)) + state
        checksum = crc32(changes, self._start_checksum)
        record = self._start + changes + _CHECKSUM.pack(checksum)
        if len(record) > self._room:
            self._make_room(self._room_for(len(state)))
        slot = 1 - self._newest
        self._write(record, _FIRST_SLOT + slot * self._room)
        self._newest, self._number = slot, number

    def close(self) -> None:
        """Flush and release the file."""
        with suppress(OSError):
            os.fsync(self._file)
        os.close(self._file)

    def _room_for(self, length: int) -> int:
        """Return the room of slots for states of this length: as now, or twice what is needed."""
        needed = _SLOT.size + length + _CHECKSUM.size
        return self._room if needed <= self._room else 2 * needed

    def _make_room(self, room: int) -> None:
        """Give more room to the slots: the one that counts is then the first."""
        if self._newest:
            self._write(os.pread(self._file, self._room, _FIRST_SLOT + self._room), _FIRST_SLOT)
            self._newest = 0
        self._write_front(room, self._reservation)

    def _write_front(self, room: int, reservation: bytes) -> None:
        front = b''.join((_MAGIC, room.to_bytes(8, 'little'), reservation))
        self._write(front + _CHECKSUM.pack(crc32(front)), 0)
        self._has_front, self._room, self._reservation = True, room, reservation

    def _write(self, data: bytes, offset: int) -> None:
        try:  # without `_writing`, which takes as long as the write
            written = os.pwrite(self._file, data, offset)
        except OSError as error:
            raise StateFileError(f'{self._problem}: {error.strerror}') from None
        if written != len(data):
            raise StateFileError(f'{self._problem}: there is no room for it')

    def _writing(self) -> AbstractContextManager[None]:
        return raising(StateFileError, self._problem, OSError)

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            # A device would keep nothing.
            raise StateFileError(f'state_file {self._path} is not a file: name one that this node '
                                 'may write')
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateFileError(f'state_file {self._path} is in use by another process: stop it, '
                                 'or give each node a name of its own, or a state file') from None

    def _read(self, states: int) -> str:
        """Take in what the file holds and return `found`."""
        front = os.pread(self._file, _FIRST_SLOT, 0)
        if not front.strip(b'\0'):
            return 'no word'
        if not front.startswith(_KIND):
            raise StateFileError(f'state_file {self._path} is a file of another kind: name one '
                                 'that this node may write')
        if front[:len(_MAGIC)] not in (_MAGIC, _KIND):
            return 'a word of another version'
        if not _is_whole(front, _FIRST_SLOT):
            return 'a damaged word'
        _, room, *reserved = _FRONT.unpack(front[:_FRONT.size])
        if not _ROOM <= room <= _MOST_ROOM:
            return 'a damaged word'
        self._has_front, self._room, self._reservation = True, room, b''.join(reserved)
        slots = [self._slot(0), self._slot(1)]
        words = [slot for slot in slots if slot is not None]
        word = max(words, key=attrgetter('number'), default=None)
        if reserved[0] == self._settings and (word is None or word.name != reserved[1]):
            self.reserved = reserved[1]
        if word is None:
            return 'no word' if self._reservation != _NONE and self._is_blank() else \
                'a damaged word'
        self._newest, self._number = slots.index(word), word.number
        self.writer = word.process
        if word.settings != self._settings:
            return 'a word of other settings'
        if word.position is not None and word.position >= states:
            return 'a damaged word'
        self.stored = word
        return 'a word to carry on'

    def _slot(self, number: int) -> StoredWord | None:
        """Return what a slot holds; None: nothing, or it is damaged."""
        size, offset = _SLOT.size, _FIRST_SLOT + number * self._room
        head = os.pread(self._file, size, offset)
        if len(head) < size:
            return None
        length = _SLOT.unpack(head)[-1]
        if length > os.fstat(self._file).st_size or self._room_for(length) != self._room:
            return None
        content = head + os.pread(self._file, length + _CHECKSUM.size, offset + size)
        if not _is_whole(content, size + length + _CHECKSUM.size):
            return None
        settings, name, process, clock, begun_at, number, drawn_at, position, _ = _SLOT.unpack(
            head)
        return StoredWord(
            settings, name, process, None if begun_at == _NOT_KEPT else begun_at, number,
            drawn_at if clock == self._clock else _NOT_KEPT,
            None if position == _NOTHING else position, content[size:size + length])

    def _is_blank(self) -> bool:
        """Return whether nothing was ever written to the slots."""
        return not any(os.pread(self._file, _SLOT.size, _FIRST_SLOT + i * self._room).strip(b'\0')
                       for i in (0, 1))


def _is_whole(content: bytes, size: int) -> bool:
    """Return whether a content has this size, and ends with its checksum."""
    return len(content) == size and content[-_CHECKSUM.size:] == _CHECKSUM.pack(
        crc32(content[:-_CHECKSUM.size]))
