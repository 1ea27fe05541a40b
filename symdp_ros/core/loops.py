# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Loops that were compiled when the package was installed; None where there was no C compiler.

What they compute, NumPy computes without them, in the same order of additions: `_loops.c` says
where.
"""
from contextlib import suppress
from importlib import import_module
from typing import Any

loops: Any = None
with suppress(ImportError):
    loops = import_module('symdp_ros.core._loops')
