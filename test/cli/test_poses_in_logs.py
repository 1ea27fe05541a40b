# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp release` and `symdp learn` of recorded poses, and of messages that `--where` selects."""
from pathlib import Path

from forked_children import forked_children  # noqa: F401
from in_process import run_symdp
import numpy as np
import pytest
from recordings import fleets, own_types, record, stamped
from rosbags.typesys import get_typestore, Stores
from symdp_ros import read_chain
from symdp_ros.logs import read_log

REGIONS = ('initial_state: a\nregions:\n  a: [[0, 0], [4, 0], [4, 4], [0, 4]]\n'
           '  b: [[4, 0], [8, 0], [8, 4], [4, 4]]\n  c: [[8, 0], [12, 0], [12, 4], [8, 4]]\n')
MAP = 'initial_state: a\ntransitions: {a: [a, b], b: [a, b, c], c: [b, c]}\n'
ROOT = Path(__file__).resolve().parents[2]
XS = (1, 3, 5, 3.5, 5, 9, 9)


@pytest.fixture
def place(tmp_path):
    (tmp_path / 'rooms.yaml').write_text(REGIONS)
    (tmp_path / 'map.chain.yaml').write_text(MAP)
    store = get_typestore(Stores.LATEST)
    record(tmp_path / 'log', 'mcap', stamped(store, *((x, 1.0, 'map') for x in XS)),
           'geometry_msgs/msg/PoseStamped', topic='/pose', store=store)
    return tmp_path


def release(place, *arguments, log='log', output='out'):
    run = run_symdp('release', log, '--epsilon=1000', '--adjacency=1', '-o', output, *arguments,
                    cwd=place, COLUMNS='200')
    words = [''.join(symbol for _, symbol in read_log(path))
             for path in (place / output).glob('[!.]*')]
    return run, words


@pytest.mark.parametrize('map_, more, word', [
    (('--chain', 'rooms.yaml', '--self-loops'), (), 'aababcc'),
    (('--chain', 'map.chain.yaml', '--regions-file', 'rooms.yaml'), (), 'aababcc'),
    (('--chain', 'map.chain.yaml', '--regions-file', 'rooms.yaml'), ('--hysteresis', '0.6'),
     'aabbbcc')])
def test_release(place, map_, more, word):
    run, words = release(place, *map_, '--input', 'pose', *more)
    assert run.returncode == 0, run.stderr + run.stdout
    assert words == [word]


def test_each_log_begins_anew(place):
    """No region of one log depends on where the robot was in another."""
    store = get_typestore(Stores.LATEST)
    record(place / 'other', 'sqlite3', stamped(store, (4.2, 1.0, 'map'), (4.2, 1.0, 'map')),
           'geometry_msgs/msg/PoseStamped', topic='/pose', store=store)
    record(place / 'before', 'sqlite3', stamped(store, (3.9, 1.0, 'map')),
           'geometry_msgs/msg/PoseStamped', topic='/pose', store=store)
    run = run_symdp('release', 'before', 'other', '--epsilon=1000', '--adjacency=1', '-o', 'out',
                    '--chain',
                    'rooms.yaml', '--self-loops', '--initial-state', 'b', '--input', 'pose',
                    '--hysteresis', '1', '--keep-names', cwd=place)
    assert run.returncode == 0, run.stderr + run.stdout
    assert [symbol for _, symbol in read_log(place / 'out' / 'other.private.csv')] == ['b', 'b']


def test_other_regions_are_another_release(place):
    where = ('--chain', 'map.chain.yaml', '--regions-file', 'rooms.yaml', '--input', 'pose',
             '--ledger', 'spent', '--subject', 'r1')
    assert '1 released' in release(place, *where)[0].stdout
    assert '1 already released' in release(place, *where)[0].stdout
    (place / 'rooms.yaml').write_text(REGIONS.replace('12', '13'))
    assert '1 released' in release(place, *where)[0].stdout


def test_learn(place):
    def learn(output):
        return run_symdp('learn', 'log', '--map', 'map.chain.yaml', '--regions-file', 'rooms.yaml',
                         '--input', 'pose', '--epsilon=1000', '--adjacency=1', '--ledger',
                         'spent', '--subject', 'r', '-o', output, cwd=place)

    run = learn('learned.chain.yaml')
    # A ledger must not be where releases are.
    assert run.returncode and 'spent' in run.stderr
    (place / 'out').mkdir()
    run = learn('out/learned.chain.yaml')
    assert run.returncode == 0, run.stderr
    learned = read_chain(place / 'out' / 'learned.chain.yaml')
    assert learned.probabilities('a')['b'] == pytest.approx(2 / 3, abs=0.1)


def test_where(place):
    store = get_typestore(Stores.LATEST)
    layout = store.types['std_msgs/msg/MultiArrayLayout']([], 0)
    record(place / 'numbers', 'mcap', [
        (i, (layout, np.array(data, np.int16))) for i, data in enumerate(
            [(1, 11, 1), (2, 11, 3), (1, 11, 2), (1, 12, 3), (1, 11, 3)])],
        'std_msgs/msg/Int16MultiArray', store=store)
    run, words = release(place, '--chain', 'map.chain.yaml', '--field', 'data[2]', '--where',
                         'data[0]=1', '--where', 'data[1]=11', '--symbol-map', '1=a',
                         '--symbol-map', '2=b', '--symbol-map', '3=c', log='numbers')
    assert run.returncode == 0, run.stderr + run.stdout
    assert words == ['abc']


@pytest.mark.parametrize('arguments, problem', [
    (('--regions-file', 'rooms.yaml'), 'regions_file is not for input: region'),
    (('--hysteresis', '1'), 'hysteresis is not for input: region'),
    (('--input', 'pose', '--symbol-map', '1=a'), 'symbol_map is not for input: pose'),
    (('--input', 'pose'), 'has no positions'),
    (('--input', 'pose', '--regions-file', 'no.yaml'), 'no.yaml'),
    (('--input', 'place'), 'invalid choice'),
    (('--input', 'pose', '--regions-file', 'rooms.yaml', '--map-frame', 'odom'),
     "a pose in the frame 'map', and map_frame is 'odom'"),
    (('--input', 'pose', '--regions-file', 'rooms.yaml', '--field', 'header'),
     'leads to no position'),
    (('--field', 'header.frame_id', '--where', 'data'), 'where has the condition')])
def test_what_is_refused(place, arguments, problem):
    run, words = release(place, '--chain', 'map.chain.yaml', *arguments, *(
        () if 'pose' in arguments else ('--topic', 'pose')))
    assert run.returncode and problem in ' '.join((run.stderr + run.stdout).split())
    assert words == []


BUILDING = """name: plant
coordinate_system: cartesian_meters
lifts: {}
levels:
  L1:
    vertices: [[0, 0, 0, dock], [10, 0, 0, hall]]
    lanes: [[0, 1, {bidirectional: [4, true]}]]
"""
LAB = """  L2:
    vertices: [[0, 0, 0, lab], [10, 0, 0, roof]]
    lanes: [[0, 1, {bidirectional: [4, true]}]]
"""


@pytest.mark.parametrize('level, more, why', [
    ('', '', None), ('L1', LAB, None), ('', LAB, "does not have: '' (3 positions); it has 'L1', "),
    ('B1', '', "does not have: 'B1' (3 positions); it has 'L1' ")])
def test_a_floor_that_the_map_does_not_name(tmp_path, level, more, why):
    """No name is that of the only floor; of any other, the operator is told what was found."""
    store = own_types()
    record(tmp_path / 'log', 'mcap', fleets(store, *(
        [('r1', 0, x, 0.0, level)] for x in (0.0, 10.0, 0.0))), 'rmf_fleet_msgs/msg/FleetState',
        topic='/fleet_states', store=store)
    (tmp_path / 'plant.building.yaml').write_text(BUILDING + more)
    place = 'robots[name=r1].location'
    run = run_symdp('release', 'log', '--map', 'plant.building.yaml', '--initial-state', 'dock',
                    '--self-loops', '--topic', 'fleet_states', '--input', 'pose', '--field', place,
                    '--level-field', f'{place}.level_name', '--epsilon=1', '--adjacency=1', '-o',
                    'out', '--dry-run', cwd=tmp_path, COLUMNS='400')
    assert run.returncode == (0 if why is None else 1), run.stderr
    assert (why or '') in run.stderr
    assert ('floors' in run.stderr) == (why is not None)


GRID = 'config/depot.geojson'  # 12 m by 8 m or so


@pytest.mark.parametrize('offset, refused', [(0.0, False), (38_000.0, True), (-2_000.0, True)])
def test_poses_in_other_coordinates_than_the_map(tmp_path, offset, refused):
    """They lie in no region; a dry run says how far away they are, and refuses them."""
    store = get_typestore(Stores.LATEST)
    record(tmp_path / 'log', 'mcap', stamped(
        store, *((offset + x, 1.0, 'map') for x in (1, 2, 3))), 'geometry_msgs/msg/PoseStamped',
        topic='/pose', store=store)
    arguments = ('log', '--map', ROOT / GRID, '--initial-state', '0', '--self-loops', '--input',
                 'pose', '--epsilon=1', '--adjacency=1', '-o', 'out')
    for more in (('--dry-run',), ()):
        run = run_symdp('release', *arguments, *more, cwd=tmp_path, COLUMNS='400')
        told = run.stdout + run.stderr
        assert run.returncode == refused, told
        assert ('3 of 3 positions (100%) lie farther from the map than it is large' in told) \
            == refused
        assert ('half of them within' in told) == bool(more)
    assert (tmp_path / 'out').exists() and any((tmp_path / 'out').glob('[!.]*')) != refused
