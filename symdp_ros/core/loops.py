# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The loops in C; None where the package was installed without a C compiler.

NumPy then computes the same, in the same order of additions: `_loops.c` names the functions.
"""
from contextlib import suppress
from importlib import import_module
from typing import Any

loops: Any = None
with suppress(ImportError):
    loops = import_module('symdp_ros.core._loops')
