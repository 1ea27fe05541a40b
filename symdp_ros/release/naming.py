# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How the files of releases are called, and what else they are called where that is taken."""
from dataclasses import dataclass
import os
from pathlib import Path
import secrets

from symdp_ros.logs import release_name
from symdp_ros.release.ledger import Ledger

_SUFFIXES = ('.csv', '.jsonl', '.db3', '.mcap')
_MARKER = '.private'  # of the names that `release_name` makes
_SHORT = 100          # bytes of a name that every file system takes


@dataclass(frozen=True)
class Naming:
    """
    The names of releases of logs in a directory: by number, or after their logs.

    :param ledger: which knows what else is, or is to be, in the directory; or None.
    """

    directory: Path
    ledger: Ledger | None
    format: str
    keep_names: bool

    def free_path(self, log_id: str, number: int | None, part: int, parts: int) -> Path:
        """
        Return a path for a part of a release that is neither taken nor promised.

        :param number: of its charge, if it has one.
        """
        if self.keep_names:
            stem = self._stem(log_id)
        else:  # counted in this directory: the ledger's own numbers tell of other subjects
            made = {file.number for file in self.ledger.files()
                    if file.path.parent == self.directory} if self.ledger is not None else set()
            stem = f'{len(made - {number}) + 1:06d}'
        path = self.directory / self._name(stem, part, parts)
        while os.path.lexists(path) or self.ledger is not None and self.ledger.has_path(path):
            path = variant(path) if self.keep_names else _next_number(path)
        return path

    def wanted(self, log_id: str, parts: int) -> list[str]:
        """Return the names that the parts of a release get where nothing is in their way."""
        stem = self._stem(log_id) if self.keep_names else f'{1:06d}'
        return [self._name(stem, part, parts) for part in range(parts)]

    def _stem(self, log_id):
        return next((log_id.removesuffix(suffix) for suffix in _SUFFIXES
                     if log_id.endswith(suffix)), log_id)

    def _name(self, stem, part, parts):
        return release_name(f'{stem}-part{part + 1}' if parts > 1 else stem, self.format)


def variant(path: Path) -> Path:
    """Return the path with another random part in its name."""
    name, marker, rest = _split(path)
    return path.with_name(f'{name.partition("~")[0]}~{secrets.token_hex(3)}{marker}{rest}')


def shorter(path: Path) -> Path:
    """Return the path with a short name, which no other release has."""
    name, marker, rest = _split(path)
    name = os.fsdecode(os.fsencode(name)[:_SHORT]).encode(errors='ignore').decode()
    return path.with_name(f'{name.partition("~")[0]}~{secrets.token_hex(8)}{marker}{rest}')


def _split(path):
    name, marker, rest = path.name.partition(_MARKER)
    return (name, marker, rest) if marker else (path.stem, '', path.suffix)


def _next_number(path):
    name, marker, rest = _split(path)
    number, dash, part = name.partition('-')
    return path.with_name(f'{int(number) + 1:06d}{dash}{part}{marker}{rest}')
