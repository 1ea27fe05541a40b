# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The pass over a word, in NumPy and in C: the same bits.

Every weight, exponent and draw of both is compared byte by byte; a choice is held against
fractions; and wrong arguments raise, which in C would read outside.
"""
from fractions import Fraction
from random import Random

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from strategies import CHAINS, chains, grid
from symdp_ros import Chain, Privacy
from symdp_ros.core.offline import passes
from symdp_ros.core.offline.exponential import Exponential
from symdp_ros.core.offline.passes import in_numpy
from symdp_ros.core.offline.reachable import LoopSizes

needs_compiled = pytest.mark.skipif(passes.compiled is None, reason='installed without a compiler')
HABITS = Chain({'a': {'a': 0.7, 'b': 0.3}, 'b': {'c': 0.5, 'a': 0.25, 'b': 0.25}, 'c': ['a']}, 'a')
#: Ways out of one place, of 1 to 9 successors each.
FAN = Chain({'hub': [f'{i}' for i in range(9)],
             **{f'{i}': ['hub', *[f'{j}' for j in range(i)]] for i in range(9)}}, 'hub')
MAPS = {'ring': CHAINS['ring'], 'grid': grid(3), 'colours': grid(4, staying=False), 'fan': FAN,
        'line': Chain({f'{i}': [f'{i}', f'{i + 1}'] for i in range(60)} | {'60': ['60']}, '0'),
        'habits': HABITS}


def law_of(chain, trust, zoned, **sizes):
    zones = {'A': chain.states[::2], 'B': chain.states[1::2]}
    if len(chain) == 1:
        del zones['B']
    return Exponential(chain, Privacy(3.0, 1, zones if zoned else None), trust, Random(5),
                       sizes=LoopSizes(**sizes))


@needs_compiled
@pytest.mark.parametrize('spread_bits', [0, 1_550], ids=['exponents', 'one for each row'])
@pytest.mark.parametrize('zoned', [False, True])
@pytest.mark.parametrize('trust', [None, 1.0, 0.8], ids=['counting', 'one model', 'models'])
@pytest.mark.parametrize('name', MAPS)
def test_both_have_the_same_bits(name, trust, zoned, spread_bits):
    """Every weight, exponent and draw, of words short and long, from any block."""
    chain = MAPS[name]
    sampler = (law := law_of(chain, trust, zoned, spread_bits=spread_bits))._sampler
    for n in (1, 2, 40, 150):
        word = law._pass_word(Random(n).choices((*chain.states, None), k=n))
        bits = np.frombuffer(Random(n).randbytes(8 * n), np.uint64).copy()
        width, first = int((word.ends - word.begins).max()), n // 3
        found = []
        for module, more in ((passes.compiled, ()), (in_numpy, (sampler._tables,))):
            W, E = sampler.rows(n + 1, width, sampler.plan(n))
            W.fill(0.0)
            E.fill(0)
            whole = module.sweep(0, n, word, sampler.moves, *more, W, E)
            out, model = np.empty(n, np.int64), sampler.moves.prior.copy()
            end = module.walk(0, 0, n, sampler._chain.initial, word, bits, sampler.moves, 9, W, E,
                              model, out)
            block = np.zeros_like(W), np.zeros_like(E)
            some = module.sweep(first, n, word, sampler.moves, *more, *block)
            assert block[0][:n - first].tobytes() == W[first:n].tobytes()
            found.append((whole, end, out.tolist(), W.tobytes(), E.tobytes(), model.tobytes(),
                          some))
        assert found[0] == found[1], n


@given(st.data(), st.integers(0, 63))
def test_a_choice_is_right_or_is_not_made(data, shift):
    """Both ends of what 53 bits say must lie on the chosen part."""
    lengths = data.draw(st.lists(st.floats(1, 2, exclude_max=True), min_size=1, max_size=6))
    lengths = [length * 2.0**data.draw(st.sampled_from([0, -1, -30, -53, -60, -300]))
               for length in lengths]
    exact = [Fraction(length) for length in lengths]
    ends = np.cumsum([Fraction(0), *exact])
    near = int(data.draw(st.sampled_from(list(ends))) / ends[-1] * 2**53)
    bits = min(max(0, near + data.draw(st.integers(-64, 64)) * (1 << shift >> 6)), 2**53 - 1)
    chosen = in_numpy.interval_at(np.array(lengths), float(bits))
    if passes.compiled is not None:
        assert chosen == passes.compiled.interval_at(np.array(lengths), bits << 11)
    if chosen >= 0:
        assert ends[chosen] <= bits * ends[-1] / 2**53
        assert (bits + 1) * ends[-1] / 2**53 <= ends[chosen + 1]
    else:
        margin = Fraction(5 * len(lengths) + 20, 2**53)
        assert any(abs(end / ends[-1] - Fraction(bits, 2**53)) <= margin for end in ends[1:-1])


@needs_compiled
@given(chains(complete=False), st.sampled_from([None, 0.8]), st.booleans(), st.integers(0, 99))
def test_it_makes_no_difference_which_runs(chain, trust, zoned, seed):
    word = Random(seed).choices((*chain.states, None), k=60)
    outputs = []
    for module in (passes.compiled, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(passes, 'compiled', module)
            outputs.append(law_of(chain, trust, zoned).draw(word))
    assert outputs[0] == outputs[1]


def swept(chain=MAPS['habits'], n=6, zoned=False, trust=0.8):
    """Return the arguments of `sweep` and of `walk` for a word of n symbols."""
    sampler = (law := law_of(chain, trust, zoned))._sampler
    word = law._pass_word([*chain.states] * n)._replace(symbols=np.arange(n) % len(chain) + 1)
    word = word._replace(begins=word.begins[:n], ends=word.ends[:n])
    W, E = sampler.rows(n, int((word.ends - word.begins).max()), sampler.plan(n))
    model, bits = sampler.moves.prior.copy(), np.arange(n, dtype=np.uint64) << np.uint64(60)
    first = {'first': 0, 'last': n, 'word': word, 'moves': sampler.moves, 'W': W, 'E': E}
    return first, {'position': 0, 'first': 0, 'last': n, 'state': sampler._chain.initial,
                   'word': word, 'bits': bits, 'moves': sampler.moves, 'widest': 9, 'W': W, 'E': E,
                   'model': model, 'out': np.empty(n, np.int64)}


def with_one(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


#: What a mistake in Python could hand over: which argument, and what it becomes.
MISTAKES = {
    'rows too few': ('W', lambda W: W[:-1].copy()),
    'rows too narrow': ('W', lambda W: W[:, :-8].copy()),
    'rows of float32': ('W', lambda W: np.ones(W.shape, np.float32)),
    'rows in another order': ('W', np.asfortranarray),
    'rows with one axis': ('W', np.ravel),
    'no array': ('W', lambda W: None),
    'no tuple': ('word', list),
    'last beyond the word': ('last', lambda last: last + 1),
    'first below 0': ('first', lambda first: -1),
    'symbols of int32': ('word', lambda w: w._replace(symbols=w.symbols.astype(np.int32))),
    'places too few': ('word', lambda w: w._replace(begins=w.begins[1:], ends=w.ends[1:])),
    'a place before all states': ('word', lambda w: w._replace(begins=w.begins - 2)),
    'a place beyond all states': ('word', lambda w: w._replace(ends=w.ends + 9)),
    'weights too few': ('moves', lambda m: m._replace(weights=m.weights[:-1].copy())),
    'other lanes': ('moves', lambda m: m._replace(weights=m.weights[:, :3].copy())),
    'models too few': ('moves', lambda m: m._replace(switch=m.switch[:1].copy())),
    'offsets that descend': ('moves', lambda m: m._replace(offsets=with_one(m.offsets, 2, -5))),
    'offsets beyond the moves': ('moves', lambda m: m._replace(
        offsets=with_one(m.offsets, slice(1, None), 10**12))),
    'no states': ('moves', lambda m: m._replace(offsets=m.offsets[:0])),
    'a bit missing': ('bits', lambda bits: bits[1:].copy()),
    'bits of int64': ('bits', lambda bits: bits.astype(np.int64)),
    'no state of that number': ('state', lambda state: 10**12),
    'a position before the rows': ('position', lambda position: -1),
    'a short out': ('out', lambda out: out[1:].copy()),
    'an out that is read-only': ('out', lambda out: np.frombuffer(out.tobytes(), np.int64)),
    'another number of models': ('model', lambda model: model[:2].copy()),
    'more moves than there is room for': ('widest', lambda widest: 0)}


@needs_compiled
@pytest.mark.parametrize('zoned', [False, True])
@pytest.mark.parametrize('mistake', MISTAKES)
def test_a_mistake_in_python_raises_and_reads_nothing_outside(mistake, zoned):
    name, change = MISTAKES[mistake]
    for function, right in zip((passes.compiled.sweep, passes.compiled.walk), swept(zoned=zoned)):
        function(*right.values())
        if name in right:
            wrong = right | {name: change(right[name])}
            with pytest.raises((TypeError, ValueError, BufferError)):
                function(*wrong.values())


@needs_compiled
def test_targets_must_be_states_of_the_next_place():
    right, _ = swept()
    moves = right['moves']._replace(targets=with_one(right['moves'].targets, 0, 10**6))
    with pytest.raises(ValueError):
        passes.compiled.sweep(*(right | {'moves': moves}).values())
