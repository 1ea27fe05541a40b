# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Unpacking compressed recordings, within bounds: a small file can unpack to a huge one."""
from collections.abc import Callable, Iterable, Iterator

from symdp_ros.errors import LogError
from symdp_ros.files.bounds import MOST_TIMES, MOST_UNPACKED, MOST_UNPACKED_IN_ALL

_PIECE = 1 << 20
_ZSTD_INPUT = 1 << 10  # a block of 4 bytes makes 128 KiB, so this makes at most 32 MiB
_CONVERT = 'convert it with `ros2 bag convert`'


class Allowance:
    """
    How much a recording may still unpack to.

    :param size: of its files, in bytes.
    """

    def __init__(self, size: int):
        self._left = max(MOST_UNPACKED_IN_ALL, MOST_TIMES * size)

    def take(self, size: int, unpacked: int) -> None:
        """
        Count some more bytes.

        :param unpacked: the bytes of their chunk or message so far; 0: it is not compressed.
        :raises LogError: it is too much.
        """
        self._left -= size
        if unpacked > MOST_UNPACKED or self._left < 0:
            raise LogError(
                f'a chunk or message of it unpacks to more than {MOST_UNPACKED >> 20} MiB, or '
                f'all of it to more than {MOST_UNPACKED_IN_ALL >> 20} MiB and {MOST_TIMES} '
                f'times its size: if you trust its source, {_CONVERT}')

    def unpack(self, kind: str, data: bytes, size: int | None = None) -> bytes | None:
        """
        Return the unpacked data; None where it is damaged, or has another size.

        :param kind: `zstd` or `lz4` (its frame format); '': not compressed.
        :param size: of the unpacked data, as the file announces it; None: not known.
        :raises LogError: it is too much; an unknown kind, or one that is not installed.
        """
        if kind not in _UNPACKED:
            raise LogError(f'it is compressed neither with zstd nor with lz4: {_CONVERT}')
        pieces, made = [], 0
        try:
            for piece in _UNPACKED[kind](data):
                pieces.append(piece)
                made += len(piece)
                self.take(len(piece), made if kind else 0)
                if size is not None and made > size:
                    return None
            return b''.join(pieces) if size in (None, made) else None
        except LogError:
            raise
        except ImportError:
            pass
        except Exception:  # damaged data: each library has its own errors
            return None
        raise LogError(f'it is compressed with {kind}, and the Python package for that is not '
                       f"installed: pip install 'symdp_ros[bags]'; or {_CONVERT}")


def _zstd(data: bytes) -> Iterator[bytes]:
    import zstandard

    unpacker = zstandard.ZstdDecompressor().decompressobj()
    for start in range(0, len(data), _ZSTD_INPUT):
        if piece := unpacker.decompress(data[start:start + _ZSTD_INPUT]):
            yield piece
        if unpacker.eof:
            return
    raise ValueError('cut off')


def _lz4(data: bytes) -> Iterator[bytes]:
    import lz4.frame

    unpacker = lz4.frame.LZ4FrameDecompressor()
    piece = unpacker.decompress(data, max_length=_PIECE)
    while piece:
        yield piece
        piece = b'' if unpacker.eof else unpacker.decompress(b'', max_length=_PIECE)
    if not unpacker.eof:
        raise ValueError('cut off')


_UNPACKED: dict[str, Callable[[bytes], Iterable[bytes]]] = {
    '': lambda data: [data], 'zstd': _zstd, 'lz4': _lz4}
