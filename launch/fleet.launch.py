# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Start a `privatizer` for each robot of a fleet file."""
from symdp_ros.ros.process.launching import fleet_description


def generate_launch_description():
    """Declare the fleet file and how to run it as arguments."""
    return fleet_description()
