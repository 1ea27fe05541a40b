# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of zones share: chains, and what zones mean, by their definition."""
from itertools import product

from adaptive_reference import HABIT, PERIOD
from offline_checks import compared
from strategies import FOUR, grid
from symdp_ros import Chain, OnlineMechanism, Privacy

#: From b there is no way back to a; from d neither.
ONE_WAY = Chain({'a': ['a', 'b'], 'b': ['a', 'b', 'c'], 'c': ['c', 'd'], 'd': ['c']}, 'a')
#: Who goes to b stays there, and only c leads on: both are in one zone.
TRAP = Chain({'a': ['b', 'c'], 'b': ['b'], 'c': ['d', 'c'], 'd': {'d': 0.9, 'a': 0.1}}, 'a')
#: (chain, zones): with one-way doors, dead ends, zones of one place, and all in one zone.
ZONED = {
    'one-way': (ONE_WAY, {'A': 'ab', 'B': 'cd'}),
    'trap': (TRAP, {'A': 'bc', 'B': 'ad'}),
    'across': (TRAP, {'A': 'ac', 'B': 'bd'}),
    'alone': (ONE_WAY, {'A': 'a', 'B': 'bc', 'C': 'd'}),
    'four': (FOUR, {'one': ['s0', 's1'], 'two': ['s2', 's3']}),
    'habit': (HABIT, {'A': 'ac', 'B': 'b'}),
    'period': (PERIOD, {'A': 'ac', 'B': 'bd'}),
    'all': (FOUR, {'all': FOUR.states}),
}


def privacy_of(zones, epsilon, adjacency=1):
    """Return ε, k and zones whose states may be the letters of a string."""
    return Privacy(epsilon, adjacency, {zone: [*states] for zone, states in zones.items()})


def made(chain, zones, epsilon=2.0, adjacency=1, **options):
    """Return the policy adaptive with zones."""
    return OnlineMechanism(chain, privacy_of(zones, epsilon, adjacency), policy='adaptive',
                           **options)


def large():
    """Return a grid of 36 places and its four zones."""
    chain, zones = grid(6), {}
    for state in chain.states:
        x, y = map(int, state.split(','))
        zones.setdefault(f'{x // 3}{y // 3}', []).append(state)
    return chain, zones


def told(privacy, chain, word):
    """Return the zone word of a word."""
    last, found = privacy.zones.of(chain.initial_state), []
    for symbol in word:
        last = last if symbol is None else privacy.zones.of(symbol)
        found.append(last)
    return tuple(found)


def within(privacy, chain, zone_word, start=None):
    """
    Return for each position R_t, and the zone that a route can have there, or None.

    A zone of None in the zone word: none is told.
    """
    here, found = {chain.initial_state if start is None else start}, []
    for zone in zone_word:
        ahead = {s for r in here for s in chain.successors(r)}
        here = ahead & {*(() if zone is None else privacy.zones[zone])}
        found.append((here or ahead, zone if here else None))
        here = here or ahead
    return found


def routes(privacy, chain, zone_word):
    """Return all feasible words with the zones told wherever a route has them."""
    found = [()]
    for states, _ in within(privacy, chain, zone_word):
        found = [(*route, s) for route in found
                 for s in chain.successors(route[-1] if route else chain.initial_state)
                 if s in states]
    return found


def by_zones(privacy, chain, length):
    """Return zone word → all words that have it, unknown symbols included."""
    found = {}
    for word in product((*chain.states, None), repeat=length):
        found.setdefault(told(privacy, chain, word), []).append(word)
    return found


def assert_private_in_zones(chain, privacy, length, law, each=1):
    """
    Check all pairs of words with the same zones that differ in at most k symbols, exactly.

    :param law: word → {output: Fraction > 0}.
    :param each: one symbol of so many counts, from the first. Of the others, nothing is drawn.
    """
    pairs = 0
    for some in by_zones(privacy, chain, length).values():
        laws = {}
        for word in some:
            found = law(word)
            assert laws.setdefault(word[::each], found) == found
        pairs += compared([*laws], [*laws.values()], privacy.epsilon, privacy.adjacency)
    assert pairs or all(len(states) == 1 for states in privacy.zones.values())
