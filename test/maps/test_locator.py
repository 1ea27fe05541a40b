# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From positions to regions: against a scan, on edges, in the hysteresis, odd floats, levels."""
from math import hypot, inf, nan

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from refusals import refused
import shapely
from symdp_ros import ConfigurationError
from symdp_ros.maps.pose_report import never_found_text
from symdp_ros.maps.positions import FARTHEST, Locator, Place, place_of_polygon, places_of_nodes

ODD = (nan, inf, -inf, 1e300, -1e300, 1e9, -1e9, FARTHEST * 1.001, 5e-324, -0.0, 1.8e308, 0)


def cell(x, y, size=1.0):
    return (x, y), (x + size, y), (x + size, y + size), (x, y + size)


def squares(side):
    """Return a checkerboard of polygons, 1 m each."""
    return {f'{x},{y}': place_of_polygon(cell(float(x), float(y)))
            for y in range(side) for x in range(side)}


def nodes(side):
    return places_of_nodes({f'{x},{y}': (x + 0.5, y + 0.5)
                            for y in range(side) for x in range(side)})


KINDS = {'polygons': squares(8), 'nodes': nodes(8)}


def distance(place, x, y):
    if not place.corners:
        return hypot(place.x - x, place.y - y)
    return shapely.Polygon(place.corners).distance(shapely.Point(x, y))


def scanned(places, last, x, y, level, hysteresis, limit):
    """Return the region by the rule, from the distances of all."""
    away = {name: distance(place, x, y) for name, place in places.items()
            if level is None or place.level in (None, level)}
    if last in away and away[last] <= limit + hysteresis and (
            away[last] <= min(away.values()) + hysteresis):
        return last
    nearest = min(away, key=away.get, default=None)
    return nearest if away and away[nearest] <= limit else None


LEVELS = st.sampled_from(['L1', 'L2', None])
COORDINATE = st.integers(-4, 28).map(lambda n: n / 4)


@st.composite
def disjoint_polygons(draw):
    """Return squares and triangles in cells of a grid, many of which touch."""
    number = st.integers(0, 4)
    cells = draw(st.lists(st.tuples(number, number), min_size=1, unique=True))
    corners = st.sampled_from([(0, 1, 2, 3), (0, 1, 2), (0, 1, 3), (3, 2, 1, 0), (2, 0, 3)])
    return {f'{x},{y}': place_of_polygon(tuple(cell(float(x), float(y))[i]
                                               for i in draw(corners)), draw(LEVELS))
            for x, y in cells}


@st.composite
def scattered_nodes(draw):
    points = draw(st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, unique=True))
    names = [f's{i}' for i in range(len(points))]
    levels = {name: level for name in names if (level := draw(LEVELS))}
    return places_of_nodes(dict(zip(names, points, strict=True)), levels)


@given(st.one_of(disjoint_polygons(), scattered_nodes()),
       st.lists(st.tuples(COORDINATE, COORDINATE, st.sampled_from(['L1', 'L2', 'L9', None]))),
       st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.0, 0.2, 2.0]))
def test_the_index_agrees_with_a_scan(places, poses, hysteresis, limit):
    locator = Locator(places, hysteresis=hysteresis, max_distance=limit)
    if not limit and not any(place.corners for place in places.values()):
        limit = hypot(*(np.ptp([getattr(place, axis) for place in places.values()])
                        for axis in 'xy')) or inf  # as far as the map is large
    last = None
    for x, y, level in poses:
        found = locator.locate(x, y, level)
        expected = scanned(places, last, x, y, level, hysteresis, limit)
        if found != expected:  # equally far away, or as far as the limit, up to rounding
            away, *other = (distance(places[name], x, y)
                            for name in (found, expected) if name is not None)
            assert min(abs(away - b) for b in other or [limit, limit + hysteresis]) <= 1e-9
        last = found


@given(disjoint_polygons(), COORDINATE, COORDINATE)
def test_the_region_holds_the_position(places, x, y):
    found = Locator(places).locate(x, y)
    holding = [name for name, place in places.items()
               if shapely.Polygon(place.corners).intersects(shapely.Point(x, y))]
    assert found == (holding[0] if holding else None)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('hysteresis', [0.0, 0.1, 2.0])
@pytest.mark.parametrize('limit', [0.0, 0.3])
def test_odd_positions_raise_nothing_and_change_nothing(kind, hysteresis, limit):
    locator = Locator(KINDS[kind], hysteresis=hysteresis, max_distance=limit)
    for x in (*ODD, 3.5):
        for y in (*ODD, 3.5):
            locator.reset()
            before = locator.locate(3.5, 2.5)
            found = locator.locate(x, y)
            assert found in KINDS[kind] or found is None
            if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST):
                assert found is None and locator.locate(3.5, 2.5) == before == '3,2'


def jittering(random, count, spread):
    """Yield positions around edges, corners and the outline, in groups less than spread wide."""
    centres = random.integers(-1, 10, (count, 2)) + np.where(
        random.random((count, 2)) < 0.5, 0.0, random.random((count, 2)))
    angle, radius = random.random((2, count, 20))
    radius = np.sqrt(radius) * spread / 2 * 0.999
    angle = angle * 2 * np.pi
    yield from np.stack([centres[:, :1] + radius * np.cos(angle),
                         centres[:, 1:] + radius * np.sin(angle)], axis=2).tolist()


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('limit', [0.0, 0.3])
def test_no_flicker_within_the_hysteresis(kind, limit):
    """Within one group, no region is entered again that was left; nowhere counts as a region."""
    random = np.random.default_rng(7)
    locator = Locator(KINDS[kind], hysteresis=0.2, max_distance=limit)
    changes = 0
    for group in jittering(random, 500, 0.2):
        found = [locator.locate(x, y) for x, y in group]
        entered = [b for a, b in zip(found, found[1:], strict=False) if a != b]
        assert len({found[0], *entered}) == 1 + len(entered), (group, found)
        changes += len(entered)
    assert changes > 0


@pytest.mark.parametrize('kind', KINDS)
def test_a_region_is_left_when_another_is_nearer_by_the_hysteresis(kind):
    locator = Locator(KINDS[kind], hysteresis=0.25)
    assert locator.locate(1.5, 1.5) == '1,1'
    step = 0.25 if kind == 'polygons' else 0.125  # by which the edge may be passed
    assert locator.locate(2 + step - 0.001, 1.5) == '1,1'
    assert locator.locate(2 + step + 0.001, 1.5) == '2,1'
    assert locator.locate(2 - step + 0.001, 1.5) == '2,1'
    assert locator.locate(2 - step - 0.001, 1.5) == '1,1'
    locator.reset()
    assert locator.locate(2.001, 1.5) == '2,1'


def test_outside_of_polygons_and_far_from_nodes():
    alone = {'a': place_of_polygon(cell(0.0, 0.0))}
    assert Locator(alone).locate(1.01, 0.5) is None
    near = Locator(alone, max_distance=0.5)
    assert near.locate(1.5, 0.5) == 'a' and near.locate(1.51, 0.5) is None
    late = Locator(alone, max_distance=0.5, hysteresis=0.2)
    assert late.locate(1.6, 0.5) is None and late.locate(1.5, 0.5) == 'a'
    assert late.locate(1.69, 0.5) == 'a' and late.locate(1.71, 0.5) is None
    node = places_of_nodes({'a': (0.0, 0.0)})
    assert Locator(node).locate(1e9, -1e9) == 'a'
    assert Locator(node, max_distance=2).locate(2.01, 0) is None
    assert Locator(node, max_distance=2).locate(2, 0) == 'a'


def test_a_position_on_a_shared_edge_is_in_one_region():
    places = squares(3)
    assert Locator(places).locate(1.0, 0.5) == '0,0'
    assert Locator(places).locate(1.0, 1.0) == '0,0'
    assert Locator(dict(reversed(places.items()))).locate(1.0, 1.0) == '1,1'
    locator = Locator(places)
    assert [locator.locate(x, 0.5) for x in (1.5, 1.0, 0.99, 1.0)] == ['1,0', '1,0', '0,0', '0,0']


@pytest.mark.parametrize('places', [
    {'down': place_of_polygon(cell(0.0, 0.0), 'L1'), 'up': place_of_polygon(cell(0.0, 0.0), 'L2'),
     'lift': place_of_polygon(cell(1.0, 0.0))},
    places_of_nodes({'down': (0.5, 0.5), 'up': (0.5, 0.5), 'lift': (1.5, 0.5)},
                    {'down': 'L1', 'up': 'L2'})])
def test_levels(places):
    locator = Locator(places)
    seen = [locator.locate(0.4, 0.5, level) for level in ('L1', 'L2', 'L1', None)]
    assert seen == ['down', 'up', 'down', 'down']
    assert locator.locate(1.6, 0.5, 'L2') == locator.locate(1.6, 0.5, 'L9') == 'lift'
    without = {name: place for name, place in places.items() if place.level}
    assert Locator(without).locate(0.5, 0.5, 'L9') is None
    assert Locator(without).locate(0.5, 0.5, '') is None
    assert Locator(without).locate(0.5, 0.5) in without


@given(disjoint_polygons())
def test_places_of_polygons(places):
    """The moments are those of triangles; the point is inside."""
    for place in places.values():
        polygon = shapely.Polygon(place.corners)
        assert polygon.contains(shapely.Point(place.x, place.y))
        n = len(place.corners)
        expected = (1 / 12, 0.0, 1 / 12) if n == 4 else (1 / 18, None, 1 / 18)
        xx, xy, yy = place.variance
        assert (xx, yy) == (pytest.approx(expected[0]), pytest.approx(expected[2]))
        assert xy == pytest.approx(0) if n == 4 else abs(xy) == pytest.approx(1 / 36)


def test_the_moments_of_a_shape_whose_centroid_lies_outside():
    corners = ((0., 0.), (9., 0.), (9., 9.), (0., 9.), (0., 8.), (8., 8.), (8., 1.), (0., 1.))
    shifted = tuple((x + 1e6, y - 1e6) for x, y in corners)
    random = np.random.default_rng(5).random((400_000, 2)) * 9
    inside = random[(random[:, 0] > 8) | (random[:, 1] < 1) | (random[:, 1] > 8)]
    for ring in (corners, corners[::-1], shifted):
        place = place_of_polygon(ring)
        assert shapely.Polygon(ring).contains(shapely.Point(place.x, place.y))
        sampled = np.cov(inside.T)
        assert np.allclose(place.variance, sampled[[0, 0, 1], [0, 1, 1]], atol=0.1)


def test_places_of_nodes():
    places = places_of_nodes({'a': (0, 0), 'b': (4, 0), 'c': (4, 0), 'd': (0, 1)}, {'d': 'L2'})
    assert places == {'a': Place(0.0, 0.0, (1.0, 0.0, 1.0)), 'b': Place(4.0, 0.0, (1.0, 0.0, 1.0)),
                      'c': Place(4.0, 0.0, (1.0, 0.0, 1.0)),
                      'd': Place(0.0, 1.0, (0.25, 0.0, 0.25), 'L2')}


@pytest.mark.parametrize('places, options, setting', [
    ({}, {}, None), (nodes(2), {'hysteresis': -1.0}, 'hysteresis'),
    (nodes(2), {'hysteresis': nan}, 'hysteresis'),
    (nodes(2), {'max_distance': inf}, 'max_distance')])
def test_what_is_refused(places, options, setting):
    with refused(ConfigurationError, setting=setting):
        Locator(places, **options)


def test_a_floor_without_a_name():
    """That of a map that has one alone; where it has several, no region is known."""
    one = Locator({'a': Place(0.0, 0.0, (0.25, 0.0, 0.25), 'L1'),
                   'b': Place(9.0, 0.0, (0.25, 0.0, 0.25), 'L1')})
    assert [one.locate(x, 0.0, '') for x in (0.0, 9.0, 1.0)] == ['a', 'b', 'a']
    assert one.locate(0.0, 0.0, 'B1') is None and one.unknown_levels == {'B1': 1}
    two = Locator({'a': Place(0.0, 0.0, (0.25, 0.0, 0.25), 'L1'),
                   'b': Place(9.0, 0.0, (0.25, 0.0, 0.25), 'L2')})
    assert two.locate(0.0, 0.0, '') is None and two.unknown_levels == {'': 1}
    for number in range(1000):
        two.locate(0.0, 0.0, f'B{number}')
    assert len(two.unknown_levels) == 100
    two.reset()
    assert two.unknown_levels == {} and two.locate(0.0, 0.0, 'L1') == 'a'


def test_no_region_lies_farther_away_than_the_map_is_large():
    """Nor where max_distance is not set: such positions are those of another place."""
    places = places_of_nodes({'a': (0, 0), 'b': (3, 4)})
    locator = Locator(places, hysteresis=1.0)
    assert locator.size == 5.0
    assert locator.locate(-5, 0) == 'a' and locator.locate(-5.9, 0) == 'a'
    assert locator.locate(-6.1, 0) is None and locator.locate(-5.1, 0) is None
    assert locator.locate(38_000.0, 0.0) is None
    assert Locator(places, max_distance=50_000.0).locate(38_000.0, 0.0) == 'b'
    one = Locator(places_of_nodes({'a': (1, 1)}))  # nothing to compare with
    assert one.size == 0.0 and one.locate(38_000.0, 0.0) == 'a' and not one.far


@pytest.mark.parametrize('kind', KINDS)
def test_positions_far_from_the_map_are_counted(kind):
    locator = Locator(KINDS[kind])
    for at in ((0.5, 0.5), (0.5, 0.5), (-9.0, 0.5), (30.0, 0.5), (4.0, -700.0), (nan, 0.0)):
        locator.locate(*at)
    assert (locator.positions, locator.far) == (5, 2)
    locator.reset()
    assert (locator.positions, locator.far) == (0, 0)


@pytest.mark.parametrize('kind', KINDS)
@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40),
                          st.sampled_from(['L1', 'L2', 'B1', None])), max_size=20))
def test_distances_of_positions_that_were_kept(kind, positions):
    places = {name: Place(at.x, at.y, at.variance, level, at.corners) for (name, at), level in zip(
        KINDS[kind].items(), ['L1', 'L2', 'L1', None] * 16, strict=True)}
    locator = Locator(places)
    locator.recorded = []
    for at in positions:
        locator.locate(*at)
    expected = [min(distance(place, x, y) for place in places.values() if level is None
                    or place.level in (None, level)) for x, y, level in positions]
    assert np.allclose(locator.distances(), expected)
    locator.reset()
    assert len(locator.distances()) == 0


def test_of_states_at_one_position_the_first_is_found():
    at = {'b': (2, 2), 'a': (2, 2), 'c': (8, 8), 'd': (2, 2), 'e': (8, 8)}
    locator = Locator(places_of_nodes(at, {'d': 'L2', 'b': 'L1', 'a': 'L1', 'c': 'L1'}))
    assert locator.never_found(False) == {'a': 'b', 'd': 'b', 'e': 'c'}
    # e is on every floor, and found on L2.
    assert locator.never_found(True) == {'a': 'b'}
    assert locator.locate(2.1, 1.9, 'L2') == 'd' and locator.locate(8, 8, 'L2') == 'e'
    for x, y in ((2.1, 1.9), (2.0, 2.0), (8.0, 7.0)):
        locator.reset()
        assert locator.locate(x, y) in 'bc' and locator.locate(x, y, 'L1') in 'bc'
    assert Locator(squares(2)).never_found(False) == {}


def test_of_states_at_one_position_the_one_that_is_a_move_away_is_found():
    # Both sides of a row: up by u1 and u2, down by d2 and d1.
    at = {'gate': (0, 0), 'u1': (5, 0), 'u2': (9, 0), 'end': (14, 0), 'd2': (9, 0), 'd1': (5, 0)}
    moves = {'gate': ['u1'], 'u1': ['u2'], 'u2': ['end'], 'end': ['d2'], 'd2': ['d1'],
             'd1': ['gate']}
    locator = Locator(places_of_nodes(at), moves=moves)
    assert locator.never_found(False) == {}
    there = [0, 2, 3, 5, 6, 8, 11, 13, 14, 12, 11, 9, 7.5, 6, 4, 2, 0, 4]
    found = [locator.locate(x, 0.25) for x in there]
    assert found == ['gate', 'gate', *['u1'] * 3, *['u2'] * 2, *['end'] * 3, *['d2'] * 3,
                     'd1', 'd1', 'gate', 'gate', 'u1']
    locator.reset()
    assert locator.locate(9, 0) == 'u2'  # nothing says how it came here
    # By moves of two, neither is one move away; and where both are, the first is found.
    assert [locator.locate(x, 0) for x in (0, 9)] == ['gate', 'u2']
    both = Locator(places_of_nodes(at), moves={**moves, 'end': ['u2', 'd2']})
    assert both.never_found(False) == {'d1': 'u1', 'd2': 'u2'}  # to d1, only d2 leads
    assert Locator(places_of_nodes(at)).never_found(False) == {'d2': 'u2', 'd1': 'u1'}


@given(st.data())
def test_a_state_counts_as_found_just_where_some_route_of_poses_leads_to_it(data):
    names = 'abcdef'
    at = {name: (data.draw(st.integers(0, 2)), 0) for name in names}
    moves = {name: data.draw(st.sets(st.sampled_from(names))) for name in names}
    levels = data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from(['L1', 'L2'])))
    by_level = data.draw(st.booleans())
    locator = Locator(places_of_nodes(at, levels), moves=moves, max_distance=0.1)
    never = locator.never_found(by_level)
    floors = sorted({*levels.values()}) if by_level and levels else [None]
    found = {None}
    while True:  # from every region that is found, to every place
        more = set()
        for last in found:
            for x in range(3):
                for level in floors:
                    locator.reset()
                    if last is not None:
                        locator._last = locator._names.index(last)
                    more.add(locator.locate(x, 0, level))
        if more <= found:
            break
        found |= more
    assert never.keys() == {*names} - found
    assert all(at[state] == at[instead] for state, instead in never.items())


def test_states_that_no_pose_leads_to_are_told():
    """And that floors are not told apart, where that is why."""
    at = {'hall': (2, 2), 'roof': (2, 2), 'dock': (8, 8)}
    floors = {'hall': 'L1', 'roof': 'L2', 'dock': 'L1'}
    locator = Locator(places_of_nodes(at, floors))
    assert never_found_text(locator, 'location.level_name') == ''
    told = never_found_text(locator, '')
    assert 'no pose leads to 1 state of the map' in told and "'hall' in place of 'roof'" in told
    assert 'set level_field' in told
    told = never_found_text(Locator(places_of_nodes(at)), '')
    assert "'hall' in place of 'roof'" in told and 'level_field' not in told
