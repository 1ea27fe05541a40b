# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A release at a path that the operator names, as those of archives and learned chains are."""
import os
from pathlib import Path
import shutil

from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.files.durable import flush
from symdp_ros.ledger.accounts import Entry
from symdp_ros.ledger.database import LedgerFile
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.release.outbox import holds, Outbox


class Output:
    """
    The path of one release in the directory of an outbox, as a `transaction.Place`.

    The ledger does not store such a release: it is handed out again where a copy is found.
    """

    def __init__(self, name: str, outbox: Outbox, ledger: Ledger | None):
        self.path = outbox.directory / name
        self._outbox, self._ledger = outbox, ledger

    def check_free(self, own: Path | None = None) -> None:
        """
        Check that the path is not taken, nor promised to another release than that at `own`.

        :raises ConfigurationError: it is.
        """
        if os.path.lexists(self.path):
            raise ConfigurationError(f'{printable(self.path)} exists already: name another path '
                                     'for the release')
        if self._ledger is not None and self.path != own and self._ledger.files.has_path(
                self.path):
            raise ConfigurationError(f'{printable(self.path)} is in the ledger as the path of '
                                     'another release: name another one')

    def names(self, files: int) -> list[str]:
        """Return its name."""
        return [self.path.name]

    def paths(self, number: int, files: int) -> list[Path]:
        """Return the path."""
        return [self.path]

    def hand_out(self, charge: Entry) -> tuple[Path, ...]:
        """
        Return where the release is that was charged before: here, or it is copied here.

        :raises ConfigurationError: it is nowhere; or it is elsewhere, and this path is not free.
        """
        assert self._ledger is not None  # without one, no release is remembered
        [file] = self._ledger.files.of(charge.number)
        there = next((path for path in (self.path, file.path, file.staged)
                      if holds(path, file.digest)), None)
        if there is None:
            raise ConfigurationError(
                f'it was released before, as {printable(file.path)}, which is missing or was '
                'changed, and the ledger does not store it: use a copy of that release')
        if there == self.path:
            return there,
        self.check_free(file.path)
        with self._outbox.staged(there.suffix) as path:
            _copy(there, path)
            return self._outbox.publish(LedgerFile(0, self.path, path, file.digest, True)),


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a directory of files, and make the copy durable."""
    if source.is_dir():
        os.mkdir(target)
        for file in sorted(source.iterdir()):
            _copy(file, target / file.name)
    else:
        shutil.copyfile(source, target)
        os.utime(target, ns=(0, 0))
    flush(target)
