# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Which loops run: `kernels`, compiled, or those of `short_words`.

With several models (names that begin with 'model_'), `model_kernels` or `short_models`. Both have
the same results, bit by bit. Which of them run depends on the sizes of the work alone: in a
process that has little to do, to load compiled loops takes longer than to do without, and to
compile them takes longer still.
"""
from importlib import import_module
from math import inf
from typing import Any

from symdp_ros.core.offline import passes

#: Loop → seconds that it takes to compile; loading it from the disk takes `_LOADING`.
_COMPILING = {'route': 15.0, 'walk': 15.0, 'sweep': 6.0, 'count_step': 3.0,
              'model_route': 9.0, 'model_walk': 6.0, 'model_sweep': 4.0}
_LOADING = 0.3

_spent = dict.fromkeys(_COMPILING, 0.0)  # seconds in NumPy in this process, as estimated


def use_compiled() -> None:
    """Load or compile whatever runs from now on in this process, however short the words are."""
    _spent.update(dict.fromkeys(_spent, inf))


def run(name: str, seconds: float, *arguments: Any) -> Any:
    """
    Return what the loop of this name returns.

    :param seconds: what it takes in NumPy, estimated from public sizes; infinite: it cannot run
        there.
    """
    total = _spent[name] + seconds
    if total > _LOADING:
        from symdp_ros.core.compiled.compiling import NotCompiledError, numba, without_compiling

        compiled = _loop(name, 'kernels', 'model_kernels')
        if seconds == inf or numba is not None and total > _COMPILING[name]:
            return compiled(*arguments)
        if numba is not None:
            try:
                with without_compiling():
                    return compiled(*arguments)
            except NotCompiledError:
                pass
    _spent[name] = total
    return _loop(name, 'short_words', 'short_models')(*arguments)


def _loop(name: str, of_one: str, of_models: str) -> Any:
    own = name.removeprefix('model_')
    module = of_one if own == name else of_models
    import_module(f'{passes.__name__}.{module}')
    return getattr(getattr(passes, module), own)
