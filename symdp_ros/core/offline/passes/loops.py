# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Which loops run: `kernels`, compiled, or those of `short_words`.

With several models, `model_kernels` or `short_models`: names that begin with 'model_'. Both have the same results, bit by bit. Which of them run depends on the sizes of the work alone:
in a process that has little to do, to load compiled loops takes longer than to do without, and to
compile them takes longer still.
"""
from math import inf
from typing import Any

#: Loop → seconds that it takes to compile; loading it from the disk takes `_LOADING`.
_COMPILING = {'route': 15.0, 'walk': 15.0, 'sweep': 6.0, 'count_step': 3.0,
              'model_route': 9.0, 'model_walk': 6.0, 'model_sweep': 4.0}
_MODELS = 'model_'
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
    own = name.removeprefix(_MODELS)
    total = _spent[name] + seconds
    if total > _LOADING:
        from symdp_ros.core.compiled.compiling import NotCompiledError, numba, without_compiling
        if own == name:
            from symdp_ros.core.offline.passes import kernels
        else:
            from symdp_ros.core.offline.passes import model_kernels as kernels

        compiled = getattr(kernels, own)
        if seconds == inf or numba is not None and total > _COMPILING[name]:
            return compiled(*arguments)
        if numba is not None:
            try:
                with without_compiling():
                    return compiled(*arguments)
            except NotCompiledError:
                pass
    _spent[name] = total
    if own == name:
        from symdp_ros.core.offline.passes import short_words as short
    else:
        from symdp_ros.core.offline.passes import short_models as short
    return getattr(short, own)(*arguments)
