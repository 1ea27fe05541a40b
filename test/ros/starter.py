# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes started one after another in one process: how their starts end."""
import json
import os
from pathlib import Path
import select
import subprocess
import sys

from harness import arguments_of, free_domain, hiding, PATIENCE, ROOT
from python_path import python_path


class Starter:
    """A process that starts nodes, one after another; made anew where it has died."""

    def __init__(self, directory):
        self._directory, self._process, self._domain = directory, None, free_domain()
        for name in ('logs', 'released', 'sub'):
            (directory / name).mkdir()

    def start(self, node, *arguments, **parameters):
        """Start a node; return how it ended ('started', or its status) and what it logged."""
        log = self._directory / 'log'
        if self._process is None:
            with log.open('wb') as output:
                self._process = subprocess.Popen(
                    [sys.executable, str(Path(__file__).with_name('start_nodes.py'))],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True,
                    cwd=self._directory, env={
                        **os.environ, 'ROS_DOMAIN_ID': str(self._domain),
                        'ROS_HOME': str(self._directory / 'ros'),
                        'PYTHONPATH': python_path(ROOT)})
        known = log.stat().st_size
        print(json.dumps([node, *arguments, *arguments_of(parameters)]), file=self._process.stdin,
              flush=True)
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        answer = self._process.stdout.readline() if ready else 'no answer'
        said = log.read_bytes()[known:].decode(errors='replace')
        if not answer.startswith('#'):
            self._process.kill()
            answer = f'{answer}died with {self._process.wait()}'
            self.close()
        return answer.removeprefix('# ').strip(), said

    def refused(self, node, *arguments, **parameters):
        """Start a node that has to refuse this, with status 1; return what it logged."""
        end, said = self.start(node, *arguments, **hiding(node, arguments, parameters))
        assert end == '1' and 'Traceback' not in said, f'{end}: {said}'
        return said

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None
