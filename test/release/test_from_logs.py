# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From logs of many robots to an archive (`symdp table`), and on to its release."""
from fractions import Fraction
import os
import random
import shutil
import stat

from in_process import end_process, run_symdp
from patrol_bags import patrol, write_bag
import pytest
from recordings import record, stamped
from rosbags.typesys import get_typestore, Stores
from symdp_ros.errors import LedgerError, SymdpError
from symdp_ros.ledger.ledger import Ledger

pq = pytest.importorskip('pyarrow.parquet', reason='archives need pyarrow')

from symdp_ros.release.archives import from_logs  # noqa: E402, I100

MAP = 'initial_state: a\ntransitions: {a: [a, b], b: [a, b, c], c: [b, c]}\n'
REGIONS = ('initial_state: a\nregions:\n  a: [[0, 0], [4, 0], [4, 4], [0, 4]]\n'
           '  b: [[4, 0], [8, 0], [8, 4], [4, 4]]\n')
SECOND = 10**9


@pytest.fixture
def fleet(tmp_path, monkeypatch):
    """
    Make logs of two robots, in the working directory; of r2 two overlap in time.

    They are read in this process: others import for a second.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('os.cpu_count', lambda: 1)
    (tmp_path / 'map.chain.yaml').write_text(MAP)
    logs = tmp_path / 'logs'
    for folder in 'r1/day=1', 'robot=r2':
        (logs / folder).mkdir(parents=True)
    write_bag(logs / 'r1' / 'night', 'mcap', patrol('aab', 10**12))
    write_bag(logs / 'r1' / 'day=1' / 'noon', 'sqlite3', patrol('abbc', 2 * 10**12))
    write_text(logs / 'robot=r2' / 'one.csv', 'aabb', 100)
    write_text(logs / 'robot=r2' / 'two.csv', 'ab?', 102)
    return logs


@pytest.fixture
def processes(monkeypatch, fleet):
    """Read logs in two processes."""
    monkeypatch.setattr('os.cpu_count', lambda: 2)


def write_text(path, word, start):
    path.write_text('stamp,symbol\n' + ''.join(
        f'{start + i},{"" if symbol == "?" else symbol}\n' for i, symbol in enumerate(word)))


def routes(dataset, robot):
    """Return route → (symbols, stamps) of a robot, after checking its rows."""
    found = {}
    table = pq.read_table(dataset / f'subject={robot}' / 'routes.parquet')
    assert table.column_names[:4] == ['route', 'position', 'stamp', 'symbol']
    for route, position, stamp, symbol in zip(*(
            table.column(name).cast('int64').to_pylist() if name == 'stamp'
            else table.column(name).to_pylist()
            for name in ('route', 'position', 'stamp', 'symbol')), strict=True):
        symbols, stamps = found.setdefault(route, ([], []))
        assert position == len(symbols)
        symbols.append(symbol)
        stamps.append(stamp)
    return found


def seconds(first, count, step=SECOND):
    return list(range(first, first + count * step, step))


@pytest.mark.usefixtures('processes')
def test_every_log_becomes_a_route_of_its_robot(fleet):
    done = run_symdp('table', 'logs', '-o', 'walks', cwd=fleet.parent)
    assert done.returncode == 0, done.stderr
    assert 'walks: 14 symbols of 4 routes of 2 robots' in done.stdout
    dataset = fleet.parent / 'walks'
    assert routes(dataset, 'r1') == {
        'day=1/noon': (list('abbc'), seconds(2 * 10**12, 4)),
        'night': (list('aab'), seconds(10**12, 3))}
    assert routes(dataset, 'r2') == {
        'one.csv': (list('aabb'), seconds(100 * SECOND, 4)),
        'two.csv': (['a', 'b', ''], seconds(102 * SECOND, 3))}
    assert stat.S_IMODE(os.stat(dataset).st_mode) == 0o700  # it holds the true routes
    assert sorted(path.name for path in fleet.parent.iterdir()) == [
        'logs', 'map.chain.yaml', 'walks']


@pytest.mark.parametrize('rule, symbols, stamps', [
    ('change', ['a', 'b'], [100, 102]),
    ('period', ['a', 'a', 'b'], [100, 101.5, 103])])
def test_symbols_are_sampled_as_those_of_logs(fleet, rule, symbols, stamps):
    period = () if rule == 'change' else ('--period', '1.5')
    done = run_symdp('table', 'logs/robot=r2', '--subject', 'r2', '-o', 'walks', '--sampling',
                     rule, *period, cwd=fleet.parent)
    assert done.returncode == 0, done.stderr
    assert routes(fleet.parent / 'walks', 'r2')['one.csv'] == (
        symbols, [int(stamp * SECOND) for stamp in stamps])


@pytest.mark.usefixtures('processes')
def test_stamps_and_values_of_random_logs(fleet, tmp_path):
    """Many logs, more than are read ahead, come in their order; a row group may end anywhere."""
    shutil.rmtree(fleet)
    words, chooser = {}, random.Random(7)
    for number in range(23):
        word = chooser.choices('abc', k=chooser.randrange(1, 9))
        (fleet / 'r1').mkdir(parents=True, exist_ok=True)
        write_text(fleet / 'r1' / f'{number:02d}.csv', word, 10 * number)
        words[f'{number:02d}.csv'] = (word, seconds(10 * number * SECOND, len(word)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_logs, '_GROUP_ROWS', 10)
        robots, _ = from_logs.robots_in(fleet)
        from_logs.write_table(robots, from_logs.TableSettings(), tmp_path / 'walks')
    assert routes(tmp_path / 'walks', 'r1') == words
    assert pq.ParquetFile(tmp_path / 'walks/subject=r1/routes.parquet').num_row_groups > 3


def test_its_release_is_charged_to_each_robot_by_its_stamps(fleet):
    here = fleet.parent
    assert run_symdp('table', 'logs', '-o', 'walks', cwd=here).returncode == 0
    done = run_symdp('release', 'walks', '-o', 'private.parquet', '--map', 'map.chain.yaml',
                     '--epsilon', '1', '--adjacency', '1', '--ledger', 'spent.ledger', cwd=here)
    assert done.returncode == 0, done.stdout + done.stderr
    with Ledger(here / 'spent.ledger') as ledger:
        assert {name: ledger.spent(name) for name in ledger.subjects()} == {
            'r1': Fraction(1), 'r2': Fraction(2)}  # of r2, two routes show one moment
    released = pq.read_table(here / 'private.parquet')
    assert set(released.column_names) == {'route', 'position', 'symbol', 'subject'}
    assert released.num_rows == 14


def test_poses_become_regions_of_the_map(fleet):
    store, here = get_typestore(Stores.LATEST), fleet.parent
    (here / 'rooms.yaml').write_text(REGIONS)
    for robot, x in ('r1', 1.0), ('r2', 5.0):
        (here / 'poses' / robot).mkdir(parents=True)
        record(here / 'poses' / robot / 'log', 'mcap',
               stamped(store, (x, 1.0, 'map'), (20.0, 1.0, 'map')),
               'geometry_msgs/msg/PoseStamped', topic='/pose', store=store)
    done = run_symdp('table', 'poses', '-o', 'walks', '--input', 'pose', '--map', 'rooms.yaml',
                     cwd=here)
    assert done.returncode == 0, done.stderr
    assert [routes(here / 'walks', robot)['log'][0] for robot in ('r1', 'r2')] == [
        ['a', None], ['b', None]]
    for arguments in ('--input', 'pose'), ('--map', 'rooms.yaml'):
        done = run_symdp('table', 'poses', '-o', 'other', *arguments, cwd=here)
        assert done.returncode == 1 and '--map' in done.stderr


def test_logs_that_cannot_be_read_stop_all_or_are_left_out(fleet):
    here = fleet.parent
    (fleet / 'r1' / 'damaged.csv').write_text('secret\n')
    done = run_symdp('table', 'logs', '-o', 'walks', cwd=here)
    assert done.returncode == 1 and 'r1: damaged.csv: ' in done.stderr
    assert sorted(path.name for path in here.iterdir()) == ['logs', 'map.chain.yaml']
    done = run_symdp('table', 'logs', '-o', 'walks', '--partial', cwd=here)
    assert done.returncode == 1 and 'left out: r1: damaged.csv: ' in done.stderr
    assert set(routes(here / 'walks', 'r1')) == {'day=1/noon', 'night'}
    assert 'secret' not in done.stderr + done.stdout


def test_what_is_still_recorded_is_skipped_and_loose_files_are_not(fleet):
    """A directory of storage files is a recording without its end only if they bear its name."""
    night = fleet / 'r1' / 'night'
    shutil.copy(next(night.glob('*.mcap')), fleet / 'r1' / 'loose.mcap')
    (night / 'metadata.yaml').unlink()
    os.rename(next(night.glob('*.mcap')), night / 'night_0.mcap')
    done = run_symdp('table', 'logs', '-o', 'walks', cwd=fleet.parent)
    assert done.returncode == 0, done.stderr
    assert 'r1/night is skipped: it is still being recorded' in done.stderr
    assert set(routes(fleet.parent / 'walks', 'r1')) == {'day=1/noon', 'loose.mcap'}


def test_logs_that_bear_the_name_of_their_directory_are_logs(fleet):
    """Such a directory is no recording: the files of one have a number and a suffix of rosbag2."""
    for name in 'r1_night', 'r1_0':
        write_text(fleet / 'r1' / f'{name}.csv', 'ab', 3000)
    shutil.copy(next((fleet / 'r1' / 'night').glob('*.mcap')), fleet / 'r1' / 'r1_late.mcap')
    robots, skipped = from_logs.robots_in(fleet)
    assert [log.id for log in robots['r1']] == [
        'day=1/noon', 'night', 'r1_0.csv', 'r1_late.mcap', 'r1_night.csv']
    assert not skipped


@pytest.mark.parametrize('change, setting', [
    (lambda logs: write_text(logs / 'astray.csv', 'ab', 1), 'subject'),
    (lambda logs: shutil.copytree(logs / 'r1', logs / 'robot=r1'), None),
    (lambda logs: os.rename(logs / 'r1', logs / 'r\x07'), None),
    (lambda logs: [shutil.rmtree(logs / name) for name in ('r1', 'robot=r2')], None)])
def test_directories_that_do_not_say_whose_logs_they_hold(fleet, change, setting):
    change(fleet)
    with pytest.raises(from_logs.ConfigurationError) as caught:
        from_logs.robots_in(fleet)
    assert caught.value.setting == setting
    assert run_symdp('table', 'logs', '-o', 'walks', cwd=fleet.parent).returncode == 1
    assert not (fleet.parent / 'walks').exists()


def test_a_link_to_a_directory_is_refused(fleet):
    os.symlink(fleet / 'r1', fleet / 'r3')
    with pytest.raises(from_logs.LogError) as caught:
        from_logs.robots_in(fleet)
    assert caught.value.path == fleet


@pytest.mark.parametrize('subject', ['r\udcff', 'r\x07', ' '])
def test_a_subject_that_no_ledger_takes_is_refused(fleet, subject):
    with pytest.raises(LedgerError):
        from_logs.robots_in(fleet / 'r1', subject)


def test_directories_whose_names_are_no_text_are_skipped(fleet):
    os.rename(fleet / 'r1' / 'day=1', fleet / 'r1' / 'day=\udcff')
    done = run_symdp('table', 'logs', '-o', 'walks', cwd=fleet.parent)
    assert done.returncode == 0, done.stderr
    assert r'r1/day=\xff/ is skipped' in done.stderr
    assert set(routes(fleet.parent / 'walks', 'r1')) == {'night'}


@pytest.mark.usefixtures('processes')
def test_a_process_that_is_ended_leaves_nothing(fleet, tmp_path, monkeypatch):
    monkeypatch.setattr(from_logs, '_read', end_process)
    robots, _ = from_logs.robots_in(fleet)
    with pytest.raises(SymdpError, match='was ended, perhaps for want of memory'):
        from_logs.write_table(robots, from_logs.TableSettings(), tmp_path / 'walks')
    assert sorted(os.listdir(tmp_path)) == ['logs', 'map.chain.yaml']


def test_settings_that_are_not_valid():
    with pytest.raises(from_logs.ConfigurationError) as caught:
        from_logs.TableSettings.of(
            {'sampling': 'message', 'input_timeout': 5.0, 'chain_file': None})
    assert caught.value.setting == 'input_timeout'
