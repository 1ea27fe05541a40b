# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What tests of archives, and those of logs, share."""
import hashlib
import shutil

from forked_children import forked_children  # noqa: F401
import pytest
from release_settings import release_settings
from symdp_ros import Chain, Privacy
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import LogFile, read_log
from symdp_ros.release.outbox import digest_of
from symdp_ros.release.session import Releaser


class Place:
    """A directory of releases, and the ledger that they are charged in."""

    chain = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')

    def __init__(self, base):
        self.base, self.releases, self.ledger = base, base / 'out', base / 'robots.ledger'
        self.releases.mkdir(exist_ok=True)

    def visible(self):
        return sorted(path.name for path in self.releases.iterdir()
                      if not path.name.startswith('.'))

    def spent(self):
        with Ledger(self.ledger) as ledger:
            assert ledger.problems() == []
            return ledger.spent('r1')

    def check(self):
        """Return charges, files after checking that these are visible, whole, and all there is."""
        with Ledger(self.ledger) as ledger:
            charges, files = ledger.charges(), ledger.files.all()
            assert ledger.problems() == []
        assert sorted(file.path.name for file in files) == self.visible()
        assert all(file.visible and digest_of(file.path) == file.digest for file in files)
        assert not list(self.releases.glob('.staging*'))
        return charges, files

    def killed(self, run, *arguments):
        """
        Begin anew and run a child (`forked`) that may be killed; return whether it was.

        Nothing is visible before its spend, at any moment.
        """
        shutil.rmtree(self.releases)
        self.releases.mkdir()
        for file in self.base.glob('robots.ledger*'):
            file.unlink()
        status, _ = run(self.base, *arguments)
        charged = set()
        if self.ledger.exists():
            with Ledger(self.ledger) as ledger:
                assert ledger.problems() == []
                charged = {file.path.name for file in ledger.files.all()}
        assert set(self.visible()) <= charged
        return status == -9


class ArchivePlace(Place):
    """An archive, and where its release goes. pyarrow is imported where it is used."""

    def __init__(self, base):
        super().__init__(base)
        self.path, self.output = base / 'walks.parquet', self.releases / 'private.parquet'
        self.sizes = {}  # of what is read, drawn and written at a time

    def archive(self, routes, *, symbols=None, start=0, group=1000, path=None, metadata=None,
                **more):
        """Write routes, a list of (id, word), with other columns, if any; return the log."""
        import pyarrow
        import pyarrow.parquet

        if symbols is None:
            symbols = pyarrow.array([s for _, word in routes for s in word], pyarrow.string())
        ids = [name for name, word in routes for _ in word]
        table = pyarrow.table({
            'position': [start + i for _, word in routes for i in range(len(word))],
            'symbol': symbols, 'route': ids, **more}).replace_schema_metadata(metadata)
        path = self.path if path is None else path
        pyarrow.parquet.write_table(table, path, row_group_size=group)
        return LogFile(path.name, path)

    def settings(self, **more):
        from symdp_ros.release.settings import ArchiveSettings

        archive = ArchiveSettings(**{name: more.pop(name) for name in ('columns', 'charge')
                                     if name in more})
        return release_settings(**{'chain': self.chain, 'privacy': Privacy(1.0),
                                   'mechanism': 'causal', 'archive': archive, **more})

    def release(self, settings=None, *, output=None, ledger=True, path=None, subject='r1',
                **more):
        """Release the archive; return the outcome."""
        from symdp_ros.release.archives.archive import release_archive
        from symdp_ros.release.archives.parquet_file import Sizes

        path = self.path if path is None else path
        keeping = {'ledger': Ledger(self.ledger), 'subject': subject} if ledger else {}
        try:
            [outcome] = release_archive(
                settings or self.settings(), LogFile(path.name, path), output or self.output,
                **keeping, sizes=Sizes(**self.sizes), **more).outcomes
            return outcome
        finally:
            if ledger:
                keeping['ledger'].close()

    def read(self, output=None):
        """Return the release as a list of (id, word), in its order."""
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(output or self.output)
        assert table.column_names == ['route', 'position', 'symbol']
        routes, last = [], None
        for name, position, symbol in zip(*(column.to_pylist() for column in table.columns)):
            if last is None or (name, position) != (last[0], last[1] + 1):
                routes.append((name, []))
            routes[-1][1].append(symbol)
            last = name, position
        return routes

    def check(self, charges=1):
        """Check that what is visible is charged so often and complete; nothing else is left."""
        assert len(super().check()[0]) == charges

    def words(self, count, longest=9, seed='walks'):
        """Return routes of some lengths with symbols that follow from the seed, known or not."""
        routes = []
        for i in range(count):
            bits = hashlib.sha256(f'{seed} {i}'.encode()).digest()
            length = 1 + hashlib.sha256(f'{i}'.encode()).digest()[0] % longest
            routes.append((i, ['abcx'[bits[j % 32] % 4] for j in range(length)]))
        return routes


@pytest.fixture
def walks(tmp_path):
    """Return a place for an archive, its release and a ledger."""
    pytest.importorskip('pyarrow', reason='archives need pyarrow')
    return ArchivePlace(tmp_path)


class LogPlace(Place):
    """Logs, and where their releases go, as a fleet has them."""

    word = 'abbccaabbcca'

    def __init__(self, base):
        super().__init__(base)
        self.logs = base / 'logs'
        self.logs.mkdir(exist_ok=True)

    def log(self, name='day.csv', word=word):
        path = self.logs / name
        path.write_text('stamp,symbol\n' + ''.join(f'{i},{s}\n' for i, s in enumerate(word)))
        return LogFile(name, path)

    def release(self, settings=None, subject='r1', **more):
        settings = settings or release_settings(self.chain, Privacy(1.0))
        with Ledger(self.ledger) as ledger, Releaser(
                settings, self.releases, ledger=ledger, subject=subject, **more) as releaser:
            return releaser.release_directory(self.logs)

    def check(self):
        """Everything visible is charged, whole and feasible; everything charged is visible."""
        charges, files = super().check()
        words = {charge.number: charge.words for charge in charges}
        for file in files:
            read = tuple(symbol for _, symbol in read_log(file.path, topic='private_region'))
            assert read in words[file.number] and self.chain.is_feasible(read)


@pytest.fixture
def place(tmp_path):
    """Return a place for logs, their releases and a ledger."""
    return LogPlace(tmp_path)
