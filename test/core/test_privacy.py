# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ε and k: what is accepted, what is refused by name, and what ε/k is exactly."""
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from math import copysign, inf, nan

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from refusals import refused
from strategies import COMPLETE
from symdp_ros import (ChainError, OfflineMechanism, OnlineMechanism, Privacy, PrivacyError,
                       SymdpError)


@pytest.mark.parametrize('epsilon, adjacency, stored', [
    (0, 1, (0.0, 1)), (0.0, 1, (0.0, 1)), (-0.0, 1, (0.0, 1)), (2, 3, (2.0, 3)),
    (1e-300, 1, (1e-300, 1)), (1e300, 10**30, (1e300, 10**30)), (Fraction(1, 4), 1, (0.25, 1)),
    (np.float64(0.5), np.int64(2), (0.5, 2)), (np.float32(0.5), np.uint8(2), (0.5, 2)),
    (np.int32(3), 1, (3.0, 1)),
])
def test_accepts(epsilon, adjacency, stored):
    privacy = Privacy(epsilon, adjacency)
    assert (privacy.epsilon, privacy.adjacency) == stored
    assert type(privacy.epsilon) is float and type(privacy.adjacency) is int
    assert copysign(1, privacy.epsilon) == 1
    assert privacy == Privacy(*stored) and hash(privacy) == hash(Privacy(*stored))


def test_adjacency_is_one_unless_given():
    assert Privacy(2.0) == Privacy(2.0, 1) == Privacy(epsilon=2, adjacency=1)


@pytest.mark.parametrize('epsilon', [
    nan, inf, -inf, -1, -1e-300, np.float64('nan'), True, False, np.bool_(True), '1', '', None,
    b'1', [1], 1j, Decimal('0.1'), 10**400, -10**400, Fraction(-1, 3),
    pytest.param(10**5000, id='more digits than Python prints')])
def test_refuses_epsilon(epsilon):
    with refused(PrivacyError, setting='epsilon'):
        Privacy(epsilon)


def test_what_is_said_of_a_wrong_epsilon():
    with pytest.raises(PrivacyError, match='^epsilon must be finite and at least 0, not -1.0$'):
        Privacy(-1)


@pytest.mark.parametrize('adjacency', [
    0, -1, -10**400, True, False, np.bool_(True), 1.0, 1.5, nan, inf, '1', None, [1],
    Fraction(2), Decimal(1)])
def test_refuses_adjacency(adjacency):
    with refused(PrivacyError, setting='adjacency'):
        Privacy(1.0, adjacency)


def test_errors_are_value_errors_of_this_package():
    assert issubclass(PrivacyError, SymdpError) and issubclass(PrivacyError, ValueError)


@pytest.mark.parametrize('name', ['epsilon', 'adjacency'])
def test_frozen(name):
    privacy = Privacy(1.0)
    with pytest.raises(FrozenInstanceError):
        setattr(privacy, name, 2)
    assert privacy == Privacy(1.0, 1)


@pytest.mark.parametrize('epsilon, adjacency, exact', [
    (0.0, 7, Fraction(0)),
    (2.0, 3, Fraction(2, 3)),
    (0.1, 1, Fraction(1, 10)),                       # the binary 0.1 is larger
    (0.1, 3, Fraction(1, 30)),
    (0.3, 1, Fraction(5404319552844595, 2**54)),     # the binary 0.3 is smaller
])
def test_epsilon_per_symbol(epsilon, adjacency, exact):
    assert Privacy(epsilon, adjacency).epsilon_per_symbol == exact


@given(st.floats(0, allow_infinity=False, allow_nan=False), st.integers(1, 10**6))
def test_epsilon_per_symbol_is_below_both_readings(epsilon, adjacency):
    loss = Privacy(epsilon, adjacency).epsilon_per_symbol * adjacency
    readings = {Fraction(*epsilon.as_integer_ratio()), Fraction(repr(epsilon))}
    assert loss <= min(readings) and loss in readings


@pytest.mark.parametrize('make', [OnlineMechanism, OfflineMechanism])
@pytest.mark.parametrize('privacy, text', [
    (2.0, 'privacy is the number 2.0: pass Privacy(2.0)'), (1, 'pass Privacy(1)'),
    (None, 'of type NoneType: pass Privacy(epsilon)'), ('2', 'of type str: pass Privacy(epsilon)'),
    ((2.0, 1), 'or Privacy(epsilon, adjacency)'), (True, 'of type bool')])
def test_a_mechanism_explains_how_epsilon_is_passed(make, privacy, text):
    with refused(PrivacyError, text, setting='privacy'):
        make(COMPLETE, privacy)


@pytest.mark.parametrize('make', [OnlineMechanism, OfflineMechanism])
@pytest.mark.parametrize('chain', [{'a': ['a']}, 'a.yaml', None])
def test_a_mechanism_explains_how_a_chain_is_passed(make, chain):
    with refused(ChainError, 'pass Chain'):
        make(chain, Privacy(1.0))
