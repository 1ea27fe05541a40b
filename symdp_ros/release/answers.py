# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What the node `log_release` answers: one line of JSON (its keys: docs/log-release.md).

Every answer has `code`, one word, and `summary`, a sentence. All in it follows from settings, the
ledger, and names and lengths of logs, which are public; and that a log was refused, and why.
"""
from fractions import Fraction
import json
from pathlib import Path
import sys
from typing import Any

from symdp_ros.errors import printable
from symdp_ros.ledger.accounts import Account
from symdp_ros.ledger.budgets import limit
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import LogState
from symdp_ros.release.draft import KINDS
from symdp_ros.release.session import Report

_LONGEST = 2000  # characters of a text
_MOST = Fraction(sys.float_info.max)
_SKIPPED = {LogState.RECORDING: 'recording', LogState.ARCHIVE: 'archive'}


def answer(code: str, summary: str, **more: Any) -> str:
    """Return an answer."""
    return json.dumps({'code': code, 'summary': printable(summary, _LONGEST), **more},
                      ensure_ascii=False)


def status_answer(account: Account, is_running: bool) -> str:
    """Return the answer of `~/status`."""
    return answer(
        'ok', f'{account}{", no limit" if account.budget is None else ""}; '
        f'logs released: {account.logs}; {"a" if is_running else "no"} release is running',
        release_running=is_running, logs_released=account.logs, subject=_of_subject(account))


def release_answer(report: Report, ledger: Ledger, *, subject: str, settings: str,
                   budget: float, directory: Path) -> str:
    """
    Return the answer of `~/release`.

    :param settings: the digest of those that the logs were released with.
    :param budget: what one log may ever spend; 0.0: no limit.
    :param directory: that of the releases, a real path.
    """
    account = ledger.account(subject)
    most, total = limit('budget', budget), Fraction(0)
    logs = list[dict[str, Any]]()
    for outcome in report.outcomes:
        if outcome.kind not in KINDS[:2]:
            logs.append(_not_released(outcome.log_id, outcome.kind, outcome.code, outcome.reason))
            continue
        cost = Fraction(0)
        if outcome.kind == 'released':
            charge = ledger.find(subject, outcome.log_id, settings)
            assert charge is not None
            cost = ledger.cost(charge)
        spent = account.spent(outcome.log_id)
        total += cost
        logs.append({
            'log': outcome.log_id, 'outcome': outcome.kind.replace(' ', '_'),
            'releases': [printable(path.name if path.parent == directory else path, _LONGEST)
                         for path in outcome.files], 'symbols': outcome.length,
            'epsilon_now': _number(cost), 'epsilon_spent': _number(spent),
            'epsilon_left': None if most is None else _number(max(most - spent, Fraction(0)))})
    logs += [_not_released(log.name, 'skipped', _SKIPPED[log.state], log.reason)
             for log in report.skipped]
    return answer(
        'stopped' if report.stopped else 'ok' if report.ok else 'incomplete', str(report),
        epsilon_now=_number(total), subject=_of_subject(account), logs=logs,
        problems=[printable(problem, _LONGEST) for problem in report.problems])


def _not_released(log: str, outcome: str, code: str, reason: str) -> dict[str, Any]:
    return {'log': log, 'outcome': outcome, 'code': code,
            'reason': printable(reason, _LONGEST)}


def _of_subject(account: Account) -> dict[str, Any]:
    """Return what a subject has spent, and what is left."""
    return {
        'name': printable(account.subject), 'epsilon_spent': _number(account.counted),
        'epsilon_budget': _number(account.budget), 'epsilon_left': _number(account.left),
        'accounting': 'pure' if account.delta is None else 'zcdp',
        'delta': _number(account.delta),
        'counted_for': None if account.unit is None else str(account.unit)}


def _number(amount: Fraction | None) -> float | None:
    return None if amount is None else float(min(amount, _MOST))
