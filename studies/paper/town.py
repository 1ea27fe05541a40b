# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Amberford, an invented town of 43 streets: where its streets lie, for drawing.

The chain itself is `studies/paper/streets.chain.yaml`: a car on a street stays on it, or turns
into one that meets it. Each street here is straight, from (x, y) to (x, y), in units of 100 m.
"""
from pathlib import Path

import numpy as np

CHAIN_FILE = Path(__file__).with_name('streets.chain.yaml')

STREETS = {
    'North Road': (0.6, 11.3, 19.0, 11.6),
    'Almond Street': (2.9, 9.9, 2.9, 11.35),
    'Chapel Lane': (5.6, 10.0, 5.7, 11.4),
    'School Lane': (8.8, 10.1, 8.9, 11.45),
    'Tower Lane': (11.3, 10.0, 11.2, 11.5),
    'Church Street': (1.6, 9.85, 10.2, 10.1),
    'Theatre Street': (10.2, 10.1, 12.2, 9.8),
    'Linden Avenue': (12.2, 9.8, 18.6, 10.2),
    'Hill Road': (17.9, 11.6, 18.9, 7.2),
    'Market Row': (5.9, 9.15, 7.8, 9.2),
    'Pump Court': (14.77, 9.2, 16.0, 9.25),
    'High Street': (0.8, 8.3, 17.0, 8.5),
    'West Gate': (1.5, 6.5, 1.6, 11.3),
    'Mill Lane': (3.3, 6.5, 3.4, 8.3),
    'Abbey Street': (4.3, 8.3, 4.2, 11.35),
    'Bell Lane': (6.0, 6.5, 5.9, 9.2),
    'King Street': (7.7, 2.35, 7.8, 10.0),
    'Lantern Lane': (9.6, 7.3, 9.5, 10.1),
    'Cooper Row': (11.1, 6.55, 11.2, 8.4),
    'Station Road': (13.0, 2.3, 13.1, 11.5),
    'Orchard Lane': (14.8, 8.45, 14.7, 11.5),
    'East Gate': (16.5, 6.95, 16.4, 11.55),
    'Weaver Lane': (3.4, 7.4, 6.0, 7.45),
    'Guild Street': (9.6, 7.3, 13.1, 7.5),
    'Quay Street': (1.2, 6.5, 14.0, 6.55),
    'Wharf Road': (14.0, 6.55, 19.2, 7.3),
    'Weir Bridge': (2.5, 6.5, 2.3, 4.1),
    'Ferry Road': (17.6, 7.1, 17.2, 3.65),
    'South Quay': (1.4, 4.1, 18.4, 3.6),
    'Weir Lane': (0.9, 0.7, 1.6, 4.1),
    'Elm Street': (3.5, 0.7, 3.4, 4.05),
    'Ash Street': (4.9, 0.75, 5.0, 2.4),
    'Allotment Way': (4.95, 1.5, 7.4, 1.55),
    'Birch Street': (6.2, 2.35, 6.1, 4.0),
    'Brewery Lane': (10.5, 2.3, 10.6, 3.85),
    'Hazel Street': (9.3, 0.8, 9.4, 2.35),
    'Nursery Street': (9.35, 1.5, 14.6, 1.6),
    'Foundry Street': (14.6, 0.85, 14.7, 3.7),
    'Gasworks Lane': (16.2, 0.9, 16.1, 2.25),
    'Canal Street': (16.4, 3.65, 18.7, 0.9),
    'Meadow Road': (2.2, 2.4, 12.0, 2.3),
    'Park Road': (12.0, 2.3, 18.0, 2.2),
    'Lower Road': (0.6, 0.7, 19.0, 0.9),
}
RIVER = ((-0.5, 5.7), (3, 5.15), (7, 5.5), (11, 5.0), (15, 5.35), (20.2, 4.9))

ROUTE = ('Abbey Street', 'Church Street', 'King Street', 'Quay Street', 'Weir Bridge',
         'South Quay', 'Birch Street', 'Meadow Road', 'Park Road', 'Canal Street', 'South Quay',
         'Ferry Road', 'Wharf Road', 'East Gate')
# The initial states: that of the chain file is the route's start.
STARTS = {'start': 'High Street', 'detour': 'Lantern Lane', 'far away': 'Foundry Street'}

_REACH = 0.15  # how far beyond its end a street still meets another
_STUB = 0.45   # drawn of a street that is left where it was entered


def ends(street):
    """Return both ends of a street: two arrays (x, y)."""
    x, y, to_x, to_y = STREETS[street]
    return np.array((x, y)), np.array((to_x, to_y))


def crossing(street, other):
    """Return the point (x, y) where two streets meet, or None."""
    (a, b), (c, d) = ends(street), ends(other)
    directions = np.column_stack([b - a, c - d])
    if street == other or abs(np.linalg.det(directions)) < 1e-9:
        return None
    along = np.linalg.solve(directions, c - a)
    reach = _REACH / np.hypot(*directions)
    return a + along[0] * (b - a) if np.all((-reach < along) & (along < 1 + reach)) else None


def moves():
    """Return for each street those that can follow: itself, and in order those that meet it."""
    return {street: [street, *(other for other in STREETS if crossing(street, other) is not None)]
            for street in STREETS}


def drive(initial_state, word):
    """
    Return the pieces of a drive along the streets, one for each symbol that is seen on the map.

    :return: tuples (t, points): the piece of the symbol at position t (−1: the initial state),
        points of shape (2 or 3, 2).
    """
    pieces, here = [], sum(ends(initial_state)) / 2
    runs = [[initial_state, [-1]]]
    for t, street in enumerate(word):
        if street == runs[-1][0]:
            runs[-1][1].append(t)
        else:
            runs.append([street, [t]])
    for (street, positions), after in zip(runs, [*runs[1:], None], strict=True):
        there = sum(ends(street)) / 2 if after is None else crossing(street, after[0])
        if np.hypot(*(there - here)) < 1e-6:
            far = max(ends(street), key=lambda end: np.hypot(*(end - here)))
            stub = here + _STUB * (far - here) / np.hypot(*(far - here))
            pieces += [(t, np.array([here, stub, here])) for t in positions]
        else:
            cuts = np.linspace(here, there, len(positions) + 1)
            pieces += [(t, cuts[i:i + 2]) for i, t in enumerate(positions)]
        here = there
    return pieces
