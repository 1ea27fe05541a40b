# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""
import os
import signal

from hypothesis import HealthCheck, settings

# Nothing is timed: other tests may keep the machine busy. A failing example is printed so that it
# can be replayed.
settings.register_profile('symdp_ros', deadline=None, print_blob=True,
                          max_examples=int(os.environ.get('SYMDP_TEST_EXAMPLES', '25')),
                          suppress_health_check=[HealthCheck.too_slow,
                                                 HealthCheck.function_scoped_fixture])
settings.load_profile('symdp_ros')

# Several tests run at a time: threads that wait for each other's matrices only take their time.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

# Started in the background, this process ignores Ctrl-C, and so would the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: These wait for processes and messages; last come those that are done in milliseconds.
_FIRST = ['ros', 'launch', 'cli', 'package', 'release', 'logs']


def pytest_collection_modifyitems(items):
    """Begin with the slowest folders: several workers then end together."""
    items.sort(key=lambda item: _FIRST.index(item.path.parent.name)
               if item.path.parent.name in _FIRST else len(_FIRST))
