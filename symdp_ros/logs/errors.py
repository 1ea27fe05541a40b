"""The error of the readers and writers of logs."""
from symdp_ros.core.errors import SymdpError


class LogError(SymdpError):
    """
    A log cannot be read or written: `path` is which, `reason` is why and what to do.

    Neither carries a symbol, a stamp or a line of the log, and no other exception hangs on it
    as its cause or context: it may be printed and logged.
    """

    def __init__(self, reason, *, path=None):
        super().__init__(reason if path is None else f'{path}: {reason}')
        self.path = path
        self.reason = reason
