# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp call` of a service that does not answer."""
import subprocess
import sys

from harness import PATIENCE, ROOT
from std_srvs.srv import Trigger


def test_a_service_that_never_answers(world):
    world.node.create_service(Trigger, 'deaf', print)  # nothing spins the node meanwhile
    done = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'call', '/deaf', '--domain',
         str(world.domain), '--timeout', '0.1'], cwd=ROOT, capture_output=True, text=True,
        timeout=PATIENCE)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr == (
        'symdp call: /deaf has not answered within 0.1 s. What was asked for may still be done; '
        'give it more --timeout\n')
