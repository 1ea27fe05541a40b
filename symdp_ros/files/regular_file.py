# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Regular files, read up to the size that they had when they were opened."""
from collections.abc import Iterator
import os
from pathlib import Path
import stat

from symdp_ros.errors import LogError
from symdp_ros.files.closable import Closable

NO_REGULAR_FILE = ('it is no regular file: a pipe, device or socket cannot be read as a log, as '
                   'it may never end')
_PIECE = 1 << 20
_DECOMPRESS = 'is compressed as a whole with {}: decompress it with `{}` and read the result'
#: How files begin that are often taken for others, and what each is.
_KINDS = {
    b'version https://git-lfs': 'is a pointer of Git LFS, not the file itself: fetch that with '
                                '`git lfs pull`',
    b'\x28\xb5\x2f\xfd': _DECOMPRESS.format('zstd', 'zstd -d FILE -o NEW_FILE'),
    b'\x1f\x8b': _DECOMPRESS.format('gzip', 'gzip -dc FILE > NEW_FILE'),
    b'\x04\x22\x4d\x18': _DECOMPRESS.format('lz4', 'lz4 -d FILE NEW_FILE'),
    b'BZh': _DECOMPRESS.format('bzip2', 'bzip2 -dc FILE > NEW_FILE'),
    b'\xfd7zXZ\0': _DECOMPRESS.format('xz', 'xz -dc FILE > NEW_FILE'),
    b'#ROSBAG V': 'is a recording of ROS 1: convert it with `rosbags-convert`',
    b'\x89MCAP0\r\n': 'is an MCAP file: let its name end with .mcap',
    b'SQLite format 3\0': 'is an SQLite file: let its name end with .db3'}
#: So many bytes of a file show its kind.
MOST_OF_KIND = max(map(len, _KINDS))


def is_other_file(path: Path) -> bool:
    """Return whether a path exists, and is neither a regular file nor a directory."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def kind_of(begin: bytes) -> str:
    """Return what a file is by how it begins, and what to do; '': none of the kinds known here."""
    return next((kind for magic, kind in _KINDS.items() if begin.startswith(magic)), '')


def file_stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file does: its size, time of modification and inode."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ino


class RegularFile(Closable):
    """
    A regular file that is open for reading; it ends at the size that it had when it was opened.

    Links are followed. Other files are not opened: opening a FIFO waits for a writer, and a device
    may never end.

    :raises LogError: it is no regular file.
    :raises OSError: it cannot be opened.
    """

    def __init__(self, path: Path):
        self.name = path.name
        self._check(os.stat(path))
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            self._check(status)
        except BaseException:
            os.close(descriptor)
            raise
        self.size = self.left = status.st_size
        self._file = open(descriptor, 'rb')

    def __repr__(self) -> str:
        return f'<RegularFile {self.name!r}>'

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, size: int | None = None) -> bytes:
        """Return the next bytes, at most `size` of them: fewer only at the end."""
        data = self._file.read(self.left if size is None else min(size, self.left))
        self.left -= len(data)
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield the next bytes, at most `size` of them, in pieces of up to 1 MiB."""
        while size > 0 and (data := self.read(min(size, _PIECE))):
            size -= len(data)
            yield data

    def skip(self, size: int) -> None:
        """Pass over the next bytes; there must be so many."""
        self._file.seek(size, os.SEEK_CUR)
        self.left -= size

    def read_last(self, size: int) -> bytes:
        """Return the last bytes; the position stays."""
        place = self._file.tell()
        self._file.seek(max(0, self.size - size))
        data = self._file.read(min(size, self.size))
        self._file.seek(place)
        return data

    @staticmethod
    def _check(status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise LogError(NO_REGULAR_FILE)
