# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The loops of the online mechanism in C; `batch_in_numpy` and `values_in_numpy` are the same."""
from contextlib import suppress
from importlib import import_module
from typing import Any

#: the module; None: the package was installed without a compiler
compiled: Any = None
with suppress(ImportError):
    compiled = import_module('symdp_ros.core.online._online')
