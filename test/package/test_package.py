# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the package says of itself: versions, dependencies, files, entry points."""
import ast
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path
import re
import sys
import xml.etree.ElementTree as ElementTree

import hypothesis
import pytest
import symdp_ros

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()
SETUP = ast.parse((ROOT / 'setup.py').read_text())

#: Imported module → rosdep key.
KEYS = {'numpy': 'python3-numpy', 'scipy': 'python3-scipy', 'shapely': 'python3-shapely',
        'yaml': 'python3-yaml',
        'cryptography': 'python3-cryptography',
        'argcomplete': 'python3-argcomplete',
        'tf2_ros': 'tf2_ros_py', 'rich': 'python3-rich', 'matplotlib': 'python3-matplotlib',
        'pyproj': 'python3-pyproj', 'paho': 'python3-paho-mqtt',
        'jsonschema': 'python3-jsonschema',
        'pytest': 'python3-pytest', 'hypothesis': 'python3-hypothesis'}

#: Imported module → what pip installs, by an extra: no package of Ubuntu has it. With ROS,
#: rosbag2_py reads recordings; archives and clusters need pip. (selenium: one test, of a page.)
EXTRAS = {'rosbags': 'rosbags', 'mcap': 'mcap', 'zstandard': 'zstandard', 'lz4': 'lz4',
          'pyarrow': 'pyarrow', 'distributed': 'dask[distributed]',
          'dask': 'dask[distributed]', 'psutil': 'dask[distributed]', 'ray': 'ray',
          'pyspark': 'pyspark', 'cyclonedds': 'cyclonedds', 'selenium': 'selenium'}

#: Imported where a ROS 2 has it: the node does without.
OPTIONAL = {'bondpy'}

#: Keys of packages that Ubuntu 24.04 and 26.04 both have.
UBUNTU = {'python3-numpy', 'python3-scipy', 'python3-shapely', 'python3-yaml', 'python3-rich',
          'python3-matplotlib', 'python3-pyproj', 'python3-cryptography', 'python3-argcomplete',
          'python3-paho-mqtt', 'python3-jsonschema', 'python3-dev',
          'python3-pytest', 'python3-pytest-xdist', 'python3-hypothesis'}


def keys(*kinds):
    return {element.text for kind in kinds for element in PACKAGE.iter(kind)}


def imports(folder):
    """Top-level names of all modules imported below a folder."""
    found = set()
    for file in (ROOT / folder).rglob('*.py'):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.split('.')[0])
    return found


def external(folder):
    own = {'symdp_ros', 'bench', 'mutation', 'studies',
           *(file.stem for file in (ROOT / folder).rglob('*.py'))}
    return imports(folder) - set(sys.stdlib_module_names) - own


def test_versions_agree():
    changelog = (ROOT / 'CHANGELOG.rst').read_text()
    newest = re.search(r'^(\d+\.\d+\.\d+|Forthcoming) ?(\(.*\))?\n-+$', changelog, re.M)
    assert PACKAGE.findtext('version') == symdp_ros.__version__ == newest.group(1)


def test_the_changelog_is_one_to_the_tools_of_ros():
    """Bloom takes from it what it releases: a version, its date, what changed."""
    changelog = pytest.importorskip('catkin_pkg.changelog', reason='catkin_pkg is not installed')
    text = (ROOT / 'CHANGELOG.rst').read_text()
    versions = [*changelog.populate_changelog_from_rst(
        changelog.Changelog(symdp_ros.__name__), text).foreach_version()]
    assert [version for version, _, _ in versions] == [symdp_ros.__version__]
    [(_, date, changes)] = versions
    assert date is not None and sum(len(part.bullets) for part in changes) > 1


def test_every_import_has_a_key():
    run = {KEYS.get(name, name)
           for name in (external('symdp_ros') | external('launch')) - set(EXTRAS) - OPTIONAL}
    assert run - keys('exec_depend', 'depend') == set()
    tested = {KEYS.get(name, name) for name in external('test') - set(EXTRAS) - OPTIONAL}
    assert tested - keys('exec_depend', 'depend', 'test_depend') == set()


def test_rosdep_finds_every_key_on_ubuntu():
    """No key of pip: there, pip may not install into the system, nor may a released package."""
    elements = [element for kind in ('depend', 'build_depend', 'exec_depend', 'test_depend')
                for element in PACKAGE.iter(kind) if element.text.startswith('python3-')]
    assert {element.text for element in elements} == UBUNTU


def test_what_pip_alone_installs_has_an_extra():
    text = (ROOT / 'setup.py').read_text()
    for name in EXTRAS.values():
        assert f"'{name}>=" in text


def test_whom_to_turn_to():
    [call] = [node for node in ast.walk(SETUP) if isinstance(node, ast.Call)
              and isinstance(node.func, ast.Name) and node.func.id == 'setup']
    given = {keyword.arg: keyword.value.value for keyword in call.keywords
             if isinstance(keyword.value, ast.Constant)}
    for role in ('author', 'maintainer'):
        person = PACKAGE.find(role)
        assert (person.text, person.get('email')) == (given[role], given[f'{role}_email'])
    urls = {url.get('type'): url.text for url in PACKAGE.iter('url')}
    assert set(urls) == {'website', 'repository', 'bugtracker'} and urls['website'] == given['url']


def test_every_folder_is_a_package():
    """`find_packages` of setup.py installs those that have an `__init__.py`."""
    folders = {file.parent for file in (ROOT / 'symdp_ros').rglob('*.py')}
    assert [folder for folder in folders if not (folder / '__init__.py').exists()] == []


def test_entry_points_exist():
    points = re.findall(r"f'(\w+) = \{NAME\}\.([\w.]+):(\w+)'", (ROOT / 'setup.py').read_text())
    assert {name for name, _, _ in points} >= {'privatizer', 'patrol', 'symdp'}
    for _, module, function in points:
        if module == 'cli.ros2_command':  # test_ros2_command.py makes it, with ros2cli or without
            continue
        assert callable(getattr(import_module(f'symdp_ros.{module}'), function))


def test_it_is_an_ament_python_package():
    assert PACKAGE.get('format') == '3'
    assert PACKAGE.findtext('export/build_type') == 'ament_python'
    assert (ROOT / 'resource' / 'symdp_ros').is_file()
    config = ConfigParser()
    config.read(ROOT / 'setup.cfg')
    assert config['develop']['script_dir'] == config['install']['install_scripts'] \
        == '$base/lib/symdp_ros'
    # colcon takes a package whose e-mail is not of this form for a plain Python one.
    assert re.fullmatch(r'[\w.]+@[\w.]+\.\w+', PACKAGE.find('maintainer').get('email'))


def test_names_of_test_files_are_unique():
    """Where launch_testing is installed, it imports every test file by its name alone."""
    names = [file.name for file in (ROOT / 'test').rglob('test_*.py')]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_a_file_that_skips_itself_takes_no_folder_with_it(request):
    """Where launch_testing is installed, it imports every test file while the folder is read."""
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / 'test' / 'conftest.py'))
    hook = conftest.pytest_pycollect_makemodule(Path(__file__), request.node.parent.parent)
    next(hook)
    with pytest.raises(StopIteration) as made:
        hook.throw(pytest.skip.Exception('no ROS'))
    assert isinstance(made.value.value, pytest.Module)


def test_installations_put_the_commands_into_bin():
    for file in ('Makefile', 'docs/installing.md'):
        for line in (ROOT / file).read_text().splitlines():
            own = re.search(r"pip install.* (-e|'?\./)", line)
            assert not own or '--use-pep517' in line


def test_no_example_has_a_deadline():
    """On a busy machine, an example of Hypothesis may take any time."""
    assert hypothesis.settings().deadline is None
