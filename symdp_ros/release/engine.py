"""
Releasing logs: read, sample, privatize, charge, and only then make visible.

The order survives a crash at any moment. The whole release is written into a staging directory
inside the release directory and flushed to the disk; then its spend is committed to the ledger,
with its path and digest; then it is moved to its path, and the directory is flushed. On a start,
what is staged and committed is moved, and what is only staged is deleted. So nothing is visible
before its spend, and nothing is spent without a release.

What is said of a log (`Outcome`) depends on its name, its length and the settings alone. That its
content changed under an old name is said too, and no more of it.
"""
import fcntl
import json
import os
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from symdp_ros.analysis.accuracy import best_mechanism
from symdp_ros.core.chain import Chain
from symdp_ros.core.errors import BudgetError, ConfigurationError, LogError, SymdpError
from symdp_ros.core.offline import MOST_COUNTING_STEPS, OfflineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.core.symbols import parse_symbol_map
from symdp_ros.logs import (LogFile, LogState, SkippedLog, list_logs, read_log, release_name,
                            sample, write_log)
from symdp_ros.logs.files import remove
from symdp_ros.release.ledger import Charge, Ledger, LedgerFile

_STAGING = '.staging-'
_LOCK = '.symdp_ros.lock'
_PATIENCE = 10.0  # seconds to wait for another process that is starting
_SUFFIXES = ('.csv', '.jsonl', '.db3', '.mcap')
_JUDGED = 200  # symbols
_PART_BYTES = 1 << 20
KINDS = ('released', 'already released', 'refused', 'failed')


@dataclass(frozen=True)
class ReleaseSettings:
    """
    How logs are read, privatized and written. Durations are in seconds; `symbol_map` holds
    value=state items.

    What `digest` covers decides which releases are the same; the rest is how they look.
    `mechanism` may be 'auto': for each log the one that is expected to err least, chosen from
    chain, ε, k and the log's length alone.
    """

    chain: Chain
    privacy: Privacy
    mechanism: str = 'exponential'
    policy: str = 'guided'
    topic: str = 'region'
    message_type: str | None = None
    field: str = 'data'
    stamp_key: str = 'stamp'
    symbol_key: str = 'symbol'
    sampling: str = 'message'
    period: float = 1.0
    input_timeout: float = 0.0
    unknown_symbol: str = 'uniform'
    symbol_map: tuple[str, ...] = ()
    no_region: tuple[str, ...] = ('none', '')
    format: str = 'csv'
    release_topic: str = 'private_region'
    keep_names: bool = False

    def described(self) -> dict:
        """Return all that the distribution of a release depends on, for people to read."""
        sampling = {'sampling': self.sampling, 'unknown_symbol': self.unknown_symbol,
                    'no_region': sorted(self.no_region), 'symbol_map': sorted(self.symbol_map)}
        if self.sampling == 'period':
            sampling |= {'period': self.period, 'input_timeout': self.input_timeout}
        causal = {'policy': self.policy} if self.mechanism in ('causal', 'auto') else {}
        return {'chain': self.chain.digest(), 'epsilon': self.privacy.epsilon,
                'adjacency': self.privacy.adjacency, 'mechanism': self.mechanism, **causal,
                **sampling, 'topic': f'/{self.topic.lstrip("/")}', 'field': self.field}

    def digest(self) -> str:
        """Return a SHA-256 (hex) of `described`."""
        return sha256(json.dumps(self.described(), sort_keys=True).encode()).hexdigest()

    def words(self, log: LogFile) -> list[list[str | None]]:
        """
        Return the words of a log.

        :raises LogError, ConfigurationError: as `read_log` and `sample`.
        """
        entries = read_log(log.path, topic=self.topic, message_type=self.message_type,
                           field=self.field, stamp_key=self.stamp_key, symbol_key=self.symbol_key)
        words = self._sample(entries)
        if not words:
            raise LogError('nothing is left of it to release', path=log.path)
        return words

    def check(self) -> None:
        """
        Check the settings of sampling before any log is read.

        :raises ConfigurationError: one of them is not valid.
        """
        self._sample([])
        stuck = self.chain.states_without_staying() if self.sampling == 'period' else ()
        if stuck:
            raise ConfigurationError(
                'sampling: period needs a chain in which every state can follow itself, and '
                f'{len(stuck)} of its states cannot, such as {stuck[0]!r}: set self_loops')

    def mechanism_of(self, selection: str, random=None) -> OfflineMechanism:
        """Return a new mechanism for some selection."""
        return OfflineMechanism(self.chain, self.privacy, selection=selection, policy=self.policy,
                                random=random)

    def _sample(self, entries):
        return sample(entries, self.chain.states, sampling=self.sampling,
                      period=self.period if self.sampling == 'period' else None,
                      input_timeout=self.input_timeout, unknown_symbol=self.unknown_symbol,
                      symbol_map=parse_symbol_map(self.symbol_map), no_region=self.no_region)


@dataclass(frozen=True)
class Outcome:
    """What became of a log: `kind` is one of `KINDS`; `length` counts its symbols, if known."""

    log_id: str
    kind: str
    length: int | None = None
    files: tuple[Path, ...] = ()
    reason: str = ''


@dataclass(frozen=True)
class Report:
    """
    What became of many logs; `skipped`: those still being recorded; `stopped`: there were more,
    and a stop was asked for.
    """

    outcomes: tuple[Outcome, ...]
    skipped: tuple[SkippedLog, ...] = ()
    stopped: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing was refused, failed or left."""
        return not self.stopped and all(outcome.kind in KINDS[:2] for outcome in self.outcomes)

    def counted(self) -> str:
        """Return the counts in one line."""
        return self._told(lambda kind: '')

    def __str__(self):
        def first(kind):
            told = [f'{outcome.log_id}: {outcome.reason}' for outcome in self.outcomes
                    if outcome.kind == kind and outcome.reason]
            more = f'; and {len(told) - 1} more' if len(told) > 1 else ''
            return f' ({told[0]}{more})' if told else ''

        return self._told(first)

    def _told(self, detail):
        counts = Counter(outcome.kind for outcome in self.outcomes)
        texts = 'released', 'already released', 'refused by the budget', 'failed'
        parts = [f'{counts[kind]} {text}{detail(kind)}'
                 for kind, text in zip(KINDS, texts, strict=True)]
        if self.skipped:
            parts.append(f'{len(self.skipped)} {LogState.RECORDING.value}')
        if self.stopped:
            parts.append('stopped before the rest')
        return ', '.join(parts)


class Releaser:
    """
    Releases logs into one directory.

    :param release_dir: an existing directory.
    :param ledger: None: nothing is charged, and no release is remembered.
    :param subject: whose logs these are, in the ledger.
    :param budget: the total ε that one log may ever spend; 0.0: no limit.
    :param subject_budget: the same for the subject.
    :param hand_out_again: write a release that was made before once more where its file is not
        in `release_dir`; else it is left alone.
    :param random: for tests, an object with `getrandbits`.
    :raises ConfigurationError: settings that are not valid; the ledger inside `release_dir`; a
        directory that is missing or cannot be written to.
    """

    def __init__(self, settings: ReleaseSettings, release_dir, *, ledger: Ledger | None = None,
                 subject: str = '', budget: float = 0.0, subject_budget: float = 0.0,
                 hand_out_again: bool = False, random=None):
        settings.check()
        self._settings, self._digest = settings, settings.digest()
        self._directory = Path(release_dir).resolve()
        self._ledger, self._subject = ledger, subject
        self._budgets = {'budget': budget, 'subject_budget': subject_budget}
        self._hand_out_again = hand_out_again
        if ledger is not None:
            check_apart(ledger.path, self._given_away)
        self._random, self._mechanisms = random, {}
        if settings.mechanism != 'auto':
            self._mechanism_for(1)  # tried now, so that what is wrong is said at the start
        # Locked, so that no other process takes a staging directory that is just being made for
        # an abandoned one.
        self._owed = set()  # staged files that are charged and not yet at their path
        with _locked(self._directory):
            self._recover()
            self._staging = _Staging(self._directory, ledger)

    @property
    def _given_away(self) -> Path:
        """What others are given, and may not hold the ledger."""
        return self._directory

    def close(self) -> None:
        """Remove the staging directory, unless it holds what is charged and could not be moved."""
        self._staging.close(keep=any(path.exists() for path in self._owed))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def release_directory(self, log_dir, stop: Callable[[], bool] = lambda: False,
                          tell: Callable[[Outcome], None] = lambda outcome: None) -> Report:
        """
        Release every log of a directory that is not yet released under these settings.

        :param stop: asked between logs.
        :param tell: called after each log.
        :raises LogError: the directory cannot be read.
        """
        listing = list_logs(log_dir)
        return self.release_all(listing.logs, stop, tell, listing.skipped)

    def release_all(self, logs: Iterable[LogFile], stop=lambda: False,
                    tell=lambda outcome: None, skipped: Iterable[SkippedLog] = ()) -> Report:
        """
        Release some logs; parameters as in `release_directory`.

        :param skipped: logs that were listed beside them; those that are unusable have failed.
        """
        recording = tuple(log for log in skipped if log.state is LogState.RECORDING)
        outcomes = [Outcome(log.name, 'failed', reason=log.reason) for log in skipped
                    if log.state is LogState.UNUSABLE]
        for outcome in outcomes:
            tell(outcome)
        for log in logs:
            outcome = None if stop() else self.release(log, stop)
            if outcome is None:
                return Report(tuple(outcomes), recording, stopped=True)
            outcomes.append(outcome)
            tell(outcome)
        return Report(tuple(outcomes), recording)

    def release(self, log: LogFile, stop=lambda: False) -> Outcome | None:
        """
        Release one log. Whatever is wrong with it is told by the outcome.

        :param stop: asked once more before anything is spent; then None is returned.
        """
        try:
            return self._release(log, stop)
        except LogError as error:
            return Outcome(log.id, 'failed', reason=error.reason)
        except BudgetError as error:
            return Outcome(log.id, 'refused', reason=str(error))
        except SymdpError as error:
            return Outcome(log.id, 'failed', reason=str(error))
        except OSError as error:
            return Outcome(log.id, 'failed', reason='the release directory cannot be written: '
                                                    f'{error.strerror}')
        except Exception as error:  # its text might quote the log
            return Outcome(log.id, 'failed', reason=f'an error of type {type(error).__name__}: '
                                                    'please report it')

    def _release(self, log, stop):
        words = self._settings.words(log)
        length = sum(map(len, words))
        content = b''
        if self._ledger is not None:
            content = self._ledger.fingerprint(words)
            charge = self._ledger.find(self._subject, log.id, self._digest)
            if charge is not None:
                return self._again(log, charge, content, length)
            self._ledger.check(self._subject, self._settings.privacy.epsilon, log.id,
                               **self._budgets)
        mechanism = self._mechanism_for(max(map(len, words)))
        for word in words:
            mechanism.check(len(word))
        released = [mechanism.privatize(word) for word in words]
        with self._staged(released) as staged:
            if self._ledger is None:
                files = [(self._free_path(log.id, None, i, len(staged)), *file)
                         for i, file in enumerate(staged)]
                paths = [self._publish(LedgerFile(0, *file, False)) for file in files]
                return Outcome(log.id, 'released', length, tuple(paths))
            if stop():
                return None
            charge, new = self._ledger.charge(
                self._subject, self._settings.privacy.epsilon, log_id=log.id,
                settings=self._digest, content=content, words=released,
                description=json.dumps(self._settings.described()),
                files=lambda number: [(self._free_path(log.id, number, i, len(staged)), *file)
                                      for i, file in enumerate(staged)],
                **self._budgets)
            if not new:  # another process was faster
                return self._again(log, charge, content, length)
            self._owed |= {path for path, _ in staged}
            paths = [self._publish(file) for file in self._ledger.files(charge.number)]
        return Outcome(log.id, 'released', length, tuple(paths))

    def _mechanism_for(self, length) -> OfflineMechanism:
        """Return the mechanism for words of up to this length."""
        settings = self._settings
        selection = settings.mechanism
        if selection == 'auto':
            selection = chosen_selection(settings.chain, settings.privacy, length,
                                         settings.policy)
        if selection not in self._mechanisms:
            self._mechanisms[selection] = settings.mechanism_of(selection, self._random)
        return self._mechanisms[selection]

    def _again(self, log, charge: Charge, content, length):
        if charge.content != content:
            return Outcome(log.id, 'failed', length, reason=(
                'its content has changed since it was released: give the new log a name of its '
                'own, and it will be a release of its own'))
        files = self._ledger.files(charge.number)
        # What is staged still belongs to another process, which is about to move it.
        lost = [file for file in files if not file.visible and not file.staged.exists()
                and not _is_there(file)]
        paths = [file.path for file in files]
        elsewhere = not all(path.parent == self._directory and path.exists() for path in paths)
        if lost:
            paths = self._make_again(log, charge, files)
        elif self._hand_out_again and elsewhere:
            with self._staged(charge.words) as staged:
                paths = [self._publish(LedgerFile(0, self._free_path(
                    log.id, charge.number, i, len(staged)), *file, True))
                    for i, file in enumerate(staged)]
        return Outcome(log.id, 'already released', length, tuple(paths))

    def _make_again(self, log, charge, files):
        """Make ready again, and move, what was charged and lost before it was seen."""
        with self._staged(charge.words) as staged:
            paths = []
            for i, (file, (path, digest)) in enumerate(zip(files, staged, strict=True)):
                target = self._free_path(log.id, charge.number, i, len(staged))
                self._ledger.restage(file.path, target, path, digest)
                self._owed.add(path)
                paths.append(self._publish(LedgerFile(charge.number, target, path, digest, False)))
            return paths

    @contextmanager
    def _staged(self, words):
        """Write words into the staging directory; give (path, digest) of each."""
        settings = self._settings
        staged = []
        try:
            for word in words:
                path = self._staging.path / release_name(secrets.token_hex(8), settings.format)
                staged.append((path, None))
                write_log(path, word, format=settings.format, topic=settings.release_topic,
                          period=settings.period if settings.sampling == 'period' else 1.0,
                          stamp_key=settings.stamp_key, symbol_key=settings.symbol_key)
                staged[-1] = path, digest_of(path)
            yield staged
        finally:
            for path, _ in staged:  # what has been moved is no longer here
                if path not in self._owed:
                    remove(path)

    def _publish(self, file: LedgerFile) -> Path:
        """Move a staged file to its path, or to another where that is taken; return the path."""
        path = file.path
        while True:
            try:
                _move(file.staged, path)
                break
            except FileExistsError:
                if path.exists() and digest_of(path) == file.digest:  # moved before a crash
                    break
                former, path = path, _variant(path)
                if file.number:
                    self._ledger.move(former, path)
        flush(self._directory)
        if file.number:
            self._ledger.set_visible(path)
        self._owed.discard(file.staged)
        return path

    def _free_path(self, log_id, number, part, parts):
        """Return a path for a release that is neither taken nor promised."""
        if self._settings.keep_names:
            stem = next((log_id.removesuffix(suffix) for suffix in _SUFFIXES
                         if log_id.endswith(suffix)), log_id)
        else:  # counted in this directory: the ledger's own numbers tell of other subjects
            made = {file.number for file in self._ledger.files()
                    if file.path.parent == self._directory} if self._ledger is not None else set()
            stem = f'{len(made - {number}) + 1:06d}'
        if parts > 1:
            stem += f'-part{part + 1}'
        path = self._directory / release_name(stem, self._settings.format)
        while os.path.lexists(path) or self._ledger is not None and self._ledger.has_path(path):
            path = _variant(path) if self._settings.keep_names else _next_number(path)
        return path

    def _recover(self):
        """Move what was committed before a crash, and delete what was only staged."""
        pattern = f'{_staging_prefix(self._ledger)}*'
        abandoned = [staging for path in sorted(self._directory.glob(pattern))
                     if (staging := _Staging.abandoned(path)) is not None]
        places = {staging.path for staging in abandoned}
        try:
            for file in self._ledger.files(hidden_only=True) if self._ledger is not None else ():
                if file.staged.parent in places and file.staged.exists():
                    self._publish(file)
                elif file.path.parent == self._directory and _is_there(file):
                    self._ledger.set_visible(file.path)
        except BaseException:
            for staging in abandoned:
                staging.close(keep=True)
            raise
        for staging in abandoned:
            staging.close()


@lru_cache(maxsize=1000)
def chosen_selection(chain: Chain, privacy: Privacy, length: int, policy: str) -> str:
    """
    Return the selection that `mechanism: auto` takes for a log of some length.

    The one of least expected error (`analysis.accuracy.best_mechanism`), judged by words of up to 200
    symbols: longer ones commonly err about as much per symbol, and would take long to judge.
    """
    counting = length**2 * chain.edge_count <= MOST_COUNTING_STEPS
    return best_mechanism(chain, privacy, min(length, _JUDGED), policy=policy, walks=20,
                          counting=counting)


def _staging_prefix(ledger):
    """Return how staging directories begin that belong to a ledger: only it can tell of them."""
    return f'{_STAGING}{ledger.id if ledger is not None else "free"}-'


class _Staging:
    """A directory of this process for what is not to be seen yet; its lock tells it is alive."""

    def __init__(self, directory: Path, ledger: Ledger | None):
        self.path = directory / f'{_staging_prefix(ledger)}{secrets.token_hex(8)}'
        with _directory_errors(directory):
            os.mkdir(self.path, 0o700)
            flush(directory)
            self._lock = os.open(self.path, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    @classmethod
    def abandoned(cls, path: Path):
        """Return the staging directory of a process that is gone; None where it is alive."""
        self = cls.__new__(cls)
        self.path = path
        try:
            self._lock = os.open(path, os.O_RDONLY)
        except OSError:
            return None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            return None
        return self

    def close(self, *, keep: bool = False):
        """Delete the directory with all that is left in it, or leave it to the next start."""
        if not keep:
            shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


@contextmanager
def _locked(directory):
    """Hold a lock on a directory, that nobody else who may read the directory can hold."""
    with _directory_errors(directory):
        if not directory.is_dir():
            os.listdir(directory)  # says what is wrong with it
        lock = os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise ConfigurationError(f'the release directory {directory} is locked by '
                                             'another process: is a start hanging?') from None
                time.sleep(0.05)
        yield
    finally:
        os.close(lock)


@contextmanager
def _directory_errors(directory):
    problem = None
    try:
        yield
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        raise ConfigurationError(f'the release directory {directory} cannot be used: {problem}')


def check_apart(ledger_path, release_dir) -> None:
    """
    Check that a ledger is, or would be, outside a release directory, and not itself a release.

    :raises ConfigurationError: it is inside.
    """
    resolved = Path(ledger_path).resolve()
    if Path(release_dir).resolve() in (resolved, *resolved.parents):
        raise ConfigurationError(f'the ledger {ledger_path} is inside the release directory: keep '
                                 'it where no reader of releases can get at it')


def _is_there(file: LedgerFile) -> bool:
    """Return whether what was made ready is at its path."""
    return file.path.exists() and digest_of(file.path) == file.digest


def digest_of(path: Path) -> str:
    """Return a SHA-256 (hex) of a file, or of the names and contents of a directory's files."""
    hashed = sha256()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        name = file.name.encode() if path.is_dir() else b''
        with open(file, 'rb') as content:
            size = os.fstat(content.fileno()).st_size
            hashed.update(len(name).to_bytes(8, 'big') + name + size.to_bytes(8, 'big'))
            while part := content.read(_PART_BYTES):
                hashed.update(part)
    return hashed.hexdigest()


def _move(source, target):
    """
    Move a file or directory to a path that is free.

    :raises FileExistsError: it is not free.
    """
    if os.path.lexists(target):
        raise FileExistsError(target)
    if source.is_dir():
        os.rename(source, target)
        return
    try:
        os.link(source, target)  # unlike a rename, this never replaces a file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.rename(source, target)
        return
    os.unlink(source)


def _variant(path):
    """Return the path with another random part in its name."""
    name, marker, rest = path.name.partition('.private')
    if not marker:
        name, rest = path.stem, path.suffix
    return path.with_name(f'{name.partition("~")[0]}~{secrets.token_hex(3)}{marker}{rest}')


def _next_number(path):
    name, marker, rest = path.name.partition('.private')
    number, dash, part = name.partition('-')
    return path.with_name(f'{int(number) + 1:06d}{dash}{part}{marker}{rest}')


def flush(path) -> None:
    """Make a file or directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

