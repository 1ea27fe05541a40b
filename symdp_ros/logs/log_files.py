# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs as files: finding, reading and writing them, whatever their format."""
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
import os
from pathlib import Path
import shutil
import sqlite3
from typing import cast, Protocol

from symdp_ros.errors import ConfigurationError, LogError, printable, raising
from symdp_ros.files import child
from symdp_ros.files.durable import flush, make_durable
from symdp_ros.files.regular_file import (is_other_file, kind_of, MOST_OF_KIND, NO_REGULAR_FILE,
                                          RegularFile)
from symdp_ros.logs import csv_log, jsonl
from symdp_ros.logs.kept_topics import KeptTopics, TopicOutcome
from symdp_ros.logs.recordings import mcap_file, rosbag, sqlite3_file
from symdp_ros.logs.recordings.recorded import METADATA
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.logs.recordings.wanted import Value, Wanted
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.messages.poses import RegionLocator
from symdp_ros.settings import check_choice
from symdp_ros.words import stamps

_BAG_FILES = tuple(STORAGES.values())
_RELEASED = '.private'  # marks what this package wrote, so that it is never read as a log
_TEMPORARY = ('.tmp', '.part', '.partial', '.swp', '.bak', '~')
#: Why a log or a directory of logs is skipped.
UNPRINTABLE = 'its name holds characters that cannot be printed: rename it'


class TextFormat(Protocol):
    """A format of text; a module has these functions."""

    def read(self, path: Path, stamp_key: str, symbol_key: str,
             unit: str = '') -> Sequence[tuple[int, str | None]]:
        """Return (stamp, symbol) of everything in the file; None: no symbol."""

    def text(self, word: Sequence[str], period: int, stamp_key: str,
             symbol_key: str) -> Iterable[str]:
        """Return the lines of a word whose symbols are `period` nanoseconds apart."""


#: How a text log ends → its module.
_TEXT: dict[str, TextFormat] = {'.csv': csv_log, '.jsonl': jsonl}
FORMATS = (*STORAGES, *(suffix[1:] for suffix in _TEXT))
#: How the names of logs that are files end.
SUFFIXES = (*_TEXT, *_BAG_FILES)


class LogState(Enum):
    """
    What is known of a log before it is read.

    READY: it can be read. RECORDING: it is still being written: wait. ARCHIVE: it is no log, but
    an archive of routes. UNUSABLE: waiting does not help: an operator has to act.
    """

    READY = 'ready'
    RECORDING = 'still being recorded'
    ARCHIVE = 'skipped as an archive'
    UNUSABLE = 'unusable'


@dataclass(frozen=True)
class LogFile:
    """A log: `id` is its file name, suffix included, and public by declaration."""

    id: str  # noqa: A003 (a public name)
    path: Path


@dataclass(frozen=True)
class SkippedLog:
    """
    A log that was not listed for reading, and why.

    :param name: its file name, as `printable` shows it.
    :param state: RECORDING, ARCHIVE or UNUSABLE.
    """

    name: str
    state: LogState
    reason: str


@dataclass(frozen=True)
class LogListing:
    """The logs of a directory by name, and those that were skipped."""

    logs: tuple[LogFile, ...]
    skipped: tuple[SkippedLog, ...]


def list_logs(directory: str | Path) -> LogListing:
    """
    Return the logs of a directory: recordings, bare .db3 and .mcap files, .csv and .jsonl.

    A log is skipped as unusable where it cannot be opened, or its name cannot be printed. It is
    skipped as still being recorded if it is a directory of storage files without metadata.yaml,
    which a recorder writes at its end; an SQLite file with a non-empty -wal or -journal file; a
    bare MCAP file without its end mark. (With metadata.yaml, a missing end mark means that the
    file is cut off: it is listed, and `read_log` reports it.) A text file does not show whether
    it is complete: write a .csv or .jsonl under a hidden name, and rename it when it is. An
    archive (.parquet) is skipped, because it is released alone.

    Hidden and temporary names, names of releases (`release_name`) and other files are ignored.

    :raises LogError: a directory that cannot be read, or is itself a recording.
    """
    directory = Path(directory)
    with raising(partial(LogError, path=directory), 'the directory cannot be read', OSError):
        names = sorted(os.listdir(directory))
    if METADATA in names:
        raise LogError('the directory is itself a recording: name the directory that it is in',
                       path=directory)
    logs, skipped = [], []
    for name in names:
        path = directory / name
        if name.startswith('.') or name.endswith(_TEMPORARY) or f'{_RELEASED}.' in f'{name}.':
            continue
        state: LogState | None
        try:
            state, reason = _state_of(path)
        except OSError as error:
            state, reason = LogState.UNUSABLE, f'it cannot be opened: {error.strerror}'
        except LogError as error:
            state, reason = LogState.UNUSABLE, error.reason
        if state not in (None, LogState.ARCHIVE) and not name.isprintable():
            state = LogState.UNUSABLE
            reason = UNPRINTABLE
        if state is LogState.READY:
            logs.append(LogFile(name, path))
        elif state is not None:
            skipped.append(SkippedLog(printable(name), state, reason))
    return LogListing(tuple(logs), tuple(skipped))


def read_log(path: str | Path, *, topic: str = 'region', message_type: str | None = None,
             field: str = 'data', where: Iterable[str] = (), stamp_key: str = 'stamp',
             symbol_key: str = 'symbol', naming: Collection[str] | None = None,
             locator: RegionLocator | None = None, level_field: str = '',
             map_frame: str = 'map', refuse_frames: bool = False,
             stamp_unit: str = '') -> list[tuple[int, str | None]]:
    """
    Return (stamp in nanoseconds, value) of every entry of a log, in order.

    Strings are values as they are; integers and octets become '3', booleans 'true' or 'false'.
    None means that there is no value: a JSON null, or a list shorter than the field's index.
    Messages that are not input are left out.

    :param path: a recording (a directory, .db3 or .mcap), .csv or .jsonl.
    :param topic: recordings only; a name without a leading slash gets one.
    :param message_type: recordings only; None: the type that was recorded.
    :param field: recordings only; a path (`messages.field_paths`). A message that has no element
        that it selects is not input.
    :param where: recordings only; conditions, 'path=value'. A message that does not meet all of
        them is not input.
    :param stamp_key: the CSV column, or JSON key, of the stamp.
    :param symbol_key: that of the symbol.
    :param naming: recordings only; the values that name a state. A field whose type can have none
        of them is refused.
    :param locator: values are then the regions that it finds, in order, for the positions to
        which `field` leads; of JSON Lines, for those of states of VDA 5050. Not for CSV.
    :param level_field: with a locator, the path to the name of the floor; '': there is none.
    :param map_frame: with a locator, the frame that positions must be in; elsewhere, no region is
        known.
    :param refuse_frames: refuse a log with a position in another frame, by the name of the frame:
        for callers who show this to nobody else.
    :param stamp_unit: of stamps in text that are numbers, as in `words.stamps.from_column`.
    :raises LogError: truncated, damaged, empty, without input, of another type, field or
        serialization, with another number of messages than it announces, or with a position in
        another frame and `refuse_frames`.
    :raises ConfigurationError: `message_type` is no message type.
    """
    return read_input(path, InputSettings(
        topic=topic, message_type=message_type, field=field, where=tuple(where),
        level_field=level_field, map_frame=map_frame, refuse_frames=refuse_frames,
        stamp_key=stamp_key, symbol_key=symbol_key, stamp_unit=stamp_unit), locator, naming or ())


def read_input(path: str | Path, read: InputSettings, locator: RegionLocator | None = None,
               naming: Collection[str] = ()) -> list[tuple[int, str | None]]:
    """Return what `read_log` does, by settings."""
    path, line = Path(path), None
    wanted = Wanted(read.field, read.where, tuple(naming), locator is not None, read.level_field,
                    read.map_frame, read.refuse_frames)
    try:
        entries = _read(path, read, wanted)
        return [(stamp, locator.locate(*value) if locator is not None and isinstance(value, tuple)
                 else cast(str | None, value)) for stamp, value in entries]
    except ConfigurationError:
        raise
    except UnicodeDecodeError:
        problem = 'it is not UTF-8 text: it is damaged, or must be converted'
    except Exception as error:  # damaged bytes: a library may raise anything
        problem, line = child.problem_of(error), getattr(error, 'line', None)
    # Raised here, without a context, which might quote the log.
    raise LogError(problem, path=path, line=line)


def write_log(path: str | Path, word: Sequence[str], *,
              format: str, period: float = 1.0,  # noqa: A002 (a public name)
              topic: str = 'private_region', message_type: str = 'std_msgs/msg/String',
              stamp_key: str = 'stamp', symbol_key: str = 'symbol', record: str = '',
              durable: bool = True) -> None:
    """
    Write a released word to a new path, and make it durable.

    It holds nothing of the log that it came from: stamps are 0, T, 2T, …, times of modification
    are the epoch, and the files of a recording have fixed names. The same word gives the same
    bytes (with one version of SQLite). After an error, nothing is left at `path`; after a kill,
    a part may be: write into a staging directory, and rename.

    :param path: must not exist; its directory must exist. A recording is a directory.
    :param word: not empty; its symbols are strings.
    :param format: one of `FORMATS`; sqlite3 and mcap are recordings that rosbag2 can read.
    :param period: T, in seconds, > 0.
    :param topic: recordings only; the only topic.
    :param message_type: recordings only: a standard type whose only field, `data`, is a string,
        or an integer if all symbols are.
    :param record: recordings only; what it says of itself, in the metadata.
    :param durable: False: the caller calls `make_durable`, and makes the directory durable.
    :raises LogError: the path exists, cannot be written, or its disk is full; a symbol that the
        format cannot hold.
    :raises ConfigurationError: a setting that is not valid.
    """
    word = list(word)
    check_choice('format', format, FORMATS)
    ticks = stamps.from_seconds(period, 'period')

    def write(path: Path) -> None:
        if format in STORAGES:
            os.mkdir(path)
            rosbag.write(path, word, ticks, format, topic, message_type, record)
        else:
            with open(path, 'x', encoding='utf-8', newline='') as target:
                target.writelines(_TEXT[f'.{format}'].text(word, ticks, stamp_key, symbol_key))

    _write(Path(path), word, ticks, write, durable)


def write_with_topics(path: str | Path, word: Sequence[str], recording: KeptTopics, *,
                      format: str, period: float,  # noqa: A002 (a public name)
                      field: str, values: Mapping[str, str], record: str = '',
                      durable: bool = True) -> tuple[TopicOutcome, ...]:
    """
    Write a released word and the kept topics of a recording; return what became of its topics.

    As `write_log`, where parameters and errors are alike.

    :param format: sqlite3 or mcap.
    :param field: where the region is in the recorded messages.
    :param values: state → the value that stands for it there.
    """
    outcomes: tuple[TopicOutcome, ...] = ()
    word, ticks = list(word), stamps.from_seconds(period, 'period')

    def write(path: Path) -> None:
        nonlocal outcomes
        os.mkdir(path)
        outcomes = recording.write(path, word, ticks, format, field, values, record)

    _write(Path(path), word, ticks, write, durable)
    return outcomes


def _write(path: Path, word: list[str], period: int, write: Callable[[Path], None],
           durable: bool) -> None:
    """Check a word, and call `write` with a new path."""
    _check_word(word, period, path)
    existed, problem = os.path.lexists(path), None
    try:
        write(path)
        if durable:
            make_durable(path)
            flush(path.parent)
    except BaseException as error:
        if not existed:
            remove(path)
        if isinstance(error, LogError):
            problem = error.reason
        elif isinstance(error, OSError):
            problem = f'it cannot be written: {error.strerror}'
        elif isinstance(error, sqlite3.Error):
            problem = 'it cannot be written: the disk is full, or fails'
        else:
            raise
    if problem is not None:
        raise LogError(problem, path=path)


def release_name(name: str, log_format: str) -> str:
    """Return the file name of a release, `name.private.csv`: `list_logs` ignores such names."""
    suffix = f'.{log_format}'
    return f'{name}{_RELEASED}{suffix if suffix in _TEXT else ""}'


def _state_of(path: Path) -> tuple[LogState | None, str]:
    """Return the state of a log, None where a path is no log, and the reason for it."""
    if path.is_dir():
        names = os.listdir(path)
        files = [path / name for name in names
                 if name.removesuffix('.zstd').endswith(_BAG_FILES)]
        if METADATA not in names:
            return (LogState.RECORDING if files else None,
                    f'it is still being recorded: there is no {METADATA} yet')
        if any(sqlite3_file.is_open(file) for file in files):
            return (LogState.RECORDING,
                    'it is still being recorded: its files have a journal')
        return LogState.READY, ''
    if path.suffix.lower() == '.parquet':
        return LogState.ARCHIVE, ('an archive of routes is released alone: symdp release '
                                  'ARCHIVE.parquet -o OUT.parquet')
    if path.suffix not in SUFFIXES:
        return None, ''
    if is_other_file(path):
        return LogState.UNUSABLE, NO_REGULAR_FILE
    if path.suffix == '.db3' and sqlite3_file.is_open(path):
        return LogState.RECORDING, 'it is still being recorded: it has a journal'
    if path.suffix == '.mcap' and mcap_file.is_being_written(path):
        return LogState.RECORDING, 'it is still being recorded: it has no end mark yet'
    return LogState.READY, ''


def _refuse_kind(path: Path) -> None:
    """Refuse a file that begins as one of another kind does."""
    with RegularFile(path) as file:
        kind = kind_of(file.read(MOST_OF_KIND))
    if kind:
        raise LogError(f'it {kind}')


def _read(path: Path, read: InputSettings, wanted: Wanted) -> list[tuple[int, Value]]:
    if path.is_dir():
        if not (path / METADATA).exists():
            raise LogError(f'it is no recording, or is still being recorded: there is no '
                           f'{METADATA} in it')
        return rosbag.read(path, read.topic, read.message_type, wanted)
    if path.suffix in _BAG_FILES:
        return rosbag.read(path, read.topic, read.message_type, wanted)
    if path.suffix not in _TEXT and not os.path.lexists(path):
        raise LogError('there is no such file or directory')
    if path.suffix not in _TEXT:
        _refuse_kind(path)
        raise LogError('its name does not end with .db3, .mcap, .csv or .jsonl (or, an archive of '
                       'routes, with .parquet), and it is no directory')
    poses = wanted.pose and path.suffix == '.jsonl'
    for setting, given in (('input: pose', wanted.pose and not poses), ('where', wanted.where)):
        if given:
            raise LogError(f'{setting} is for recordings: this log holds names of regions and no '
                           'messages')
    try:
        log: list[tuple[int, Value]] = list(
            jsonl.read_positions(path, read.stamp_key, read.level_field, read.stamp_unit) if poses
            else _TEXT[path.suffix].read(path, read.stamp_key, read.symbol_key, read.stamp_unit))
    except LogError:
        _refuse_kind(path)
        raise
    if not log:
        raise LogError('it holds no symbols')
    return log


def _check_word(word: list[str], period: int, path: Path) -> None:
    if not word:
        raise LogError('the word is empty', path=path)
    if (len(word) - 1) * period > stamps.LARGEST:
        raise LogError('the word is too long for its period', path=path)
    for symbol in set(word):
        if not isinstance(symbol, str) or not symbol or '\0' in symbol \
                or symbol.encode(errors='ignore').decode() != symbol:  # it has surrogates
            raise LogError('the word holds a symbol that is not a string, is empty, or cannot be '
                           'encoded as UTF-8', path=path)


def remove(path: Path) -> None:
    """Remove a log, file or directory, as far as that is possible."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
