# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Start one node after another, and tell how each start ended.

Run by starter.py: reads lines of JSON, [NODE, ARGUMENT, …]; answers each by a line `# STATUS`, the
exit status, or `# started`. A node that starts is stopped at once. What nodes log goes to stderr.
"""
import gc
from importlib import import_module
import json
import sys

from symdp_ros.nodes.privatizer import Privatizer
from symdp_ros.ros.process.spinning import run

CLASSES = {'privatizer': 'Privatizer', 'log_release': 'LogRelease',
           'patrol': 'Patrol', 'fleet': 'FleetNode'}
Privatizer.tells_what_remains = False  # its process would be ended at once


def main():
    for line in sys.stdin:
        node, *arguments = json.loads(line)
        made = getattr(import_module(f'symdp_ros.nodes.{node}'), CLASSES[node])
        started = []

        class Probe(made):
            def autostart(self):
                started.append(super().autostart())
                return False  # ends the run

        status = run(Probe, [node, '--ros-args', *arguments])
        print('# started' if True in started else f'# {status}', flush=True)
        del made, Probe
        gc.collect()  # what is left of a node in DDS would go on announcing itself
        gc.freeze()


if __name__ == '__main__':
    main()
