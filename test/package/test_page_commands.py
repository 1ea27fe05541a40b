# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The commands of all pages.

Each `symdp` command is run as it is written, page by page, in a folder with a small map and two
recordings in place of /maps and /data. Of nodes and launch files, the names of parameters are
compared with the options. What else is not run stands in docs/installing.md.
"""
from pathlib import Path
import re
import shlex
import shutil

from explored_page import in_short_time
from in_process import run_symdp
from patrol_bags import patrol, write_bag
import pytest
from symdp_ros.options import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'SECURITY.md',
         *sorted(page for page in (ROOT / 'docs').rglob('*.md') if not page.is_symlink())]
#: They start processes or look at the ROS graph: test/cli tries them.
NOT_RUN = 'demo', 'doctor', 'topics', 'echo', 'call'
#: What a newcomer types first.
FIRST_READ = 'README.md', 'docs/tutorial.md'
#: Arguments of launch files besides parameters.
LAUNCH = {'region', 'pose', 'params_file', 'processes'}
#: What stands for files of the reader.
STANDS_FOR = {'FILE': 'warehouse.geojson', 'turtlebot3': 'warehouse',
              '/maps/': '../maps/', '/data/': '../data/',
              'symdp_ros/config/': 'config/'}
OFFICE = """\
coordinate_system: reference_image
levels:
  L1:
    lanes: [[0, 1, {bidirectional: [4, true], graph_idx: [2, 0]}]]
    measurements: [[0, 1, {distance: [3, 5]}]]
    vertices: [[0, 0, 0, lounge], [60, 80, 0, hall]]
name: office
"""


def commands(page):
    """Return the commands in the shell blocks of a page, each as a list of words."""
    text = page.read_text(encoding='utf-8')
    found = []
    for block in re.findall(r'^ *```sh\n(.*?)^ *```$', text, re.M | re.S):
        for line in block.replace('\\\n', ' ').splitlines():
            for part in line.split(' && '):
                words = shlex.split(part.replace('$(', '').replace(')/', '/'), comments=True)
                while words and re.fullmatch(r'[A-Z_]+=\S*', words[0]):
                    words.pop(0)
                if words:
                    found.append(words)
    return found


def of_symdp(words):
    """Return the arguments of a command that runs symdp, or None."""
    if words[:4] == ['ros2', 'run', 'symdp_ros', 'symdp']:
        return words[4:]
    if words[:2] == ['ros2', 'symdp']:
        return words[2:]
    return words[1:] if words[0].split('/')[-1] == 'symdp' else None


BY_PAGE = {page.relative_to(ROOT).as_posix(): commands(page) for page in PAGES}
WITH_SYMDP = [name for name, found in BY_PAGE.items() if any(map(of_symdp, found))]


@pytest.fixture(scope='module')
def reader(tmp_path_factory):
    """Return a folder with what the commands of the pages name."""
    from symdp_ros import read_chain
    from symdp_ros.analysis.accuracy import patrols

    folder = tmp_path_factory.mktemp('reader')
    here, depot = folder / 'here', ROOT / 'config' / 'depot.geojson'
    shutil.copytree(ROOT / 'config', here / 'config')
    (folder / 'maps').mkdir()
    for file in folder / 'maps', here:
        shutil.copy(depot, file / 'warehouse.geojson')
    (here / 'office.building.yaml').write_text(OFFICE)
    fleet = (ROOT / 'README.md').read_text().split('```yaml\nfleet_domain')[1].split('```')[0]
    (here / 'fleet.yaml').write_text('fleet_domain' + fleet)
    walks = patrols(read_chain(depot, initial_state='5'), 20, 2)
    (folder / 'data' / 'patrols').mkdir(parents=True)
    for name, word in zip(('monday', 'tuesday'), walks, strict=True):
        start = 10**9 * (100 if name == 'monday' else 10_000)
        write_bag(folder / 'data' / 'patrols' / name, 'mcap', patrol(word, start))
    shutil.copytree(folder / 'data' / 'patrols', folder / 'data' / 'fleet' / 'r7')
    return folder, walks


@pytest.fixture
def world(reader, tmp_path, monkeypatch):
    """Return a copy of that folder, where little is simulated: all would take a minute."""
    for name in '_WALKS', '_LEAST_WALKS':
        monkeypatch.setattr(f'symdp_ros.cli.calibrate.{name}', 3)
    for name, values in ('_EPSILONS', (2.0,)), ('_PROTECTS', (10.0,)), ('_STAYS', (60.0,)):
        monkeypatch.setattr(f'symdp_ros.cli.explore.{name}', values)
    with in_short_time():
        yield shutil.copytree(reader[0], tmp_path / 'world')


@pytest.mark.parametrize('page', [
    page if page in FIRST_READ else pytest.param(page, marks=pytest.mark.thorough)
    for page in WITH_SYMDP])
def test_commands_of_symdp_are_run(page, reader, world):
    if 'archives' in page:
        pyarrow = pytest.importorskip('pyarrow')
        from pyarrow.parquet import write_table
        rows = [(r, i, s) for r, word in enumerate(reader[1]) for i, s in enumerate(word)]
        table = pyarrow.table(dict(
            zip(('route', 'position', 'symbol'), zip(*rows, strict=True), strict=True)))
        (world / 'here' / 'DATASET' / 'robot=r7').mkdir(parents=True)
        for name in ('walks.parquet', 'DATASET/robot=r7/part-0.parquet'):
            write_table(table, world / 'here' / name)
    for words in BY_PAGE[page]:
        arguments = of_symdp(words)
        if not arguments or arguments[0] in NOT_RUN or '…' in words:
            continue
        for name, stands in STANDS_FOR.items():
            arguments = [re.sub(f'^{name}', stands, argument) for argument in arguments]
        done = run_symdp(*arguments, cwd=world / 'here')
        assert done.returncode == 0, f'{" ".join(words)}\n{done.stdout}{done.stderr}'


def test_the_library_page_runs(world, monkeypatch, capsys):
    """Block after block, in one namespace."""
    text = (ROOT / 'docs' / 'python.md').read_text(encoding='utf-8')
    monkeypatch.chdir(world / 'here')
    (world / 'data' / 'released').mkdir()
    names = {'route': ['gate', 'aisle_1', 'packing', 'charger']}
    printed = []
    for block in re.findall(r'^```python\n(.*?)^```$', text, re.M | re.S):
        for path in '/maps/', '/data/':
            block = block.replace(f"'{path}", f"'{STANDS_FOR[path]}")
        exec(compile(block, 'python.md', 'exec'), names)
        printed.append(len(capsys.readouterr().out.splitlines()))
    # A line of calibrate for each of nine mechanisms and settings.
    assert printed == [5, 3, 31, 9 + 3, 2]


def test_nodes_and_launch_files_have_these_parameters():
    checked = 0
    for page, found in BY_PAGE.items():
        for words in found:
            if words[:3] == ['ros2', 'run', 'symdp_ros'] and words[3] in PARAMETERS:
                known = {option.name for option in PARAMETERS[words[3]]}
                named = {word.partition(':=')[0] for before, word in zip(words, words[1:])
                         if before == '-p'}
            elif words[:3] == ['ros2', 'launch', 'symdp_ros']:
                assert (ROOT / 'launch' / words[3]).exists(), f'{page}: {words[3]}'
                known = {option.name for option in PARAMETERS[words[3].partition('.')[0]]}
                known |= LAUNCH | set(re.findall(
                    r"'(\w+)'", (ROOT / 'launch' / words[3]).read_text(encoding='utf-8')))
                named = {word.partition(':=')[0] for word in words[4:]}
            else:
                continue
            assert named <= known, f'{page}: {" ".join(words)}'
            checked += len(named)
    assert checked > 20


def test_what_is_not_run_is_named():
    text = (ROOT / 'docs' / 'installing.md').read_text(encoding='utf-8')
    section = text.split('## The commands on these pages')[1].split('\n## ')[0]
    programs = {words[0].split('/')[-1] for found in BY_PAGE.values() for words in found
                if not of_symdp(words)} | {f'symdp {name}' for name in NOT_RUN}
    assert programs - set(re.findall(r'`([^`]+)`', section)) == set()
