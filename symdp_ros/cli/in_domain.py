# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What commands that join a ROS domain share."""
import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import os

from symdp_ros.errors import ConfigurationError
from symdp_ros.options import DOMAIN


def domain_of(options: argparse.Namespace) -> int:
    """Return the domain of the option, else that of the environment, else 0."""
    if options.domain is not None:
        return int(options.domain)
    return int(DOMAIN.parse(os.environ.get('ROS_DOMAIN_ID') or '0'))


@contextmanager
def needing_ros() -> Iterator[None]:
    """
    Import in here what needs ROS.

    :raises ConfigurationError: there is none.
    """
    try:
        yield
    except ImportError:
        raise ConfigurationError('ROS 2 (rclpy) is needed: source it, or use the environment '
                                 'that `make setup` makes') from None
