# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets of subjects and logs, as a caller names them."""
from dataclasses import dataclass
from fractions import Fraction
import json
from math import isfinite
from pathlib import Path

from symdp_ros.errors import BudgetError, shell_word
from symdp_ros.ledger.accounts import Account, accounting_text
from symdp_ros.ledger.entry import as_text, Entry, written
from symdp_ros.maps.reports import as_fraction

ACCOUNTINGS = ('pure', 'zcdp')
MOST_DELTA = 0.01


@dataclass(frozen=True)
class NamedBudget:
    """
    The budget of a subject and its accounting, as a caller names them.

    :param budget: None: what is stored is left.
    :param accounting: 'pure' or 'zcdp'; '' leaves what is stored.
    :param delta: δ of 'zcdp'; None: another accounting.
    """

    budget: Fraction | None
    accounting: str
    delta: Fraction | None

    @classmethod
    def of(cls, subject_budget: float, accounting: str, delta: float) -> 'NamedBudget':
        """
        Return what the options name; a `subject_budget` of 0.0, and 'pure' without one, name none.

        :raises BudgetError: one of them is out of range, or they do not go together.
        """
        budget, at = limit('subject_budget', subject_budget), checked_delta(accounting, delta)
        return cls(budget, '' if budget is None and at is None else accounting, at)

    @property
    def is_given(self) -> bool:
        """Return whether it names anything."""
        return self.budget is not None or self.accounting != ''

    def adds_to(self, stored: Account) -> bool:
        """Return whether it names what is not stored yet."""
        return (self.budget is not None and stored.budget is None
                or self.accounting != '' and not stored.has_accounting)

    def differs_from(self, stored: Account) -> bool:
        """Return whether something else is stored."""
        return (self.budget is not None and stored.budget not in (None, self.budget)
                or self._has_other_accounting(stored) and stored.has_accounting)

    def _has_other_accounting(self, stored: Account) -> bool:
        return self.accounting != '' and stored.delta != self.delta

    def entry(self, stored: Account) -> Entry:
        """Return an entry that stores it, with what is stored already."""
        return budget_entry(stored.subject, stored.budget or self.budget,
                            stored.delta if stored.has_accounting else self.delta)

    def check(self, stored: Account, ledger: Path) -> None:
        """
        Check that nothing else is stored.

        :raises BudgetError: it is.
        """
        if not self.differs_from(stored):
            return
        wanted = stored.budget if self.budget is None else self.budget
        was, now = as_text(stored.budget or Fraction(0)), as_text(wanted or Fraction(0))
        advice = options = ''
        if self._has_other_accounting(stored):
            was, now = (f'{amount} ({accounting_text(delta)})' for amount, delta in (
                (was, stored.delta), (now, self.delta)))
            advice = 'name that accounting, '
            options = f' --accounting {self.accounting}' + (
                '' if self.delta is None else f' --delta {float(self.delta):g}')
        raise BudgetError(
            f'the subject_budget of {stored.subject!r} is {was} in the ledger, not {now}: leave '
            f'it out, {advice}or change it with symdp ledger {shell_word(ledger)} --set-budget '
            f'{shell_word(stored.subject)} {as_text(wanted or Fraction(0))}{options}',
            subject=stored.subject, limit=stored.budget or Fraction(0))


def budget_entry(subject: str, budget: Fraction | None, delta: Fraction | None) -> Entry:
    """Return an entry that sets a budget (None: no limit), and δ (None: accounting is pure)."""
    return Entry(0, 'budget', subject, epsilon=written(budget or Fraction(0)),
                 description=json.dumps({} if delta is None else {'delta': written(delta)}))


def limit(name: str, budget: float) -> Fraction | None:
    """
    Return a budget exactly, or None if it is 0.0: no limit.

    :raises BudgetError: it is negative or not finite.
    """
    if not (isfinite(budget) and 0 <= budget):
        raise BudgetError(f'{name} is {budget}: it must be a finite number, at least 0')
    return as_fraction(budget) if budget > 0 else None


def checked_delta(accounting: str, delta: float) -> Fraction | None:
    """
    Return δ exactly, or None if accounting is not zcdp.

    :raises BudgetError: it is out of range, or the two do not go together.
    """
    if accounting not in ('', *ACCOUNTINGS):
        raise BudgetError(f'accounting is {accounting!r}: it must be one of '
                          f'{", ".join(ACCOUNTINGS)}')
    if accounting != 'zcdp':
        if delta:
            raise BudgetError('delta is for accounting: zcdp alone: leave it out')
        return None
    if not 0 < delta <= MOST_DELTA:
        raise BudgetError('accounting: zcdp needs delta, the chance that ε does not hold: above 0 '
                          f'and at most {MOST_DELTA}, such as 1e-6; it is {delta:g}')
    return as_fraction(delta)
