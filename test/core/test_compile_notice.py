# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""That something has to be compiled is known at once, and only where it is so."""
import numba
import pytest
import symdp_ros.core.compiled.compiling  # noqa: F401 (it watches what is compiled)
from symdp_ros.core.compiled.notice import interrupted_if, on_slow_loops


def plus_one(x):
    return x + 1


def loop():
    """Return a function as if of this package, that has not been compiled and is not kept."""
    function = type(plus_one)(plus_one.__code__, {'__name__': 'symdp_ros.test'})
    function.__module__ = 'symdp_ros.test'
    return numba.njit(function)


def test_it_is_reported_once_at_once():
    notices = []
    first, second = loop(), loop()
    with on_slow_loops(lambda sentence: notices.append(len(first.signatures))):
        assert first(1) == 2 and notices == [0]  # before it was there
        assert first(2) == 3 and second(1) == 2 and second(1.5) == 2.5
        assert notices == [0]


def test_what_is_compiled_needs_no_word():
    notices, function = [], loop()
    function(1)
    with on_slow_loops(lambda sentence: notices.append(1)):
        function(2)
        assert notices == []
        function(2.5)  # for another type
        assert notices == [1]
    loop()(1)
    assert notices == [1]


def test_what_others_compile_is_not_reported():
    notices = []
    with on_slow_loops(lambda sentence: notices.append(1)):
        assert numba.njit(plus_one)(1) == 2
    assert notices == []


def test_it_can_be_interrupted():
    asked, function = [], loop()
    with interrupted_if(lambda: len(asked) == 5 or asked.append(1)):
        with pytest.raises(KeyboardInterrupt):  # in the midst of it
            function(1)
        assert len(asked) == 5 and not function.signatures
    assert function(1) == 2
