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

Each message says what is wrong, where, and what to do. No message contains a sensitive
symbol or its position: `UnknownSymbolError` takes no arguments for that reason.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike

from symdp_ros.core.printable import printable

_LONGEST = 2000  # characters of a message


class SymdpError(Exception):
    """
    Base class of all errors of this package.

    The text is one line, as `printable` makes it, whatever names and texts of others it quotes:
    it can be shown on a terminal, logged and answered.
    """

    def __init__(self, message: str = ''):
        super().__init__(printable(message, _LONGEST))


class ChainError(SymdpError, ValueError):
    """
    A chain is not valid.

    `state` is the state at which the problem was found, or None.
    """

    def __init__(self, message: str, *, state: str | None = None):
        super().__init__(message)
        self.state = state


class PrivacyError(SymdpError, ValueError):
    """A privacy parameter is not valid."""


class ConfigurationError(SymdpError, ValueError):
    """A setting is not valid."""


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
    context: it may be printed and logged. `reason` and the text of the error are
    as `printable` makes them, whatever names of files, topics and types they quote.
    """

    def __init__(self, reason: str, *, path: str | PathLike[str] | None = None):
        self.path = path
        self.reason = printable(reason, _LONGEST // 2)
        super().__init__(self.reason if path is None else
                         f'{printable(path, _LONGEST // 2)}: {self.reason}')


class BudgetError(SymdpError):
    """A release would cost more than may be spent."""


class LedgerError(SymdpError):
    """The ledger of what was spent cannot be used."""


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
