# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What others still see of a robot, logged once another process has computed it."""
from collections.abc import Mapping
import json
import subprocess
import sys
from typing import Any

from symdp_ros.analysis.remaining import VISITS

_LOOKS = 1.0  # seconds


class RemainingReport:
    """
    Has `analysis.remaining` computed, by a process of least priority, and logs it.

    It is made of the map and the settings alone. Where it cannot be computed, or takes more than
    some minutes, nothing is said.

    :param values: of the options of the node, with `protect`.
    """

    def __init__(self, node, values: Mapping[str, Any]):
        self._node, self._protect = node, values['protect']
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'symdp_ros.analysis.remaining'], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._input.write(json.dumps(dict(values)).encode() + b'\n')
        self._input.flush()  # left open: it closes when this process ends, and ends the other
        self._timer = node.create_steady_timer(_LOOKS, self._look)

    def end(self) -> None:
        """Say nothing any more."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
            self._process.kill()
            self._process.wait()
            self._input.close()
            self._output.close()

    def _look(self):
        if self._timer is None or self._process.poll() is None:
            return
        text, status = self._output.read(), self._process.returncode
        self.end()
        if status == 0:
            self._node.get_logger().info(remains(self._protect, json.loads(text)))


def remains(protect: float, remaining: Mapping[str, Any]) -> str:
    """Return what is not hidden, by the fields of `analysis.remaining.Remaining`."""
    stays = ', '.join(f'of {times * protect:g} s in {share:.0%}'
                      for times, share in zip(VISITS, remaining['found'], strict=True))
    return (f'not hidden: longer stays, and roughly where it goes. Who averages over all that is '
            f'published finds the place of a stay {stays} of all cases. Readers see a wrong place '
            f'for {remaining["wrong"]:.0%} of the time (simulated robots on this map; symdp '
            'explore shows more)')
