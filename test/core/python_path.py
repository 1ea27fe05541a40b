# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where another process looks for modules: first in some folders, then where this one does."""
import os


def python_path(*folders):
    """Return PYTHONPATH with these folders first: a ROS 2 that is sourced stands there alone."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get('PYTHONPATH')])])
