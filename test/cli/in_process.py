# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp` in the process of the tests: a process of its own imports for two seconds."""
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
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


def report(run):
    """Return the lines `name   value` of a report as a dict."""
    return {line[:20].strip(): line[20:] for line in run.stdout.splitlines()}
