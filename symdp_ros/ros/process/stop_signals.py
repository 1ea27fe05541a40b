# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The signals that ask a node to stop; no ROS is needed to know them."""
import signal


def stop_signals() -> list[signal.Signals]:
    """Return SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP: a terminal that closes."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers
