# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where archives lie: on the disk, or in a store that pyarrow reads, as s3://BUCKET/PATH."""
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
import json
import os
from pathlib import Path
import re
import shutil
from typing import Any, BinaryIO, cast, TypeAlias
from urllib.parse import quote, unquote

from symdp_ros.errors import ConfigurationError, LogError, raising
from symdp_ros.files.durable import files_in
from symdp_ros.files.regular_file import file_stamp

#: Of an uploaded directory; its name is not that of data.
MANIFEST = '_release.json'
_DRAFT = '_release.json.draft'
_NO_DIRECTORIES = 's3', 'gcs', 'abfs'
_PIECE = 1 << 20  # bytes
# After a colon comes a port: a name of a store holds none, so this would be a part of a key.
_URI = re.compile(r'(?P<scheme>[A-Za-z][\w+.-]+)://(?:[^/?@]*@)?'
                  r'(?P<path>[^/?:@]*(?::[0-9]+)?(?:/[^?]*)?)(\?.*)?')


@dataclass(frozen=True, repr=False)
class Remote:
    """
    A file or directory in a store.

    :param uri: for `pyarrow.fs.FileSystem.from_uri`. What it says besides the place, such as
        `?endpoint_override=HOST:PORT` or a key, is not shown.
    :raises ConfigurationError: it is no URI of a store that pyarrow knows.
    """

    uri: str

    def __post_init__(self) -> None:
        self._match()

    def __repr__(self) -> str:
        return f'<Remote {str(self)!r}>'

    def __str__(self) -> str:
        return '{scheme}://{path}'.format(**self._match().groupdict())

    def __truediv__(self, name: str) -> 'Remote':
        end = self._match().end('path')
        return Remote(f'{self.uri[:end].rstrip("/")}/{quote(name, safe="/=")}{self.uri[end:]}')

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return unquote(self._match()['path'].rstrip('/').rpartition('/')[2])

    def absolute(self) -> 'Remote':
        """Return itself."""
        return self

    def kind(self) -> str:
        """Return 'File', 'Directory' or 'NotFound'."""
        return str(self._info().type.name)

    def stamp(self) -> tuple[int, int, int]:
        """Return what changes when the file does: size and time of modification."""
        info = self._info()
        return info.size, info.mtime_ns or 0, 0

    def open(self) -> Any:  # noqa: A003 (as of paths)
        """Return the file, open for reading."""
        with self._opened() as (store, path):
            return store.open_input_file(path)

    def write(self, source: BinaryIO) -> None:
        """Write a new file with what another one holds; it is there when it is complete."""
        with self._opened() as (store, path):
            folder, _, name = path.rpartition('/')
            part = path
            if store.type_name not in _NO_DIRECTORIES:  # there a file can be seen while it grows
                store.create_dir(folder, recursive=True)
                part = f'{folder}/.{name}.part'
            try:
                with store.open_output_stream(part) as target:
                    shutil.copyfileobj(source, target, _PIECE)
                if part != path:
                    store.move(part, path)
            except BaseException:  # such as Ctrl+C; a store keeps what was written until then
                with suppress(Exception):
                    store.delete_file(part)
                raise

    def remove(self) -> None:
        """Remove the file."""
        with self._opened() as (store, path):
            store.delete_file(path)

    def names(self) -> Iterator[str]:
        """Yield the names of all files below a directory."""
        from pyarrow.fs import FileSelector

        with self._opened() as (store, path):
            files = store.get_file_info(FileSelector(path, recursive=True))
        for info in files:
            if info.type.name == 'File':
                yield info.path.removeprefix(path.rstrip('/') + '/')

    def _match(self) -> re.Match[str]:
        match = _URI.fullmatch(self.uri)
        if match is None or not match['path'].strip('/'):
            # Not quoted: it may hold a key.
            raise ConfigurationError('this is no place in a store: write it like s3://BUCKET/PATH '
                                     '(in a key, / is %2F, ? is %3F, and @ is %40)')
        return match

    def _info(self) -> Any:
        with self._opened() as (store, path):
            return store.get_file_info(path)

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, str]]:
        """Give the file system, and the path in it; turn the errors of the store into ours."""
        from pyarrow.fs import FileSystem

        problem = None
        try:
            store, path = FileSystem.from_uri(self.uri)
        except (ValueError, OSError) as error:  # its text may hold a key
            problem = type(error).__name__
        if problem is not None:
            raise ConfigurationError(f'{self} cannot be opened ({problem}): pyarrow knows s3://, '
                                     'gs://, abfs:// and hdfs://, each with its own settings')
        with raising(partial(LogError, path=str(self)), 'the store refuses, or does not answer',
                     OSError):
            yield store, path


class Upload:
    """
    A copy of a release in a store, which has no rename.

    A file is there when it is complete. Of a directory, a manifest is written first under the name
    of a draft, and last under its own: the names and the SHA-256 of all files. What an upload that
    was ended has left, the next one writes again.

    :param target: where nothing else may be.
    :param release: what is to be there; it may not exist yet.
    :raises ConfigurationError: something else is there.
    :raises LogError: the store refuses, or does not answer.
    """

    def __init__(self, target: Remote, release: Path):
        self._target, self._release = target, release
        self._is_whole()

    def __str__(self) -> str:
        return str(self._target)

    def put(self) -> bool:
        """
        Write the release, unless it is there; return whether it was written.

        :raises ConfigurationError, LogError: as at the start.
        """
        is_whole, is_directory = self._is_whole(), self._release.is_dir()
        if not is_whole and not is_directory:
            self._put(self._release, self._target)
        elif not is_whole:
            manifest = self._described().encode()
            (self._target / _DRAFT).write(BytesIO(manifest))
            for file in files_in(self._release):
                self._put(file, self._target / file.relative_to(self._release).as_posix())
            (self._target / MANIFEST).write(BytesIO(manifest))
        draft = self._target / _DRAFT
        if is_directory and draft.kind() == 'File':
            draft.remove()
        return not is_whole

    def _is_whole(self) -> bool:
        """Return whether the release is there; else the place is free, or holds a part of it."""
        kind, here = self._target.kind(), self._release.exists()
        if kind == 'NotFound':
            return False
        if here and kind == 'File' and not self._release.is_dir():
            with self._target.open() as file:
                if _sha256(file) == self._described():
                    return True
        if here and kind == 'Directory' and self._release.is_dir():
            for name in (MANIFEST, _DRAFT):
                place = self._target / name
                if place.kind() == 'File':
                    with place.open() as file:
                        if bytes(file.read()) == self._described().encode():
                            return name == MANIFEST
        raise ConfigurationError(f'{self._target} holds something else, or another release: name '
                                 'another place', setting='upload')

    @staticmethod
    def _put(file: Path, target: Remote) -> None:
        with open(file, 'rb') as source:
            target.write(source)

    def _described(self) -> str:
        """Return the manifest of a directory, or the SHA-256 of a file."""
        digests = {}
        for path in files_in(self._release):
            with open(path, 'rb') as file:
                digests[path.relative_to(self._release).as_posix()] = _sha256(file)
        return json.dumps(digests, indent=1) if self._release.is_dir() else digests['.']


def _sha256(file: Any) -> str:
    hashed = sha256()
    while piece := file.read(_PIECE):
        hashed.update(piece)
    return hashed.hexdigest()


#: Where an archive lies.
ArchivePlace: TypeAlias = Path | Remote
#: What changes when a file does.
Stamp: TypeAlias = tuple[int, int, int]


def place_of(name: str) -> ArchivePlace:
    """Return the place that a user has named: a path, or the URI of a store."""
    return Remote(name) if '://' in name else Path(name)


def is_directory(place: ArchivePlace) -> bool:
    """Return whether it is a directory; raise LogError where a store has nothing there."""
    if not isinstance(place, Remote):
        return os.path.isdir(place)
    if (kind := place.kind()) == 'NotFound':
        raise LogError('there is no such file', path=str(place))
    return kind == 'Directory'


def stamp_of(place: ArchivePlace) -> tuple[int, int, int]:
    """Return what changes when the file does; raise OSError or LogError where there is none."""
    return place.stamp() if isinstance(place, Remote) else file_stamp(place)


def opened(place: ArchivePlace) -> BinaryIO:
    """Return a file that is open for reading."""
    return cast(BinaryIO, place.open()) if isinstance(place, Remote) else open(place, 'rb')
