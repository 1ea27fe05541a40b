# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Amberford, an invented town of 43 streets, and where its streets lie, for drawing.

Its chain is `studies/paper/sparse.chain.yaml`: a car turns into a street that meets its own, and
cannot stay. Along the route the out-degrees are those that the digits of the paper's Table 1
imply. Each street here is straight, from (x, y) to (x, y), in units of 100 m.

`CHAIN_FILE` is another, denser town, with staying: the benchmarks measure on it.
"""
from pathlib import Path

import numpy as np

SPARSE_FILE = Path(__file__).with_name('sparse.chain.yaml')
CHAIN_FILE = Path(__file__).with_name('streets.chain.yaml')

STREETS = {
    'Prior Lane': (1.0, 11.2, 3.3, 11.25),
    'North Road': (8.6, 11.25, 13.6, 11.5),
    'North Road East': (13.6, 11.5, 19.0, 11.3),
    'Almond Street': (2.9, 9.8, 2.9, 11.25),
    'School Lane': (8.8, 10.1, 8.9, 11.25),
    'Tower Lane': (11.3, 9.9, 11.2, 11.35),
    'Church Street': (1.55, 9.75, 7.8, 9.9),
    'Cloister Street': (7.8, 9.9, 10.3, 10.15),
    'Theatre Street': (11.2, 9.9, 13.05, 9.75),
    'Linden Avenue': (13.05, 9.8, 18.4, 10.1),
    'Hill Road': (18.0, 11.35, 19.0, 7.2),
    'High Street West': (1.55, 8.3, 5.95, 8.2),
    'High Street': (5.95, 8.2, 9.6, 8.4),
    'High Street East': (11.1, 8.3, 16.5, 8.5),
    'West Gate': (1.5, 6.5, 1.6, 11.3),
    'Abbey Street': (4.3, 8.25, 4.2, 9.8),
    'Bell Lane': (5.7, 6.5, 5.9, 8.2),
    'King Street': (7.75, 6.55, 7.8, 9.9),
    'Lantern Lane': (9.6, 7.3, 9.5, 8.4),
    'Cooper Row': (11.1, 7.35, 11.1, 8.3),
    'Station Road': (13.0, 6.4, 13.05, 9.8),
    'Orchard Lane': (14.8, 8.45, 14.7, 9.9),
    'East Gate': (16.5, 6.95, 16.4, 10.0),
    'Guild Street': (9.6, 7.3, 11.15, 7.4),
    'Quay Street West': (1.5, 6.5, 6.0, 6.5),
    'Quay Street': (6.0, 6.5, 13.0, 6.4),
    'Wharf Road': (13.0, 6.4, 19.0, 7.3),
    'Weir Bridge': (2.5, 6.5, 2.3, 4.1),
    'King Bridge': (7.75, 6.5, 7.7, 3.9),
    'Ferry Road': (17.6, 7.1, 17.2, 3.65),
    'South Quay West': (1.4, 4.1, 7.7, 3.9),
    'South Quay': (7.7, 3.9, 14.7, 3.8),
    'South Quay East': (14.75, 3.8, 18.4, 3.5),
    'Weir Lane': (0.9, 0.7, 1.5, 4.1),
    'Elm Street': (4.4, 0.75, 4.3, 4.0),
    'Birch Street': (10.5, 2.35, 10.4, 3.85),
    'Hazel Street': (9.3, 0.8, 9.4, 2.35),
    'Foundry Street': (14.6, 0.85, 14.6, 3.8),
    'Canal Street': (17.2, 3.65, 18.7, 0.9),
    'Meadow Road': (4.35, 2.4, 12.0, 2.3),
    'Park Road': (12.0, 2.3, 17.9, 2.2),
    'Lower Road': (0.9, 0.7, 9.3, 0.85),
    'Lower Road East': (9.3, 0.85, 18.7, 0.9),
}
RIVER = ((-0.5, 5.7), (3, 5.15), (7, 5.5), (11, 5.0), (15, 5.35), (20.2, 4.9))

ROUTE = ('Church Street', 'Cloister Street', 'School Lane', 'North Road', 'Tower Lane',
         'Theatre Street', 'Station Road', 'Quay Street', 'King Bridge', 'South Quay',
         'Birch Street', 'Meadow Road', 'Park Road', 'Canal Street')
# The initial states: that of the chain file is the route's start.
STARTS = {'start': 'Abbey Street', 'detour': 'High Street', 'far away': 'Foundry Street'}

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
    """Return for each street those that can follow: in order those that meet it."""
    return {street: [other for other in STREETS if crossing(street, other) is not None]
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
