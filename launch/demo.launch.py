# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot and its privatizer, on the sample warehouse; ends when one of them does."""
from symdp_ros.ros.process.launching import demo_description


def generate_launch_description():
    """Start `patrol` and `privatizer` in one namespace."""
    return demo_description()
