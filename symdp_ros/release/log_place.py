# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the files of releases, also where a name is taken."""
from dataclasses import dataclass, field
import os
from pathlib import Path
import secrets

from symdp_ros.ledger.storage.files import ReleasedFiles
from symdp_ros.logs import release_name
from symdp_ros.logs.files import SUFFIXES

_MARKER = '.private'  # of the names that `release_name` makes
_SHORT = 100          # bytes of a name that every file system allows


@dataclass
class Naming:
    """
    The names of releases of logs in a directory: by number, or after their logs.

    :param promised: the files of a ledger, which knows what is taken or promised; or None.
    """

    directory: Path
    promised: ReleasedFiles | None
    log_format: str
    keep_names: bool
    _last: tuple[int, int] = field(default=(0, 0), init=False, repr=False)

    def free_paths(self, log_id: str, number: int, parts: int) -> list[Path]:
        """
        Return a path for each part of a release, neither taken nor promised.

        :param number: of its charge; without a ledger, counted from 1.
        """
        return [self._free_path(log_id, number, part, parts) for part in range(parts)]

    def _free_path(self, log_id: str, number: int, part: int, parts: int) -> Path:
        if self.keep_names:
            stem = self._stem(log_id)
        else:  # counted in this directory: the ledger's own numbers depend on other subjects
            stem = f'{self._number(number):06d}'
        path = self.directory / self._name(stem, part, parts)
        while os.path.lexists(path) or self.promised is not None and self.promised.has_path(path):
            path = variant(path) if self.keep_names else _next_number(path)
        if not self.keep_names:
            self._last = number, _number_in(path)
        return path

    def _number(self, number: int) -> int:
        """Return the number in the name of a release, if it is not taken."""
        last, given = self._last
        if last and number - last in (0, 1):  # no need to count, which takes long
            return given + number - last
        if self.promised is None:
            return 1
        return self.promised.charges_in(self.directory, number) + 1

    def wanted(self, log_id: str, parts: int) -> list[str]:
        """Return the names of the parts of a release, if none is taken."""
        stem = self._stem(log_id) if self.keep_names else f'{1:06d}'
        return [self._name(stem, part, parts) for part in range(parts)]

    def _stem(self, log_id: str) -> str:
        return next((log_id.removesuffix(suffix) for suffix in SUFFIXES
                     if log_id.endswith(suffix)), log_id)

    def _name(self, stem: str, part: int, parts: int) -> str:
        return release_name(f'{stem}-part{part + 1}' if parts > 1 else stem,
                            self.log_format)


def variant(path: Path) -> Path:
    """Return the path with another random part in its name."""
    name, marker, rest = _split(path)
    return path.with_name(f'{name.partition("~")[0]}~{secrets.token_hex(3)}{marker}{rest}')


def shorter(path: Path) -> Path:
    """Return the path with a short name that no other release has."""
    name, marker, rest = _split(path)
    name = os.fsdecode(os.fsencode(name)[:_SHORT]).encode(errors='ignore').decode()
    return path.with_name(f'{name.partition("~")[0]}~{secrets.token_hex(8)}{marker}{rest}')


def _split(path: Path) -> tuple[str, str, str]:
    name, marker, rest = path.name.partition(_MARKER)
    return (name, marker, rest) if marker else (path.stem, '', path.suffix)


def _next_number(path: Path) -> Path:
    name, marker, rest = _split(path)
    _, dash, part = name.partition('-')
    return path.with_name(f'{_number_in(path) + 1:06d}{dash}{part}{marker}{rest}')


def _number_in(path: Path) -> int:
    return int(_split(path)[0].partition('-')[0])
