# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is kept from one process to the next, as it takes long to compute; all of it is public."""
from hashlib import sha256
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
import zlib


class Cache:
    """
    Bytes by name in $XDG_CACHE_HOME/symdp_ros (~/.cache/symdp_ros).

    A damaged file is ignored, and so is a directory that cannot be written.
    """

    def read(self, name: str, size: int) -> bytes | None:
        """Return what is kept under a name, or None: at most `size` bytes, and one more."""
        try:
            content = self._file(name).read_bytes()
            digest, packed = content[:32], content[32:]
            if sha256(packed).digest() != digest:
                return None
            return zlib.decompressobj().decompress(packed, size + 1)
        except (OSError, zlib.error):
            return None

    def write(self, name: str, data: bytes) -> None:
        """Keep bytes under a name, whole or not at all."""
        packed = zlib.compress(data, 1)
        try:
            file = self._file(name)
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=file.parent, prefix='.cached-', delete=False) as new:
                try:
                    new.write(sha256(packed).digest() + packed)
                    new.close()
                    os.replace(new.name, file)
                except BaseException:
                    os.unlink(new.name)
                    raise
        except OSError:
            pass

    def _file(self, name: str) -> Path:
        """
        Return the file of a name.

        :raises FileNotFoundError: there is no directory for it.
        """
        directory = os.environ.get('XDG_CACHE_HOME', '')
        if not os.path.isabs(directory):  # as the specification of XDG directories has it
            directory = os.path.expanduser('~/.cache')
            if not os.path.isabs(directory):
                raise FileNotFoundError('neither XDG_CACHE_HOME nor HOME names a directory')
        return Path(directory, 'symdp_ros', name)
