# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a demo: processes that end with it."""
import json
import os
import signal
import subprocess
import sys

from symdp_ros.errors import SymdpError
from symdp_ros.maps.chain_file import chain_text

_PATIENCE = 60.0  # seconds for a node to end


class DemoError(SymdpError):
    """The demo cannot start, or one of its processes failed."""


#: Runs a module as `python -m` does, until the process that started it ends, however it ends.
_NODE = """
import ctypes, os, runpy, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
demo, module = int(sys.argv.pop(1)), sys.argv.pop(1)
if os.getppid() == demo:
    runpy.run_module(module, run_name='__main__', alter_sys=True)
"""


def patrol_file(graph, settings, folder):
    """
    Return the parameters of a robot that stays in a place for a while.

    :param graph: where it names probabilities, it says itself how long robots stay.
    :param settings: of the privatizer.
    """
    walk = {'period': settings['report_period']}
    of_map = {name: settings[name] for name in (
        'chain_file', 'initial_state', 'self_loops', 'level', 'graph', 'prune')}
    if 'stay' not in settings:
        return of_map | walk
    path = os.path.join(folder, 'patrol.chain.yaml')
    with open(path, 'w') as file:
        file.write(chain_text(graph.with_stay(1 - settings['report_period'] / settings['stay'])))
    return {'chain_file': path, 'initial_state': settings['initial_state']} | walk


class NodeProcess:
    """
    A node of this package in a process of its own, stopped at the end of the context.

    :param work: folder of its log and state, which end with the demo.
    """

    def __init__(self, name, work, parameters, namespace):
        self.name = name
        self._log = open(os.path.join(work, name + namespace.replace('/', '_')), 'w+b')
        # json.dumps quotes strings that YAML would read as numbers, and writes true and false.
        arguments = [part for name, value in parameters.items()
                     for part in ('-p', f'{name}:={json.dumps(value)}')]
        self._process = subprocess.Popen(
            [sys.executable, '-c', _NODE, str(os.getpid()), f'symdp_ros.nodes.{name}',
             '--ros-args', '-r', f'__ns:={namespace}', *arguments],
            env={**os.environ, 'ROS_HOME': work}, stdout=self._log, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True)  # Ctrl+C reaches this process alone; it stops the others

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def check(self, running=False):
        """
        Raise where the process ended with a problem, or at all while it should be running.

        :raises DemoError: with what the process printed.
        """
        status = self._process.poll()
        if status is None and running or status == 0 and not running:
            return
        self._log.seek(0)
        print(self._log.read().decode(errors='replace').strip(), file=sys.stderr)
        raise DemoError(f'{self.name} ended with status {status}, after the lines above')
