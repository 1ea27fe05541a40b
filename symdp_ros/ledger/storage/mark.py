# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The mark of a ledger: a file with its last entry, and what every subject had spent by then.

It detects a ledger that was put back to an older state, and what such a ledger lacks can still be
counted. Two lines: JSON, and its SHA-256. Subjects of which it says the same stand together there.
A new ledger has a mark before its first entry: one with entries and without a mark has lost it.
"""
from contextlib import suppress
from dataclasses import dataclass, field
import errno
from hashlib import sha256
import json
import os
from pathlib import Path
from typing import Any

from symdp_ros.errors import LedgerError, printable
from symdp_ros.ledger.accounts import Account, Unit
from symdp_ros.ledger.entry import amount, amount_or_none, rounded_up, written


@dataclass(frozen=True)
class Mark:
    """
    The id of a ledger, number (0: none) and seal (hex) of its last entry, and its accounts.

    `subjects` maps each subject to JSON: its spent ε, ρ, budget, δ, symbols, sampling, period and
    seconds; δ is missing where no accounting is stored.
    """

    ledger: str
    number: int
    seal: str
    subjects: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> 'Mark | None':
        """
        Return the mark, or None where there is none.

        :raises LedgerError: it is damaged, or cannot be read.
        """
        try:
            text = path.read_bytes().decode()
            line, digest, rest = text.split('\n')
            if rest == '' and digest == sha256(line.encode()).hexdigest():
                stored = json.loads(line)
                return cls(**stored | {'subjects': _by_subject(stored['subjects'])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            if getattr(error, 'errno', None) in (errno.ENOENT, errno.ENAMETOOLONG):
                return None
        raise LedgerError(f'{printable(path.name)} is damaged: it is not known whether '
                          'charges are missing from the ledger', damaged=True)

    def write(self, path: Path) -> None:
        """
        Write the mark; a crash leaves the former one, or this one.

        :raises OSError: it cannot be written.
        """
        groups: dict[str, list[str]] = {}
        for subject, stored in self.subjects.items():
            groups.setdefault(stored, []).append(subject)
        line = json.dumps(vars(self) | {'subjects': [
            (json.loads(stored), subjects) for stored, subjects in groups.items()]})
        temporary = path.with_name(f'.mark-{sha256(os.fsencode(path.name)).hexdigest()[:16]}.new')
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW,
                              0o600), 'w') as file:
                file.write(f'{line}\n{sha256(line.encode()).hexdigest()}\n')
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise

    def accounts(self) -> dict[str, Account]:
        """Return what each subject had spent, as amounts in addition to charges."""
        return {subject: _account(subject, json.loads(stored))
                for subject, stored in self.subjects.items()}

    def has_more(self, account: Account) -> bool:
        """Return whether it says that a subject has spent more, or another unit or budget."""
        stored = self.subjects.get(account.subject)
        if stored is None or stored == of_account(account):
            return False
        now, then = (_account(account.subject, json.loads(text))
                     for text in (of_account(account), stored))
        return (now.added < then.added or now.added_rho < then.added_rho
                or (now.unit, now.budget, now.delta) != (then.unit, then.budget, then.delta))


def _by_subject(stored: dict[str, Any] | list[Any]) -> dict[str, str]:
    """Return what is said of each subject, as JSON; marks of before are no list."""
    groups = stored if isinstance(stored, list) else [
        (said, [subject]) for subject, said in stored.items()]
    return {subject: text for said, subjects in groups
            for text in (_json_of(said),) for subject in subjects}


def _json_of(said: dict[str, Any]) -> str:
    return json.dumps(said, sort_keys=True)


def of_account(account: Account) -> str:
    """Return what the mark of a ledger says of an account, as JSON."""
    unit = account.unit or Unit()
    # Without a stored accounting there is no δ in the mark, not even none.
    accounting = {'delta': account.delta} if account.has_accounting else {}
    return _json_of({
            'spent': written(account.spent()), 'rho': written(rounded_up(account.rho)),
            'symbols': unit.symbols, 'sampling': unit.sampling,
            **({} if unit.zones is None else {'zones': unit.zones}),
            **{name: None if value is None else written(value) for name, value in (
                ('budget', account.budget), ('period', unit.period), ('seconds', unit.seconds),
                *accounting.items())}})


def _account(subject: str, stored: dict[str, Any]) -> Account:
    return Account(subject, _unit(stored), amount_or_none(stored['budget']),
                   amount(stored['spent']), delta=amount_or_none(stored.get('delta')),
                   has_accounting='delta' in stored, added_rho=amount(stored['rho']))


def _unit(stored: dict[str, Any]) -> Unit | None:
    if stored['symbols'] is None and stored['seconds'] is None:
        return None
    return Unit(stored['symbols'], stored['sampling'], amount_or_none(stored['period']),
                amount_or_none(stored['seconds']), stored.get('zones'))
