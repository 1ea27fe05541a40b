# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What a release costs, and the row of the ledger that holds it: how a loss is written, and read.

Most rows are charges; others set the budget or the unit of a subject, or add to what it has spent.
All is exact, in fractions; a float is read as its shortest decimal.
"""
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
import json
from math import ceil
import re
from typing import Any, NamedTuple, TypeAlias
import zlib

from symdp_ros.core.accounting import BOUNDS, rho_of, RULE
from symdp_ros.core.privacy import Privacy
from symdp_ros.errors import LedgerError
from symdp_ros.ledger.overlap import Span
from symdp_ros.maps.reports import as_fraction

#: Of an amount in a ledger, before and after the point: more than any sum of doubles needs.
MOST_DIGITS = 2000
KINDS = ('charge', 'unit', 'budget', 'spent', 'recovery')
_NUMBER = rf'\d{{1,{MOST_DIGITS}}}'
_AMOUNT = re.compile(rf'{_NUMBER}(\.{_NUMBER}|/(?!0+$){_NUMBER})?')

_OF_RELEASE = ('bound', 'routes', 'whole', 'repeats', 'of_log', 'length', 'values',
               'zcdp_rule', 'logs', 'taken')

_MOST_BITS = 3000  # of a denominator: far fewer digits than `_AMOUNT` has
_FINEST = 10**30   # the largest denominator of a sum that is rounded up
_ROUGH = Context(prec=6)
_LONGEST = 24  # characters of a fraction that is shown

#: What a loss is counted by: 'symbols', their period if any, and how many there are if that is
#: known; or 'seconds', and how many it is for.
Step: TypeAlias = tuple[str, Fraction | None, int | None]


@dataclass(frozen=True)
class Loss:
    """
    The privacy loss of one release: e^ε for any `adjacency` changed symbols.

    :param epsilon: ε ≥ 0, exact.
    :param adjacency: k' ≥ 1, as it was asked for.
    :param sampling: what a symbol is: 'message', 'change', 'period' or 'archive' (a row).
    :param period: with 'period', the seconds between two symbols; else None.
    :param seconds: D, where the release protects D seconds (with 'period' alone); None: it
        protects `adjacency` symbols.
    :param bound: of `core.accounting.BOUNDS`.
    :param routes: how many releases it is, each at an equal share of `epsilon`.
    :param whole: it protects `seconds`, and cannot be divided.
    :param repeats: in how many words (logs, or routes of an archive) a change costs this ε.
    :param of_log: the ε of any change of one whole log, however many symbols that are; None: a
        change of a log costs what it costs anywhere.
    :param length: n ≥ 1, the symbols of the word, which was drawn for `most_changes`. None: it was
        drawn for `adjacency` changes, whatever its length.
    :param zones: the digest of the zones that are told; None: none.
    :param values: with the bound 'symbols', the fewest values of a response; with 'blocks', the
        most symbols of one (`core.accounting`).
    :param rule: by which its ρ is counted: as when it was charged.
    """

    epsilon: Fraction
    adjacency: int
    sampling: str
    period: Fraction | None = None
    seconds: Fraction | None = None
    bound: str = 'pure'
    routes: int = 1
    whole: bool = False
    repeats: int = 1
    of_log: Fraction | None = None
    length: int | None = None
    zones: str | None = None
    values: int = 2
    rule: int = RULE

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:  # that of a fraction is slow; the same in every process
        return hash((self.epsilon, self.adjacency, self.period or 0, self.length or 0))

    @classmethod
    def of(cls, privacy: Privacy, sampling: str, period: float | None = None,
           seconds: float | None = None, bound: str = 'pure') -> 'Loss':
        """Return the loss of a mechanism; `period` is used only with the sampling 'period'."""
        return cls(as_fraction(privacy.epsilon), privacy.adjacency, sampling,
                   as_fraction(period) if sampling == 'period' and period is not None else None,
                   None if seconds is None else as_fraction(seconds), bound,
                   zones=None if privacy.zones is None else privacy.zones.digest())

    @cached_property
    def step(self) -> Step:
        """Return what it is counted by."""
        return ('seconds', self.seconds, None) if self.whole else (
            'symbols', self.period, self.length)

    @property
    def most_changes(self) -> int:
        """Return min(k', n): for how many changed symbols it was drawn."""
        return min(self.adjacency, self.length or self.adjacency)

    @cached_property
    def per_step(self) -> Fraction:
        """Return ε/min(k', n), or all of ε where it cannot be divided."""
        return self.epsilon if self.whole else self.epsilon / self.most_changes

    @property
    def bounds(self) -> str:
        """Return what its ε is for, as people say it: 'any one visit of 30 s'."""
        if self.seconds is not None:
            return f'any one visit of {as_text(self.seconds)} s'
        return 'any one symbol' if self.adjacency == 1 else f'any {self.adjacency} symbols'

    @lru_cache(maxsize=10_000)  # of many robots, most spend alike
    def rho(self, steps: int) -> Fraction:
        """Return its ρ, where so many steps change."""
        return self.routes * rho_of(self.bound, self.per_step / self.routes, steps, self.values,
                                    self.rule)


class Entry(NamedTuple):
    """
    One row of the ledger, as it is stored.

    :param kind: 'charge'; or 'budget' (`epsilon` is the new subject_budget, 0: none; in the
        description, 'delta' where it limits the ε of zCDP at this δ), 'unit' (of the subject from
        now on, and for what it has spent), 'spent' (`epsilon` was spent in addition to the
        charges, in the subject's unit; in the description, 'rho' where that is known), 'recovery'
        (see `description`).
    :param log_id: None: a word that a live node began.
    :param settings: a digest of all settings that the distribution depends on.
    :param description: these settings as JSON, for people to read; the fields of the loss that
        differ from `Loss`'s defaults; and `logs`: the log ids in which the charge is owed, each
        with the stamps of its first and last entry (nanoseconds).
    :param epsilon, period, seconds: as decimals, or as p/q where there is none.
    :param adjacency: k; 0 in entries that have none.
    :param made: UTC.
    :param lengths: JSON: of each word, or of all of an archive.
    :param content: HMAC of the words that were released, or of the archive.
    :param packed: zlib, JSON: the released words (of an archive, none).
    :param files: the number of files of the release.
    """

    number: int
    kind: str
    subject: str
    log_id: str | None = None
    settings: str = ''
    description: str = '{}'
    epsilon: str = '0'
    adjacency: int = 0
    sampling: str = ''
    period: str | None = None
    seconds: str | None = None
    made: str = ''
    lengths: str = '[]'
    content: bytes = b''
    packed: bytes = b''
    files: int = 0

    def __repr__(self) -> str:  # without the released words
        return f'Entry({self.number}, {self.kind!r}, {self.subject!r}, {self.log_id!r})'

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """Return the released words; raise LedgerError if they are damaged."""
        try:
            return tuple(map(tuple, json.loads(zlib.decompress(self.packed))))
        except (zlib.error, ValueError, TypeError):
            pass
        raise LedgerError(f'charge {self.number} of the ledger is damaged', damaged=True)

    @property
    def length(self) -> int:
        """Return how many rows were released; 0 for a word that a live node began."""
        try:
            return int(sum(json.loads(self.lengths)))
        except (ValueError, TypeError):
            return 0

    @property
    def symbols(self) -> int:
        """Return how many symbols they are of; with `report_period` rows are more."""
        loss = self.loss
        return self.length if loss.sampling == 'archive' or loss.length is None else loss.length

    @property
    def described(self) -> dict[str, Any]:
        """Return `description`, decoded; empty where it is damaged. Not to be changed."""
        return _decoded(self.description)

    @property
    def settings_described(self) -> dict[str, Any]:
        """Return the settings alone of `described`."""
        return {name: value for name, value in self.described.items() if name not in _OF_RELEASE}

    @property
    def logs(self) -> dict[str, Span | None]:
        """Return the log ids in which the charge is owed, with stamps where they are known."""
        logs = self.described.get('logs')
        if isinstance(logs, dict):
            return {log: (span[0], span[1]) if _is_span(span) else None
                    for log, span in logs.items()}
        return {} if self.log_id is None else {self.log_id: None}

    @property
    def amount(self) -> Fraction:
        """Return `epsilon` as a number."""
        return amount(self.epsilon)

    @property
    def loss(self) -> Loss:
        """Return the privacy loss of the release."""
        return _loss_of(self.epsilon, self.adjacency, self.sampling, self.period, self.seconds,
                        self.description)

    def described_amount(self, name: str) -> Fraction | None:
        """Return an amount of the description, or None; raise LedgerError if it is damaged."""
        return amount_or_none(self.described.get(name))

    def is_sound(self) -> bool:
        """Return whether every column holds a valid value."""
        number, kind, subject, log_id, settings, description, epsilon, adjacency, sampling, \
            period, seconds, made, lengths, content, packed, files = self
        return (type(subject) is type(settings) is type(description) is type(sampling)
                is type(made) is type(lengths) is type(kind) is str
                and (log_id is None or type(log_id) is str)
                and type(number) is type(adjacency) is type(files) is int
                and 0 <= files
                and (1 <= adjacency or kind not in ('charge', 'unit')
                     or kind == 'unit' and seconds is not None)
                and type(content) is type(packed) is bytes
                and type(epsilon) is str
                and (period is None or type(period) is str)
                and (seconds is None or type(seconds) is str)
                and _are_sound(kind, epsilon, period, seconds,
                               '' if kind == 'charge' else description))


@lru_cache(maxsize=1000)  # most are alike
def _are_sound(kind: str, epsilon: str, period: str | None, seconds: str | None,
               description: str) -> bool:
    """Return whether the amounts of an entry are sound; `description`: '' of a charge."""
    try:
        amount(epsilon)
        described = _decoded(description)
        amount_or_none(described.get('rho'))
        delta = amount_or_none(described.get('delta'))
        return (kind in KINDS and (delta is None or 0 < delta < 1)
                and (period is None or amount(period) > 0)
                and (seconds is None or amount(seconds) > 0
                     and (period is not None or kind != 'charge')))
    except LedgerError:
        return False


def new_charge(loss: Loss, settings: str, description: str, log_id: str | None = None, *,
               content: bytes = b'', words: Sequence[Sequence[str]] = (),
               lengths: Sequence[int] | None = None, logs: Mapping[str, Span] | None = None,
               taken: str = '') -> Entry:
    """
    Return a charge that is to be made, of nobody yet, and of no file.

    What the description says of the loss, `_loss_of` reads.

    :param settings: a digest of the settings.
    :param description: the settings as JSON, for people to read.
    :param log_id: None for a word that a live node begins.
    :param content: `Ledger.fingerprint` of the sensitive words, or `Ledger.file_fingerprint`.
    :param words: the released words.
    :param lengths: of released words that are not stored; None: those of `words`.
    :param logs: the log ids in which it is owed, with the stamps of their first and last entries
        (nanoseconds); None: `log_id` alone.
    :param taken: the name of the mechanism that auto took; '': the settings name it.
    """
    more = _more_described(loss) | ({'taken': taken} if taken else {}) | (
        {} if logs is None else {'logs': {log: list(span) for log, span in logs.items()}})
    if more:
        description = json.dumps(json.loads(description or '{}') | more)
    return Entry(
        0, 'charge', '', log_id, settings, description, **loss_columns(loss),
        lengths=json.dumps(list(map(len, words)) if lengths is None else list(lengths)),
        content=content, packed=zlib.compress(json.dumps(list(map(list, words))).encode()))


def _more_described(loss: Loss) -> dict[str, Any]:
    """Return what the description of a charge says of its loss."""
    more = dict[str, Any]()
    if (loss.bound, loss.routes) != ('pure', 1):
        more |= {'bound': loss.bound, 'routes': loss.routes}
    if loss.whole:
        more['whole'] = True
    if loss.repeats != 1 or loss.sampling == 'archive':
        more['repeats'] = loss.repeats
    if loss.of_log is not None:
        more['of_log'] = written(loss.of_log)
    if loss.length is not None:
        more['length'] = loss.length
    if loss.zones is not None:
        more['zones'] = loss.zones
    if loss.values != 2:
        more['values'] = loss.values
    if loss.rule != 1:
        more['zcdp_rule'] = loss.rule
    return more


def loss_columns(loss: Loss) -> dict[str, Any]:
    """Return the columns of an entry that describe a loss."""
    return {'epsilon': written(loss.epsilon), 'adjacency': loss.adjacency,
            'sampling': loss.sampling,
            'period': None if loss.period is None else written(loss.period),
            'seconds': None if loss.seconds is None else written(loss.seconds)}


@lru_cache(maxsize=200)  # of many robots, most are alike
def _decoded(description: str) -> dict[str, Any]:
    try:
        described = json.loads(description)
    except ValueError:
        described = {}
    return described if isinstance(described, dict) else {}


@lru_cache(maxsize=1000)  # many charges are alike
def _loss_of(epsilon: str, adjacency: int, sampling: str, period: str | None,
             seconds: str | None, description: str) -> Loss:
    described, of_log = _decoded(description), None
    with suppress(LedgerError):
        of_log = amount_or_none(described.get('of_log'))
    bound, during = described.get('bound'), amount_or_none(seconds)
    return Loss(amount(epsilon), adjacency, sampling, amount_or_none(period), during,
                bound if bound in BOUNDS else 'pure', _count_of(described.get('routes')) or 1,
                described.get('whole') is True and during is not None,
                _count_of(described.get('repeats')) or 1, of_log,
                _count_of(described.get('length')), _zones_of(described),
                max(_count_of(described.get('values')) or 2, 2),
                RULE if described.get('zcdp_rule') == RULE else 1)


def _zones_of(described: Mapping[str, Any]) -> str | None:
    zones = described.get('zones')
    return zones if isinstance(zones, str) else None


def _count_of(number: object) -> int | None:
    """Return a number ≥ 1 of a description; None where it is missing or damaged."""
    return number if type(number) is int and number > 0 else None


def _is_span(span: object) -> bool:
    return isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span)


@lru_cache(maxsize=1000)
def amount(text: object) -> Fraction:
    """
    Return an amount that is stored in a ledger as text.

    :raises LedgerError: it is no amount.
    """
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise LedgerError('an amount in the ledger is damaged', damaged=True)
    return Fraction(text)


def rounded_up(rho: Fraction) -> Fraction:
    """Return a ρ of at most 30 decimals: exact sums of many have too many digits."""
    return rho if _FINEST % rho.denominator == 0 else Fraction(ceil(rho * _FINEST), _FINEST)


def written(number: Fraction) -> str:
    """Return an amount as the text that a ledger stores: exact, or rounded up where too long."""
    return _written(number.numerator, number.denominator)  # a fraction's own hash is slow


@lru_cache(maxsize=10_000)
def _written(*ratio: int) -> str:
    number = Fraction(*ratio)
    if number.denominator.bit_length() > _MOST_BITS:  # of hundreds of lengths of short logs
        number = rounded_up(number)
    return as_decimal(number) or str(number)


def amount_or_none(text: object) -> Fraction | None:
    """Return the amount, or None if `text` is None."""
    return None if text is None else amount(text)


def as_decimal(amount: Fraction) -> str | None:
    """Return an amount ≥ 0 as an exact decimal; None: there is none of at most `MOST_DIGITS`."""
    rest, places = amount.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1 or places > MOST_DIGITS:
        return None
    whole, part = divmod(amount.numerator * 10**places // amount.denominator, 10**places)
    return f'{whole}.{part:0{places}}' if places else f'{whole}'


def as_rounded_text(amount: Fraction) -> str:
    """Return an amount with six digits."""
    return f'{_ROUGH.divide(Decimal(amount.numerator), Decimal(amount.denominator)):g}'


def as_text(amount: Fraction) -> str:
    """Return an amount as people read it: exact, or 'about …' where that would be long."""
    exact = as_decimal(amount)
    if exact is not None:
        return exact
    rough = _ROUGH.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    about = f'about {rough.normalize()}'
    is_short = amount.denominator < 10**_LONGEST and len(str(amount)) <= _LONGEST
    return f'{amount} ({about})' if is_short else about


def changed_settings(before: Entry | None, now: Mapping[str, Any]) -> str:
    """
    Return how the settings of a log differ from those of its last release.

    :param before: that release; None: there is none.
    :param now: the settings.
    :return: '' if they do not differ, or there is nothing to compare.
    """
    if before is None or not now:
        return ''
    was = before.settings_described
    return ', '.join(
        f'{name} {_short(was.get(name))} → {_short(now.get(name))}'
        if len(f'{was.get(name)}{now.get(name)}') <= 40 else f'another {name}'
        for name in sorted(was.keys() | now.keys()) if was.get(name) != now.get(name))


def _short(value: object) -> str:
    return f'{value:g}' if isinstance(value, float) else 'none' if value is None else str(value)
