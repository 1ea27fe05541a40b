# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Every error that this package raises on purpose.

    SymdpError
    ├── ChainError            a chain, or a map that should become one, is not valid
    ├── PrivacyError          ε or k is not one that can be kept
    ├── ConfigurationError    a setting (policy, parameter, message field, …) is not valid
    ├── UnknownSymbolError    a word holds a symbol that is no state of the chain
    ├── StateFileError        the file that keeps a word over a restart cannot be used
    ├── LogError              a log cannot be read or written
    ├── BudgetError           a release would cost more than may be spent
    └── LedgerError           the ledger of what was spent cannot be used

Each message says what is wrong, where, and what to do; programs ask for the facts that errors
carry beside it (`path`, `line`, `state`, `setting`, `left`, …; None: not known, or there is none).
Neither contains a sensitive symbol or its position: `UnknownSymbolError` takes no arguments for
that reason.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from os import PathLike
import shlex
from typing import Any

_LONGEST = 2000  # characters of a message


class SymdpError(Exception):
    """
    Base class of all errors of this package: `PATH, line LINE: REASON`.

    The text is one line, as `printable` makes it, whatever names and texts of others it quotes:
    it can be shown on a terminal, logged and answered. So can `reason`, the text without the
    place. `path` is the file in which the problem is, as it was given; `line` counts from 1.
    """

    def __init__(self, reason: str = '', *, path: str | PathLike[str] | None = None,
                 line: int | None = None):
        self.path, self.line = path, line
        self.reason = printable(reason, _LONGEST)
        place = ', '.join(([] if path is None else [printable(path, _LONGEST // 2)])
                          + ([] if line is None else [f'line {line}']))
        super().__init__(printable(f'{place}: {self.reason}', _LONGEST) if place else self.reason)

    def __reduce__(self) -> tuple[Any, ...]:
        # To another process as it is: calling the class again would compose the text again.
        return _made_before, (type(self), self.args), vars(self)


def _made_before(kind: type[SymdpError], args: tuple[Any, ...]) -> SymdpError:
    return kind.__new__(kind, *args)


class ChainError(SymdpError, ValueError):
    """A chain is not valid; `state` is the state at which the problem was found."""

    def __init__(self, reason: str, *, state: str | None = None,
                 path: str | PathLike[str] | None = None, line: int | None = None):
        super().__init__(reason, path=path, line=line)
        self.state = state


class PrivacyError(SymdpError, ValueError):
    """A privacy parameter is not valid; `setting` is its name."""

    def __init__(self, reason: str, *, setting: str | None = None):
        super().__init__(reason)
        self.setting = setting


class ConfigurationError(SymdpError, ValueError):
    """A setting is not valid; `setting` is its name, of several the one to change."""

    def __init__(self, reason: str, *, setting: str | None = None,
                 path: str | PathLike[str] | None = None, line: int | None = None):
        super().__init__(reason, path=path, line=line)
        self.setting = setting


class UnknownSymbolError(SymdpError, ValueError):
    """A word holds a symbol that is no state of the chain; the message names neither."""

    def __init__(self) -> None:
        super().__init__(
            'the word holds a symbol that is no state of the chain; pass None for a symbol that '
            'is absent or unknown, or add the state to the chain')


class StateFileError(SymdpError):
    """A state file cannot be opened, or another process holds it."""


class LogError(SymdpError):
    """
    A log cannot be read or written: `path` is which, `reason` is why and what to do.

    Neither contains a symbol, a stamp or a line of the log, and the error has no cause and no
    context: it may be printed and logged. `line` can be where a symbol is: it is for the operator.
    """


class BudgetError(SymdpError):
    """
    A release would cost more than may be spent.

    `subject` and, where the budget is that of one log, `log_id` are whose budget it is; `limit`
    is the budget, `spent` how much of it is spent, `left` how much is not, and `cost` what the
    release would spend: ε, at least 0, exact.
    """

    def __init__(self, reason: str, *, subject: str | None = None, log_id: str | None = None,
                 limit: Fraction | None = None, spent: Fraction | None = None,
                 cost: Fraction | None = None):
        super().__init__(reason)
        self.subject, self.log_id = subject, log_id
        self.limit, self.spent, self.cost = limit, spent, cost

    @property
    def left(self) -> Fraction | None:
        """Return what is left of the budget, in ε."""
        if self.limit is None or self.spent is None:
            return None
        return max(self.limit - self.spent, Fraction(0))


class LedgerError(SymdpError):
    """
    The ledger of what was spent cannot be used.

    `damaged`: entries of it cannot be trusted, and `symdp ledger FILE --recover` mends it.
    """

    def __init__(self, reason: str, *, damaged: bool = False):
        super().__init__(reason)
        self.damaged = damaged


@contextmanager
def raising(error: Callable[[str], SymdpError], problem: str,
            caught: type[Exception] | tuple[type[Exception], ...]) -> Iterator[None]:
    """
    Turn the errors of a library into ours: `error(f'{problem}: {reason}')`.

    The new error has neither cause nor context: those could hold what a log holds.

    :param error: the class of the new error, or a function of its message.
    :param caught: the errors to turn; others, and errors of this package, pass unchanged.
    """
    try:
        yield
    except SymdpError:
        raise
    except caught as old:
        reason = getattr(old, 'strerror', None) or str(old) or type(old).__name__
        new = error(f'{problem}: {reason}')
        try:
            raise new from None
        finally:
            new.__context__ = None


def printable(text: object, most: int = 200) -> str:
    r"""
    Return a text as it can be printed, logged or answered.

    Control characters, separators of lines and paragraphs, marks that turn the direction of
    writing, all else that cannot be seen, and surrogates become escapes such as `\n`, `\x1b` and
    `\u202e`; a byte of a file name that is not UTF-8 becomes `\xff`. A backslash stays as it is.
    A longer text is cut, and its length is added at the end.

    :param text: a string, or anything with one, such as a path.
    :param most: the most characters of the result, without the mark of a cut, > 0.
    """
    text = str(text)
    pieces, size = [], 0
    for character in text[:most]:
        piece = character if character.isprintable() else _escaped(character)
        size += len(piece)
        if size > most:
            break
        pieces.append(piece)
    shown = ''.join(pieces)
    return shown if len(pieces) == len(text) else f'{shown}… (cut: {len(text):,} characters)'


def shell_word(text: object) -> str:
    """Return a text, as `printable` does, as a word of a command line that a person may copy."""
    return shlex.quote(printable(text))


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xdc80 <= code <= 0xdcff:  # how Python keeps a byte that is not UTF-8
        return f'\\x{code - 0xdc00:02x}'
    return ascii(character)[1:-1]
