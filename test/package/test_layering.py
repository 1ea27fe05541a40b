# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What may import what, and what the package exports."""
import ast
from functools import cache
from graphlib import TopologicalSorter
import importlib
from pathlib import Path
import re
import subprocess
import sys

import pytest
import symdp_ros
from symdp_ros import errors

PACKAGE = Path(symdp_ros.__file__).parent
THIRD_PARTY = {'cryptography', 'numpy', 'scipy', 'shapely', 'yaml',
               'pyproj'}  # in a function: it is not always there

#: The rooms of the house, from the ground up: each may import those before it, and itself.
ROOMS = ('errors', 'settings', 'files', 'core', 'maps', 'messages', 'words', 'analysis',
         'ledger', 'logs', 'release', 'options', 'figures', 'fleet', 'ros', 'nodes', 'demo',
         'cli')
#: Of these, the ones that import no ROS and no other library than `THIRD_PARTY`.
PURE = ('errors', 'settings', 'files', 'core', 'maps', 'messages', 'words', 'analysis',
        'ledger', 'options', 'fleet')
WITHOUT_ROS = (*PURE, 'logs', 'release', 'figures', 'cli')
#: The files of these that do, where there is a ROS, and in functions alone.
WITH_ROS = {PACKAGE / name for name in (
    'logs/recordings/with_rosbag2.py', 'files/resources.py', 'cli/demo.py',
    'cli/maps/check_topic.py',
    'cli/doctor.py', 'cli/echo.py')}
ROS = re.compile(r'(rclpy|launch\w*|ament\w*|\w+_(msgs|srvs|interfaces))\b')
FILES = [(path, room) for room in ROOMS for path in sorted(
    [*PACKAGE.glob(f'{room}.py'), *(PACKAGE / room).rglob('*.py')])]


@cache
def imported(source, package):
    """Return the absolute names that a module of this package imports, at any depth."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split('.')[:len(package.split('.')) + 1 - node.level]
            base = '.'.join([*(above if node.level else []), *filter(None, [node.module])])
            names.update(f'{base}.{alias.name}' for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
                '__import__', 'import_module', 'importlib.import_module'):
            if isinstance(node.args[0], ast.Constant):  # else a name known when it runs
                names.add(node.args[0].value)
    return names


def strangers(source, package, room):
    """Return the imports that this room must not have."""
    folders = [f'symdp_ros.{other}.' for other in ROOMS[:ROOMS.index(room) + 1]]

    def allowed(name):
        top = name.partition('.')[0]
        if top == 'symdp_ros':
            return name == 'symdp_ros.__version__' or any(
                f'{name}.'.startswith(folder) for folder in folders)
        if room in PURE:
            return top in sys.stdlib_module_names or top in THIRD_PARTY
        return room not in WITHOUT_ROS or not ROS.match(name)

    return sorted(name for name in imported(source, package) if not allowed(name))


def package_of(path):
    return '.'.join(path.parent.relative_to(PACKAGE.parent).parts)


def test_imports():
    """Nothing below knows what is above: not in a function, and not for types alone."""
    wrong = [(str(path), name) for path, room in FILES
             for name in strangers(path.read_text(encoding='utf-8'), package_of(path), room)
             if path not in WITH_ROS or not ROS.match(name)]
    assert wrong == [] and len(FILES) > 200


def test_no_circles():
    """No module imports itself by way of others: not in functions, and not for types alone."""
    modules = {'.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts)
               .removesuffix('.__init__'): path for path, _ in FILES}

    in_c = {'.'.join(path.relative_to(PACKAGE.parent).with_suffix('').parts)
            for path in PACKAGE.rglob('_*.c')}  # they import nothing

    def module_of(name):
        return name if name in modules or name in in_c else name.rpartition('.')[0]

    imports = {}
    for module, path in modules.items():
        found = imported(path.read_text(encoding='utf-8'), package_of(path))
        imports[module] = {module_of(name) for name in found} - {module}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names them


def test_the_picture_of_the_house():
    """CONTRIBUTING.md draws who imports whom, but for what a way of several arrows shows."""
    imports = {room: set() for room in ROOMS}
    for path, room in FILES:
        names = imported(path.read_text(encoding='utf-8'), package_of(path))
        imports[room] |= {other for other in ROOMS if other != room and any(
            f'{name}.'.startswith(f'symdp_ros.{other}.') for name in names)}
    reached = {}
    for room in ROOMS:
        reached[room] = imports[room].union(*(reached[other] for other in imports[room]))
    arrows = sorted((room, other) for room, others in imports.items() for other in others
                    if not any(other in reached[between] for between in others))
    picture = '\n'.join(['flowchart TD', *(f'  {room} --> {other}' for room, other in arrows)])
    page = (PACKAGE.parent / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    assert f'```mermaid\n{picture}\n```' in page, f'it is this now:\n{picture}'


def test_every_file_is_in_a_room():
    assert {path for path, _ in FILES} == {*PACKAGE.rglob('*.py')} - {PACKAGE / '__init__.py'}


@pytest.mark.parametrize('source, found', [
    ('import rclpy', ['rclpy']), ('import os, rclpy.node as n', ['rclpy.node']),
    ('from std_msgs.msg import String', ['std_msgs.msg.String']),
    ('def f():\n    from launch import actions', ['launch.actions']),
    ('try:\n    import rclpy\nexcept ImportError:\n    pass', ['rclpy']),
    ('__import__("rclpy")', ['rclpy']), ('importlib.import_module("rclpy")', ['rclpy']),
    ('import symdp_ros', ['symdp_ros']), ('from symdp_ros import Chain', ['symdp_ros.Chain']),
    ('import symdp_ros.corex', ['symdp_ros.corex']),
    ('from symdp_ros.ros import qos', ['symdp_ros.ros.qos']),
    ('from symdp_ros import nodes', ['symdp_ros.nodes']),
    ('from .. import cli', ['symdp_ros.cli']), ('from ..maps import a', ['symdp_ros.maps.a']),
    ('from . import chain\nfrom .chain import Chain\nimport symdp_ros.core.chain\n'
     'from symdp_ros import errors\nimport numpy as np\nimport collections.abc', [])])
def test_the_search_finds(source, found):
    assert strangers(source, 'symdp_ros.core', 'core') == found


def test_the_core_runs_where_no_ros_is():
    """And loads none where there is one."""
    done = subprocess.run([sys.executable, '-c', """
import importlib, pkgutil, sys
class Finder:
    def find_spec(name, path=None, target=None):
        top = name.partition('.')[0]
        if top in ('rclpy', 'launch', 'launch_ros', 'ament_index_python') or top[-5:] == '_msgs':
            raise AssertionError(f'{name} is imported')
sys.meta_path.insert(0, Finder)
import symdp_ros.core, symdp_ros.analysis
for package in (symdp_ros.core, symdp_ros.analysis):
    for module in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):
        importlib.import_module(module.name)
from symdp_ros import Chain, OnlineMechanism, Privacy
chain = Chain({'a': ['b'], 'b': ['a']}, 'a')
print(OnlineMechanism(chain, Privacy(1.0), policy='guided').privatize(['a', None, 'b']))
"""], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert (done.returncode, done.stdout) == (0, "['b', 'a', 'b']\n"), done.stderr


def test_exported_names():
    exported = symdp_ros.__all__
    assert sorted(set(exported)) == list(exported)
    assert all(hasattr(symdp_ros, name) for name in exported)
    assert {'Chain', 'OnlineMechanism', 'Privacy', '__version__'} <= set(exported)
    namespace = {}
    exec('from symdp_ros import *', namespace)
    assert set(exported) <= set(namespace)
    assert dir(symdp_ros) == list(exported)


def test_type_checkers_see_what_is_exported():
    tree = ast.parse((PACKAGE / '__init__.py').read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert {*seen, '__version__'} == set(symdp_ros.__all__)
    for name, home in seen.items():
        assert getattr(importlib.import_module(home), name) is getattr(symdp_ros, name)


def test_all_errors_are_exported_derive_from_one_and_are_in_its_tree():
    found = {name for name, value in vars(errors).items()
             if isinstance(value, type) and issubclass(value, BaseException)}
    assert {'SymdpError', 'ChainError', 'PrivacyError', 'UnknownSymbolError'} <= found
    assert found <= set(symdp_ros.__all__)
    for name in found:
        assert issubclass(getattr(symdp_ros, name), errors.SymdpError)
        assert f' {name}' in errors.__doc__
