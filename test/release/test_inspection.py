# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of a log before ε is spent, against counting step by step."""
from collections import Counter
from contextlib import ExitStack

from hypothesis import example, given
from hypothesis import strategies as st
import pytest
from release_settings import release_settings
from strategies import chains
from symdp_ros import Chain, Privacy
from symdp_ros.logs import LogFile
from symdp_ros.release.archives.archive import ArchiveDraft
from symdp_ros.release.archives.parquet_file import Sizes
from symdp_ros.release.draft import LogDraft
from symdp_ros.release.inspection import Inspection, Moves

LOOP = Chain({'a': ['b'], 'b': ['c', 'b'], 'c': ['a']}, 'c')


def counted(chain, words):
    """Return the steps that are no moves, and the repeats among them, one by one."""
    missing, standing = 0, Counter()
    for word in words:
        here = chain.initial_state
        for i, symbol in enumerate(word):
            if None not in (here, symbol) and symbol not in chain.successors(here):
                missing += 1
                standing[symbol] += symbol == here and i > 0
            here = symbol
    return missing, +standing


def inspected(chain, words, **settings):
    """Return what is found in a log that `split` cuts into words."""
    entries = [(i, symbol) for i, symbol in enumerate(
        symbol for word in words for symbol in (*word, 'no state'))]
    of = release_settings(chain, Privacy(1.0), unknown_symbol='split', **settings)
    draft = LogDraft(of, LogFile('log.csv', 'log.csv'), None, Moves.of(chain))
    draft.sample(entries)
    return draft.inspect()


def of_archive(walks, settings, moves, sizes=Sizes()):
    draft = ArchiveDraft(settings, LogFile('a.parquet', walks.path), None, moves, sizes=sizes)
    with ExitStack() as stack:
        draft.read(stack)
        return draft.inspect()


@given(chains(), st.data())
def test_steps_that_are_no_moves(chain, data):
    words = data.draw(st.lists(st.lists(st.sampled_from(chain.states), min_size=1, max_size=9),
                               min_size=1, max_size=4))
    found = inspected(chain, words)
    missing, standing = counted(chain, words)
    assert (found.infeasible, found.standing) == (missing, standing)
    assert (found.symbols, found.unknown) == (sum(map(len, words)) + len(words), len(words))
    assert found.names == {'no state': len(words)} and found.silent == 0


def test_an_alphabet_lacks_no_move():
    found = inspected(Chain.complete(['a', 'b'], 'a'), ['aab', 'ba'])
    assert found.infeasible == 0 and found.standing == {}


@pytest.mark.parametrize('group', [1, 3, 1000])
def test_of_an_archive(walks, group):
    """However it is stored: the steps of each route, and each unknown value."""
    sizes = Sizes(batch_rows=4)
    words = [(i, [None if s == 'x' else s for s in word] + ['none', 'B', 'B', 'a', 'a'])
             for i, word in walks.words(40)]
    settings = walks.settings()
    for start in (0, 1):
        walks.archive(words, start=start, group=group)
        found = of_archive(walks, settings, Moves.of(walks.chain), sizes)
        stays = of_archive(walks, settings, Moves.of(walks.chain, stays_only=True), sizes)
        known = [[s if s in walks.chain.states else None for s in word] for _, word in words]
        missing, standing = counted(walks.chain, known)
        assert (found.infeasible, found.standing) == (missing, standing)
        assert (stays.infeasible, stays.standing) == (0, standing)
        assert (found.unknown, found.names) == (80, {'B': 80})
        assert found.silent == sum(word.count(None) + 1 for _, word in words)
        assert found.symbols == sum(len(word) for _, word in words)


def inspection(unknown=0, silent=0, standing=0, names=None):
    return Inspection(100, unknown, silent, names or {}, standing, {'a': standing})


@pytest.mark.parametrize('found, allowed, text', [
    (inspection(), 0, None),
    (inspection(silent=99), 0, None),
    (inspection(silent=100), 1, 'none of its symbols names a state'),
    (inspection(unknown=100, names={'A': 100}), 1, "did you mean 'a'?"),
    (inspection(unknown=5), 0.05, None),
    (inspection(unknown=6), 0.05, '6 % of the symbols are positions outside all regions'),
    (inspection(unknown=6, names={'A': 4, 'zzz': 2}), 0.05,
     "6 % of the symbols name no state, such as 'A' (4 times; did you mean 'a'?), 'zzz' (2 "
     'times). Nothing was charged: correct the names (--symbol-map), or release it with '
     '--allow-unknown 0.06'),
    (inspection(standing=5), 0.05, None),
    (inspection(standing=6), 0.05, 'the robot stands still: 6 % of the symbols repeat a state '
     "that cannot follow itself on this map, such as 'a'. Nothing was charged: let states follow "
     'themselves (--self-loops), or take changes of region alone (--sampling change), or release '
     'it with --allow-unknown 0.06'),
])
def test_what_is_refused(found, allowed, text):
    problem = found.problem(LOOP, allowed)
    assert problem is None if text is None else text in problem


@given(st.integers(1, 10**7).flatmap(lambda symbols: st.tuples(
    st.just(symbols), st.integers(1, max(symbols - 1, 1)))))
@example((156250, 175))  # .00112, of which a product of floats is less than 175
def test_the_share_that_a_refusal_names_allows_it(counts):
    symbols, unknown = counts
    problem = Inspection(symbols, unknown, 0, {}, 0, {}).problem(LOOP, 0)
    if unknown < symbols:
        share = float(problem.rpartition(' ')[2])
        assert Inspection(symbols, unknown, 0, {}, 0, {}).problem(LOOP, share) is None
        assert share <= 1


def test_of_columns_of_other_types(walks):
    pa = pytest.importorskip('pyarrow')
    pq = pytest.importorskip('pyarrow.parquet')
    chain = Chain({'1': ['2'], '2': ['1', '2'], 'true': ['1']}, '1')
    settings = walks.settings(chain=chain)
    route, position = [1] * 6, pa.array(range(6), pa.uint8())
    words = {
        'numbers': pa.array([1, 1, 2, 3, 3, None], pa.int64()),
        'booleans': pa.array([True, True, False, None, None, True]),
        'nothing': pa.array([None] * 6, pa.null()),
        'no text': pa.array([b'1', b'1', b'\xff', b'\xff', b'2', b'2'], pa.binary()).view(
            pa.string()),
    }
    # unknown, silent, unknown values, missing, standing
    wanted = {
        'numbers': (2, 1, {'3': 2}, 2, {'1': 1}),
        'booleans': (1, 2, {'false': 1}, 2, {'true': 1}),
        'nothing': (0, 6, {}, 0, {}), 'no text': (2, 0, {'\ufffd': 2}, 2, {'1': 1}),
    }
    for name, symbols in words.items():
        pq.write_table(pa.table({'route': route, 'position': position, 'symbol': symbols}),
                       walks.path)
        found = of_archive(walks, settings, Moves.of(chain))
        assert (found.unknown, found.silent, found.names, found.infeasible,
                found.standing) == wanted[name], name
