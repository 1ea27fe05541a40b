# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of files of a ledger: where each released file is, or is to be."""
from dataclasses import replace
import os
from pathlib import Path
from typing import Any

from symdp_ros.errors import LedgerError
from symdp_ros.ledger.storage.database import COPY, FILE_COLUMNS, LedgerDatabase, LedgerFile


class ReleasedFiles:
    """The files of all releases in a ledger."""

    def __init__(self, database: LedgerDatabase):
        self._database = database

    def all(self) -> list[LedgerFile]:  # noqa: A003 (a method)
        """Return the files of all charges, in their order."""
        return self._selected('TRUE')

    def of(self, number: int) -> list[LedgerFile]:
        """Return the files of a charge, without copies."""
        return self._selected('number = ? AND visible != ?', number, COPY)

    def hidden(self) -> list[LedgerFile]:
        """Return the files that were not moved to their paths yet."""
        return self._selected('visible = 0')

    def _selected(self, condition: str, *values: object) -> list[LedgerFile]:
        with self._database.errors():
            rows = self._database.execute(
                f'SELECT {", ".join(FILE_COLUMNS)} FROM files WHERE {condition} '
                'ORDER BY number, path', values).fetchall()
        files = []
        for row in rows:
            file = LedgerFile.of_row(row)
            if file is None:
                raise LedgerError(f'the files of charge {row[0]} of the ledger are damaged',
                                  damaged=True)
            files.append(file)
        return files

    def charges_in(self, directory: Path) -> int:
        """Return how many charges have files directly in a directory."""
        prefix = os.path.join(directory, '')
        with self._database.errors():
            [count] = self._database.execute(
                'SELECT count(DISTINCT number) FROM files WHERE substr(path, 1, ?) = ? '
                "AND instr(substr(path, ?), '/') = 0",
                (len(prefix), prefix, len(prefix) + 1)).fetchone()
        return int(count)

    def has_path(self, path: Path) -> bool:
        """Return whether a release has, or will have, this path."""
        with self._database.errors():
            return self._database.execute('SELECT 1 FROM files WHERE path = ?',
                                          (str(path),)).fetchone() is not None

    def add(self, file: LedgerFile) -> None:
        """Note a file of a new charge; no other release has its path."""
        self._database.insert_file(file)

    def add_copy(self, number: int, path: Path, digest: str) -> None:
        """Note that a release was handed out again, where its content is a new one."""
        with self._database.errors(), self._database.transaction():
            if not self._selected('number = ? AND digest = ? OR path = ?', number, digest,
                                  str(path)):
                self._database.insert_file(LedgerFile(number, path, path, digest, True, True))

    def move(self, path: Path, new_path: Path) -> None:
        """Note another path for a file that is not visible yet."""
        with self._database.errors(), self._database.transaction():
            self._change(path, path=new_path)

    def restage(self, path: Path, new_path: Path, staged: Path, digest: str) -> None:
        """Note that a file that was lost before it was moved to `path` was staged again."""
        with self._database.errors(), self._database.transaction():
            self._change(path, path=new_path, staged=staged, digest=digest, visible=False)

    def set_visible(self, *paths: Path) -> None:
        """Note that files have been moved to their paths."""
        with self._database.errors(), self._database.transaction():
            for path in paths:
                self._change(path, visible=True)

    def _change(self, file_path: Path, **changes: Any) -> None:
        row = self._database.execute(f'SELECT {", ".join(FILE_COLUMNS)}, seal FROM files '
                                     'WHERE path = ? AND visible != ?',
                                     (str(file_path), COPY)).fetchone()
        if row is None:
            return
        *row, seal = row
        self._database.execute('DELETE FROM files WHERE path = ?', (str(file_path),))
        # A row that was damaged stays so.
        self._database.insert_file(replace(LedgerFile(*row), **changes),
                                   None if self._database.seal(row) == seal else seal)
