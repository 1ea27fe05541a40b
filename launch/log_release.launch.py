# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Start `log_release`: logged patrols are released on a service call."""
from symdp_ros.ros.process.launching import launch_description


def generate_launch_description():
    """Declare every parameter and topic as an argument; an empty one is left to params_file."""
    return launch_description('log_release')
