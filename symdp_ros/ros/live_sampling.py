"""
Live sampling: which of the regions that come in become symbols of the word, and when.

`message`  each message is one symbol.
`change`   each change of region is one symbol; consecutive repeats are dropped.
`period`   one symbol at every tick: the region that was read last.

The objects here are handed regions and times and call a function with each symbol. They know
nothing of ROS. A region is a state of the chain; None is an unknown one.
"""
from collections.abc import Callable

from symdp_ros.core.errors import ConfigurationError

_NOTHING = object()  # no region was read yet: unlike every region, None included


class EveryMessage:
    """One symbol for each message."""

    def __init__(self, draw: Callable[[str | None], None], *, drop_unknown: bool):
        self._draw, self._drop_unknown = draw, drop_unknown

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message."""
        if region is not None or not self._drop_unknown:
            self._draw(region)


class EveryChange:
    """One symbol for each change of region."""

    def __init__(self, draw: Callable[[str | None], None], *, drop_unknown: bool):
        self._draw, self._drop_unknown = draw, drop_unknown
        self._last_read = _NOTHING

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message."""
        if region is None and self._drop_unknown:
            return
        if region != self._last_read:
            self._last_read = region
            self._draw(region)


class EveryPeriod:
    """
    One symbol for each tick, whatever comes in.

    :param timeout: in nanoseconds; a region that was read longer ago is unknown; 0: never.
    """

    def __init__(self, draw: Callable[[str | None], None], *, timeout: int):
        self._draw, self._timeout = draw, timeout
        self.forget()

    def forget(self) -> None:
        """Forget the region that was read last: it is unknown until one is read."""
        self._region = self._read_at = None

    def read(self, region: str | None, now: int) -> None:
        """Take in the region of a message; `now` is in nanoseconds."""
        self._region, self._read_at = region, now

    def tick(self, now: int) -> None:
        """Draw a symbol; `now` is in nanoseconds."""
        if self._timeout and self._read_at is not None and now - self._read_at > self._timeout:
            self.forget()
        self._draw(self._region)


def check_sampling(chain, *, sampling: str, input_timeout: float, unknown_symbol: str) -> None:
    """
    Check that the settings of live sampling agree with one another and with the chain.

    :raises ConfigurationError: they do not.
    """
    if sampling != 'period':
        if input_timeout > 0:
            raise ConfigurationError('input_timeout needs sampling: period')
        return
    if unknown_symbol == 'drop':
        raise ConfigurationError('sampling: period and unknown_symbol: drop contradict each '
                                 'other: silence would tell that the region is unknown')
    stuck = chain.states_without_staying()
    if stuck:
        raise ConfigurationError(
            f'sampling: period needs a chain in which every state can follow itself, and '
            f'{len(stuck)} of its states cannot, such as {stuck[0]!r}: set self_loops: true')
