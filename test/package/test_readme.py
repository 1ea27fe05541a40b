# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The README and the pages of docs/ agree with the code."""
from importlib import import_module
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
PAGES = {file.relative_to(ROOT).as_posix(): file.read_text(encoding='utf-8')
         for file in (ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'SECURITY.md',
                      *sorted((ROOT / 'docs').rglob('*.md')))}
PARAMETERS = PAGES['docs/parameters.md']
MAP = ('chain_file', 'initial_state', 'self_loops', 'graph', 'level')


def written(node):
    """Return the rows `name` → default of the table of a node."""
    rows = {}
    for names, defaults in re.findall(
            r'^\| (`[^|]+) \| ([^|]+?) \|',
            PARAMETERS.split(f'## `{node}`')[1].split('\n## ')[0], re.M):
        pairs = zip(names.split(', '), defaults.split(', ') if ', `' in names else [defaults],
                    strict=True)
        rows |= {name.strip('`'): default.strip('`') for name, default in pairs}
    return rows


def default_of(setting):
    if setting.default is None:
        return 'required'
    if isinstance(setting.default, bool):
        return str(setting.default).lower()
    return setting.default if setting.default and isinstance(setting.default, str) \
        else repr(setting.default)


@pytest.mark.parametrize('module, inherited', [
    ('privatizer', ()),
    ('log_release', (*MAP, 'epsilon', 'adjacency', 'policy', 'field', 'symbol_map', 'no_region',
                     'sampling', 'period', 'input_timeout')),
    ('belief', (*MAP, 'epsilon', 'adjacency', 'policy')), ('patrol', MAP)])
def test_parameters(module, inherited):
    pytest.importorskip('rclpy', reason='rclpy is not installed: no parameters to compare')
    node = import_module(f'symdp_ros.nodes.{module}')
    from symdp_ros.ros.lifecycle import AUTOSTART
    from symdp_ros.ros.parameters import PARAMETER_SERVICES

    settings = [*node.SETTINGS, *([AUTOSTART, PARAMETER_SERVICES] if not inherited else [])]
    assert written(module) == {setting.name: default_of(setting) for setting in settings
                               if setting.name not in inherited}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize('page, lines', [('README.md', 3), ('docs/python.md', 5)])
def test_the_python_example_runs(page, lines, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = PAGES[page].split('```python\n')[1].split('```')[0]
    exec(compile(code, page, 'exec'), {})
    assert len(capsys.readouterr().out.splitlines()) == lines


def test_the_chain_example_is_a_chain(tmp_path):
    from symdp_ros import Chain

    text = PAGES['docs/maps.md'].split('# warehouse.chain.yaml\n')[1].split('```')[0]
    file = tmp_path / 'chain.yaml'
    file.write_text(text)
    assert Chain.from_yaml(file).states == ('dock', 'aisle_1', 'aisle_2')


@pytest.mark.parametrize('page', PAGES)
def test_links_lead_somewhere(page):
    for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', PAGES[page]):
        assert (ROOT / page).parent.joinpath(link).exists(), link


@pytest.mark.parametrize('page', PAGES)
def test_make_targets_exist(page):
    makefile = (ROOT / 'Makefile').read_text(encoding='utf-8')
    for target in set(re.findall(r'`make (\w+)', PAGES[page])):
        assert re.search(rf'^{target}:', makefile, re.M), target


def test_every_page_is_linked_from_the_readme():
    linked = set(re.findall(r'\]\(([^)#]+)\)', README))
    pages = {page for page in PAGES if page.startswith('docs/') and page.count('/') == 1}
    assert pages <= linked
