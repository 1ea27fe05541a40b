# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Recordings that can be handed on: the private region, and copies of some other topics.

The copies are outside ε. Nothing else of the recording is read into the new one: it depends on
the private word, on the kept topics and on the settings alone.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from operator import attrgetter
from pathlib import Path
import re
import sqlite3
from typing import NamedTuple

from symdp_ros.errors import ConfigurationError, LogError, printable
from symdp_ros.files import child
from symdp_ros.files.closable import Closable
from symdp_ros.logs.recordings import cdr, qos, rosbag, with_rosbags
from symdp_ros.logs.recordings.recorded import full_topic, RecordedMessage, Topic
from symdp_ros.logs.recordings.storage import STORAGES
from symdp_ros.messages.fields import FieldType
from symdp_ros.messages.revealing import Shown, shown_by
from symdp_ros.words import stamps

_STRING = 'std_msgs/msg/String'
_HASH = re.compile(r'RIHS01_[0-9a-f]{64}')
_NAME = re.compile(r'(/[A-Za-z_]\w*)+', re.ASCII)
_TYPE = re.compile(r'[a-z][a-z0-9_]*/((msg|srv|action)/)?\w+', re.ASCII)
#: What types that are often kept show, although they name no place.
_MAY_SHOW = {
    'sensor_msgs/msg/BatteryState': 'shows when the robot docks, and serial numbers',
    'diagnostic_msgs/msg/DiagnosticArray': 'may name places, computers and devices',
    'diagnostic_msgs/msg/DiagnosticStatus': 'may name places, computers and devices'}


class Keep(NamedTuple):
    """
    Which topics of a recording are copied into its release.

    :param topics: their names, with a leading slash.
    :param anyway: those of them that are copied although their type shows where the robot is.
    :param coarse_stamps: in seconds; stamps are rounded down to multiples of it; 0: they are not.
    """

    topics: tuple[str, ...] = ()
    anyway: tuple[str, ...] = ()
    coarse_stamps: float = 0.0

    @classmethod
    def of(cls, topics: Iterable[str], anyway: Iterable[str] = (),
           coarse_stamps: float = 0.0) -> 'Keep':
        """Return the same of names as people write them; those kept anyway are kept."""
        anyway = set(map(full_topic, anyway))
        names = anyway.union(map(full_topic, topics))
        return cls(tuple(sorted(names)), tuple(sorted(anyway)), coarse_stamps)

    def check(self, region: str, form: str, unknown_symbol: str) -> None:
        """
        Check what can be checked before a log is read.

        :param region: the topic with the region.
        :raises ConfigurationError: a topic that cannot be kept; settings that do not go together.
        """
        stamps.from_seconds(self.coarse_stamps, 'coarse_stamps', zero=True)
        if not self.topics:
            if self.coarse_stamps:
                raise ConfigurationError('coarse_stamps is for kept topics: list them in keep, or '
                                         'leave it out', setting='coarse_stamps')
            return
        for name in self.topics:
            if not _NAME.fullmatch(name):
                raise ConfigurationError(f'keep lists {printable(name)!r}: write the full name of '
                                         'one topic, such as /battery_state, and list each topic '
                                         'separately', setting='keep')
        if full_topic(region) in self.topics:
            raise ConfigurationError(f'keep lists {full_topic(region)}, which holds the region: '
                                     'its release is private under the same name; leave it out',
                                     setting='keep')
        if form not in STORAGES:
            raise ConfigurationError(f'format is {form!r}, and topics are kept in recordings '
                                     f'alone: choose {" or ".join(STORAGES)}, or leave keep out',
                                     setting='format')
        if unknown_symbol == 'split':
            raise ConfigurationError('unknown_symbol: split cuts a log into several releases, and '
                                     'kept topics are copied into one: choose another value, or '
                                     'keep no topics', setting='unknown_symbol')
        if not with_rosbags.is_installed():
            raise ConfigurationError('kept topics need the Python packages rosbags and mcap: pip '
                                     "install 'symdp_ros[bags]'", setting='keep')


class TopicOutcome(NamedTuple):
    """
    What becomes of a topic: `result` is 'private', 'kept', 'refused' or 'dropped'.

    Refused are topics to keep that are missing or cannot be kept.
    """

    name: str
    type: str  # noqa: A003 (a public name)
    result: str
    reason: str


class KeptTopics(Closable):
    """
    The kept topics of a recording, copied into a temporary file that has no name.

    :param path: the recording.
    :param region: the topic with the region.
    :param strict: raise an error where a topic is missing or cannot be kept; otherwise it is left
        out, so that no error depends on what a recording holds.
    :raises LogError: as above; as `rosbag.scan`; the temporary file cannot be written.
    """

    def __init__(self, path: Path, keep: Keep, region: str, *, strict: bool):
        self._keep, self._strict = keep, strict
        self._region = full_topic(region)
        self._found: dict[str, Topic] = {}
        self._fields: dict[str, cdr.Layout] = {}
        self._left_out: dict[str, str] = {}  # and why
        self._path, self._problem = path, ''
        self._coarse = stamps.from_seconds(keep.coarse_stamps, 'coarse_stamps', zero=True) or 1
        self._db = sqlite3.connect('', isolation_level=None)  # in a file that is already deleted
        problem = None
        try:
            self._copy(path)
            self._first, self._last = self._extent()
        except sqlite3.Error as error:
            problem = 'it is damaged: copy the recording from the robot again'
            if 'disk is full' in str(error):
                problem, strict = ('the disk with the temporary directory is full: free some '
                                   'space, or set SQLITE_TMPDIR to another directory'), True
        except Exception as error:  # damaged bytes: a library may raise anything
            problem = child.problem_of(error)
        if problem is not None and not strict:
            self._problem, self._left_out = problem, dict.fromkeys(keep.topics, problem)
            self._first, self._last = self._extent()
        elif problem is not None:
            self.close()
            raise LogError(problem, path=path)

    def close(self) -> None:
        """Delete the copies."""
        self._db.close()

    def check(self) -> None:
        """Raise the LogError that `strict` raises, if any."""
        if self._problem:
            raise LogError(self._problem, path=self._path)
        for name, reason in self._left_out.items():
            raise LogError(f'the topic {name} {reason}', path=self._path)

    def outcomes(self, field: str, values: Mapping[str, str]) -> tuple[TopicOutcome, ...]:
        """
        Return what `write` would make of each topic; nothing of a recording that is damaged.

        Parameters as of `write`.
        """
        if self._problem:
            return ()
        region, _, reason = self._private(field, values)
        return self._outcomes(region, reason)

    def write(self, directory: Path, word: Sequence[str], period: int, storage: str, field: str,
              values: Mapping[str, str], record: str = '') -> tuple[TopicOutcome, ...]:
        """
        Write a recording into an empty directory; return what became of each topic.

        :param word: the private symbols, `period` nanoseconds apart.
        :param field: the path to the region in the recorded messages.
        :param values: state → the value that stands for it in the recorded messages.
        :param record: what the recording says of itself.
        """
        region, encoded, reason = self._private(field, values)
        topics = [self._found[name] for name in self._kept()]
        symbols = (RecordedMessage(region.name, i * period, encoded[symbol])
                   for i, symbol in enumerate(word))
        with_rosbags.write_topics(directory, storage, [region, *map(_written, topics)],
                                  merge(symbols, self._messages(), key=attrgetter('stamp')),
                                  record)
        return self._outcomes(region, reason)

    def _kept(self) -> list[str]:
        return [name for name in self._keep.topics
                if name in self._found and name not in self._left_out]

    # Reading

    def _copy(self, path: Path) -> None:
        self._db.execute('PRAGMA journal_mode = OFF')
        self._db.execute('CREATE TABLE kept(id INTEGER PRIMARY KEY, topic TEXT, stamp INTEGER, '
                         'data BLOB)')
        if not path.is_dir() and path.suffix not in STORAGES.values():
            raise LogError('this log is no recording, and holds no topics to keep: release it '
                           'without keep (--keep)')
        self._db.execute('BEGIN')
        for item in rosbag.scan(path, self._keep.topics):
            if isinstance(item, Topic):
                self._add_topic(item)
            elif item.topic not in self._left_out:
                self._add_message(item)
        for name in self._keep.topics:
            if name not in self._found:
                self._leave_out(name, f'is not in it{rosbag.other_topics(name, self._found)}')
            elif name not in self._left_out and name not in self._fields:
                self._check_fields(self._found[name])
        self._db.execute('COMMIT')

    def _add_topic(self, topic: Topic) -> None:
        before = self._found.get(topic.name)
        if before is None or topic.form and not before.form:
            self._found[topic.name] = topic
        if topic.name not in self._keep.topics or topic.name in self._left_out:
            return
        if before is not None and before.type != topic.type:
            self._leave_out(topic.name, 'was recorded with several message types')
        elif not _TYPE.fullmatch(topic.type):
            self._leave_out(topic.name, f'has the type {printable(topic.type)}, which is no type '
                                        'of ROS: it is not known what it shows')
        elif problem := rosbag.encoding_problem(topic.encoding):
            self._leave_out(topic.name, problem)
        elif before is not None and before.form and topic.form and (
                before.form, before.definition) != (topic.form, topic.definition):
            self._leave_out(topic.name, 'was recorded with several definitions of its type')
        elif shown := _shown(topic.type):
            self._check_shown(topic, shown)

    def _add_message(self, message: RecordedMessage) -> None:
        topic = self._found[message.topic]
        if topic.name not in self._fields:
            self._check_fields(topic)
            if topic.name in self._left_out:
                return
        problem = ''
        # A damaged storage file may hold values of any type.
        if type(message.stamp) is int and type(message.data) is bytes:
            with suppress(ValueError, OverflowError):
                # Also without a header: by another definition, there may be one after all.
                cdr.with_other_headers(message.data, topic.type, self._fields[topic.name],
                                       lambda stamp: 0)
                self._db.execute('INSERT INTO kept(topic, stamp, data) VALUES (?, ?, ?)', message)
                return
            problem = cdr.encapsulation_problem(message.data)
            if not problem and abs(message.stamp) > stamps.LARGEST:
                problem = f'cannot be kept: {stamps.OUT_OF_RANGE}'
        self._leave_out(topic.name, problem or (
            f'holds a message that is no {printable(topic.type)}: it is damaged, or the recorder '
            'had another definition of the type'))

    def _check_fields(self, topic: Topic) -> None:
        """Find out how the messages of a topic are made, and what they show."""
        from symdp_ros.logs.recordings.serialized import RECORD_DEFINITION

        fields: cdr.Layout = {}
        problem = f'the recording does not hold its definition: {RECORD_DEFINITION}'
        try:
            fields = _layout(topic)
        except (LogError, ValueError) as error:
            problem = str(error) if topic.form else problem
        if not fields:
            self._leave_out(topic.name, f'has the type {printable(topic.type)}, whose headers '
                                        f'cannot be found: {problem}')
        elif shown := _shown(topic.type, fields):
            self._check_shown(topic, shown)
        for other in self._kept():  # a recording holds one definition of each type
            if self._found[other].type == topic.type and self._fields.get(other, fields) != fields:
                self._leave_out(topic.name, f'has the type {printable(topic.type)}, and so has '
                                            f'{other}, by another definition: keep one of them')
        self._fields[topic.name] = fields

    def _check_shown(self, topic: Topic, shown: Shown) -> None:
        if topic.name not in self._keep.anyway:
            place = f' ({shown.field})' if shown.field else ''
            self._leave_out(topic.name, f'has the type {printable(topic.type)}, which shows '
                                        f'{shown.what}{place}: leave it out; or, if anyone who '
                                        f'reads the release may know that, --keep-anyway '
                                        f'{topic.name}')

    def _leave_out(self, name: str, reason: str) -> None:
        if self._strict:
            raise LogError(f'the topic {name} {reason}')
        self._left_out.setdefault(name, reason)

    # Writing

    def _extent(self) -> tuple[int, int]:
        """Return the first and the last stamp of what is kept."""
        names = self._kept()
        self._db.execute(f'DELETE FROM kept WHERE topic NOT IN ({", ".join("?" * len(names))})',
                         names)
        first, last = self._db.execute('SELECT min(stamp), max(stamp) FROM kept').fetchone()
        if first is None:
            return 0, 0
        if last - first > stamps.LARGEST:
            for name in names:
                self._leave_out(name, 'holds stamps that are too far apart: it is damaged')
            self._db.execute('DELETE FROM kept')
            return 0, 0
        return first, last

    def _messages(self) -> Iterator[RecordedMessage]:
        """Yield the copies in the order of their new stamps."""
        # Where stamps are coarse, the order of messages of several topics must not be finer.
        new = f'(stamp - ({self._first})) / {self._coarse}'
        self._db.execute(f'CREATE INDEX IF NOT EXISTS by_stamp ON kept({new}, topic, stamp, id)')
        for topic, stamp, data in self._db.execute(
                f'SELECT topic, {new} * {self._coarse}, data FROM kept '
                f'ORDER BY {new}, topic, stamp, id'):
            yield self._with_other_headers(RecordedMessage(topic, stamp, data), self._stamp)

    def _stamp(self, stamp: int) -> int:
        # A stamp of another clock, or 0, is moved into the recording: it could show the true time.
        shifted = min(max(stamp - self._first, 0), self._last - self._first)
        return shifted // self._coarse * self._coarse

    def _with_other_headers(self, message: RecordedMessage,
                            stamp: Callable[[int], int]) -> RecordedMessage:
        """
        Return a message with other headers; what pads and follows it is left behind.

        That may be what stood in the memory of the process that serialized it.
        """
        topic = self._found[message.topic]
        return message._replace(data=cdr.with_other_headers(
            message.data, topic.type, self._fields[topic.name], stamp))

    def _private(self, field: str,
                 values: Mapping[str, str]) -> tuple[Topic, dict[str, bytes], str]:
        """
        Return the topic of the private region, its message for each state, and a remark.

        It keeps the type that was recorded if the region is the only field of it, and it can hold
        every state; otherwise it is a string.
        """
        recorded = self._found.get(self._region, Topic(self._region, ''))
        with suppress(Exception):  # damaged text, or a value that does not fit
            fields = _layout(recorded)
            encode = cdr.encoder(fields[recorded.type][field])
            if len(fields[recorded.type]) == 1 and encode is not None:
                return _written(recorded), {state: encode(value)
                                            for state, value in values.items()}, ''
        encode = cdr.encoder(FieldType('string'))
        assert encode is not None
        own = recorded._replace(type=_STRING, type_hash='', form='', definition='')
        return _written(own), {state: encode(state) for state in values}, (
            f'as {_STRING}: other fields of {recorded.type} could not be filled'
            if recorded.type and recorded.type != _STRING else '')

    def _outcomes(self, region: Topic, reason: str) -> tuple[TopicOutcome, ...]:
        types = {name: topic.type for name, topic in self._found.items()}
        return (TopicOutcome(region.name, region.type, 'private', reason or 'covered by ε'),
                *(TopicOutcome(name, types[name], 'kept', self._what_shows(name))
                  for name in self._kept()),
                *(TopicOutcome(name, types.get(name, ''), 'refused', why)
                  for name, why in sorted(self._left_out.items())),
                *(TopicOutcome(name, topic.type, 'dropped', _why_dropped(topic))
                  for name, topic in sorted(self._found.items())
                  if name not in (region.name, *self._keep.topics)))

    def _what_shows(self, name: str) -> str:
        """Return what a kept topic shows, or may show."""
        topic, fields = self._found[name], self._fields[name]
        shown = _shown(topic.type, fields)
        text = cdr.path_to('string', topic.type, fields)
        what = f'shows {shown.what}' if shown else _MAY_SHOW.get(topic.type, '')
        if not what and text:
            what = f'a text in it may name a place ({text})'
        elif not what and shown_by(topic.type, {_short(topic.type): dict.fromkeys(
                fields[topic.type], FieldType(''))}):
            what = 'a number in it may name a place'
        parts = [f'not covered by ε: {what}' if what else 'not covered by ε']
        time = 'it' if topic.type == cdr.TIME else cdr.path_to(cdr.TIME, topic.type, fields)
        if time:
            parts.append(f'{time} is no header, and still shows the true time')
        return '; '.join(parts)


def _written(topic: Topic) -> Topic:
    """Return what a new recording holds about a topic."""
    form, definition = topic.form, topic.definition
    type_hash = topic.type_hash if _HASH.fullmatch(topic.type_hash) else ''
    if not form:
        from symdp_ros.logs.recordings.serialized import definition_of

        form, (definition, standard_hash) = 'ros2msg', definition_of(topic.type)
        type_hash = type_hash or standard_hash
    return topic._replace(qos=qos.clean(topic.qos), type_hash=type_hash, form=form,
                          definition=definition)


def _why_dropped(topic: Topic) -> str:
    shown = _shown(topic.type)
    return 'not listed in --keep' + (f'; shows {shown.what}' if shown else '')


def _shown(message_type: str, fields: cdr.Layout = {}) -> Shown | None:
    """Return what a type certainly shows of the place, by its name and by its definition."""
    shown = shown_by(message_type)
    if shown is not None and shown.certain:
        return shown
    # Each type by itself: definitions in a recording may nest them without end.
    for name, each in fields.items():
        shown = shown_by(name, {_short(name): {
            field: kind._replace(name=_short(kind.name)) for field, kind in each.items()}})
        if shown is not None and shown.certain:
            path = cdr.path_to(name, message_type, fields) if name != message_type else ''
            return shown._replace(field='.'.join(filter(None, (path, shown.field))))
    return Shown(True, 'what a robot does') if '/action/' in message_type else None


def _short(name: str) -> str:
    package, _, rest = name.partition('/')
    return f'{package}/{rest.rpartition("/")[2]}' if rest else name


def _layout(topic: Topic) -> cdr.Layout:
    """Return the fields of a topic's type; raise any error where they are not known."""
    from symdp_ros.logs.recordings.serialized import layout

    fields = layout(topic.type, topic.form, topic.definition)
    cdr.check(topic.type, fields)
    return fields
