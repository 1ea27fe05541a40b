# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp` in the process of the tests: a process of its own imports for two seconds."""
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from symdp_ros.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
CHAIN = ROOT / 'config' / 'warehouse.chain.yaml'


def run_symdp(*arguments, cwd=ROOT, **environment):
    """Return what `subprocess.run` would: returncode, stdout and stderr."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd)
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as error:
            status = error.code
    return SimpleNamespace(returncode=status, stdout=out.getvalue(), stderr=err.getvalue())


def run_until(world, texts, *arguments):
    """
    Run a command that looks at a ROS domain, again until it prints all these texts; return that.

    On a busy machine, not all that is there is found within a command's `--seconds`.
    """
    runs = []

    def says():
        runs.append(run_symdp(*arguments))
        return all(text in runs[-1].stdout + runs[-1].stderr for text in texts)

    world.wait_until(says, lambda: f'{texts} in {runs[-1]}')
    return runs[-1]


def report(run):
    """Return the lines `name   value` of a report as a dict."""
    return {line[:20].strip(): line[20:] for line in run.stdout.splitlines()}


def end_process(*_):
    """Stand in for work of another process, which can import this module: it ends at once."""
    os._exit(3)
