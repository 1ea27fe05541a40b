# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""rosbag2 storage files of the kind sqlite3 (.db3): schemas 1 to 4 read, 4 written."""
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
import os
from pathlib import Path
import sqlite3
from urllib.parse import quote

from symdp_ros.errors import LogError
from symdp_ros.files.regular_file import kind_of, RegularFile
from symdp_ros.logs.recordings.recorded import RecordedMessage, Topic

_MAGIC = b'SQLite format 3\0'
_PAGE_SIZE = 4096
_SCHEMA = """
    CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
    CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL,
        metadata TEXT NOT NULL);
    CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
        serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL,
        type_description_hash TEXT NOT NULL);
    CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL,
        encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL,
        type_description_hash TEXT NOT NULL);
    CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
        timestamp INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE INDEX timestamp_idx ON messages (timestamp ASC);
"""


def is_open(path: Path) -> bool:
    """Return whether the file has a writer's journal, so that it alone is not complete."""
    return any(journal.exists() and journal.stat().st_size > 0
               for journal in (Path(f'{path}-wal'), Path(f'{path}-journal')))


def scan(path: Path, topics: Collection[str]) -> Iterator[Topic | RecordedMessage]:
    """Yield every topic of the file, and then the messages of some, in the order on disk."""
    check(path)
    with _opened(path) as db:
        definitions: dict[object, tuple[str, str]] = {}
        if 'message_definitions' in _tables(db):
            definitions = {name: (form, text) for name, form, text in db.execute(
                'SELECT topic_type, encoding, encoded_message_definition '
                'FROM message_definitions')}
        columns = {column for _, column, *_ in db.execute('PRAGMA table_info(topics)')}
        more = [name if name in columns else "''"
                for name in ('offered_qos_profiles', 'type_description_hash')]
        names: dict[int, str] = {}
        for number, name, *known in db.execute(  # columns of two names
                f'SELECT id, name, type, serialization_format, {", ".join(more)} FROM topics'):
            if name in topics:
                names[number] = name
            yield Topic(*(text if isinstance(text, str) else '' for text in (
                name, *known, *definitions.get(known[0], ('', '')))))
        # Without the index, which may be damaged by itself.
        for number, stamp, data in db.execute(
                'SELECT topic_id, timestamp, data FROM messages NOT INDEXED WHERE topic_id IN '
                f'({", ".join("?" * len(names))})', list(names)):
            yield RecordedMessage(names[number], stamp, data)


def check(path: Path) -> None:
    """
    Check that another program can read a file within bounds.

    Views, virtual tables and computed columns could hold more than the file does.

    :raises LogError: it is open in a writer, cut off, damaged or no rosbag2 file; it has other
        tables than plain ones.
    """
    if is_open(path):
        raise LogError(f"{path.name} has a writer's journal: it is still being written, or its "
                       'writer was killed; stop the recorder, or repair the file with '
                       "sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'")
    _check_size(path)
    with _opened(path) as db:
        tables = _tables(db)
        if not {'topics', 'messages'} <= set(tables):
            raise LogError(f'{path.name} is an SQLite file, but no rosbag2 recording')
        if not all(_is_plain(db, *table) for table in tables.items()):
            raise LogError(f'{path.name} has tables that no recorder makes: it is no recording')
        if db.execute('PRAGMA quick_check(1)').fetchone() != ('ok',):
            raise LogError(f'{path.name} is damaged: copy it from the robot again')


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    # immutable: makes no lock or journal, so the directory may be read-only
    with closing(sqlite3.connect(f'file:{quote(os.fsencode(path))}?mode=ro&immutable=1',
                                 uri=True)) as db:
        db.execute('PRAGMA trusted_schema = OFF')
        db.execute('PRAGMA ignore_check_constraints = ON')  # a check could ask for anything
        yield db


def _tables(db: sqlite3.Connection) -> dict[str, str]:
    """Return name → definition of the tables."""
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' "
                           "AND name IN ('topics', 'messages', 'message_definitions')"))


def _is_plain(db: sqlite3.Connection, name: str, definition: object) -> bool:
    columns = db.execute(f'PRAGMA table_xinfo({name})').fetchall()  # one of three names
    return (isinstance(definition, str) and definition.upper().startswith('CREATE TABLE ')
            and not any(hidden for *_, hidden in columns))


def write(path: Path, topics: Sequence[Topic], messages: Iterable[RecordedMessage],
          record: str = '') -> None:
    """Write a new file, without the record."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f'PRAGMA page_size = {_PAGE_SIZE}')
        db.execute('PRAGMA journal_mode = MEMORY')
        db.executescript(f'BEGIN; {_SCHEMA}')
        db.execute("INSERT INTO schema VALUES (4, '')")
        numbers = {topic.name: number for number, topic in enumerate(topics, 1)}
        db.executemany('INSERT INTO topics VALUES (?, ?, ?, ?, ?, ?)', (
            (numbers[topic.name], topic.name, topic.type, topic.encoding, topic.qos,
             topic.type_hash) for topic in topics))
        defined = {topic.type: (topic.type, topic.form, topic.definition, topic.type_hash)
                   for topic in topics}
        db.executemany('INSERT INTO message_definitions VALUES (?, ?, ?, ?, ?)', (
            (number, *definition) for number, definition in enumerate(defined.values(), 1)))
        db.executemany('INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)', (
            (numbers[topic], stamp, data) for topic, stamp, data in messages))
        db.execute('COMMIT')


def _check_size(path: Path) -> None:
    # SQLite fills the missing end of a last page with zeros, without an error
    with RegularFile(path) as file:
        header, size = file.read(100), file.size
    if len(header) < 100 or not header.startswith(_MAGIC):
        kind = '' if header.startswith(_MAGIC) else kind_of(header)
        raise LogError(f'{path.name} {kind or "is empty, cut off or no SQLite file"}')
    page_size = int.from_bytes(header[16:18], 'big')
    page_size = 65536 if page_size == 1 else page_size
    pages = int.from_bytes(header[28:32], 'big')
    if size % page_size or size < pages * page_size:
        raise LogError(f'{path.name} is cut off: copy it from the robot again')
