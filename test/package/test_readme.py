# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The README and the pages of docs/ agree with the code."""
from pathlib import Path
import re

import pytest
from symdp_ros.options import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text(encoding='utf-8')
PAGES = {file.relative_to(ROOT).as_posix(): file.read_text(encoding='utf-8')
         for file in (ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'SECURITY.md',
                      *sorted((ROOT / 'docs').rglob('*.md'))) if not file.is_symlink()}
TABLES = PAGES['docs/parameters.md']
MAP = ('chain_file', 'initial_state', 'self_loops', 'graph', 'level', 'prune')
POSE = 'regions_file', 'hysteresis', 'max_distance', 'level_field', 'map_frame'
VISITS = 'protect', 'moves', 'stay'
EVERY = ('autostart', 'parameter_services')


def written(node):
    """Return name → (default, meaning) of each row in the table of a node."""
    rows = {}
    for names, defaults, meaning in re.findall(
            r'^\| (`[^|]+) \| ([^|]+?) \| (.+) \|$',
            TABLES.split(f'## `{node}`')[1].split('\n## ')[0], re.M):
        pairs = zip(names.split(', '), defaults.split(', ') if ', `' in names else [defaults],
                    strict=True)
        rows |= {name.strip('`'): (default.strip('`'), meaning) for name, default in pairs}
    return rows


def default_of(option):
    if option.default is None:
        return 'required'
    if isinstance(option.default, bool):
        return str(option.default).lower()
    return option.default if option.default and isinstance(option.default, str) \
        else repr(option.default)


@pytest.mark.parametrize('node, inherited', [
    ('privatizer', ()),
    ('log_release', (*MAP, 'epsilon', 'adjacency', 'zones_file', 'policy', 'input', 'field',
                     'where', 'symbol_map', 'no_region', *POSE, 'sampling', 'period',
                     'report_period', 'input_timeout', *VISITS, *EVERY)),
    ('patrol', (*MAP, 'parameter_services')), ('fleet', ('parameter_services',))])
def test_parameters(node, inherited):
    options = [option for option in PARAMETERS[node] if option.name not in inherited]
    rows = written(node)
    assert {name: default for name, (default, _) in rows.items()} == {
        option.name: default_of(option) for option in options}
    for option in options:
        assert all(f'`{choice}`' in rows[option.name][1] for choice in option.choices), option.name


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_the_chain_example_is_a_chain(tmp_path):
    from symdp_ros import Chain

    text = PAGES['docs/maps.md'].split('# warehouse.chain.yaml\n')[1].split('```')[0]
    file = tmp_path / 'chain.yaml'
    file.write_text(text)
    assert Chain.from_yaml(file).states == ('dock', 'aisle_1', 'aisle_2')


def test_the_regions_example_is_a_map(tmp_path):
    from symdp_ros.maps import read_graph

    text = PAGES['docs/maps.md'].split('# house.regions.yaml\n')[1].split('```')[0]
    file = tmp_path / 'house.regions.yaml'
    file.write_text(text)
    assert read_graph(file).successors == {'dock': ['door'], 'door': ['dock', 'hall'],
                                           'hall': ['door']}


@pytest.mark.parametrize('page', PAGES)
def test_links_lead_somewhere(page):
    for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', PAGES[page]):
        assert (ROOT / page).parent.joinpath(link).exists(), link


@pytest.mark.parametrize('page', PAGES)
def test_links_lead_to_headings(page):
    for link, anchor in re.findall(r'\]\(([^)#:]*)#([^)]*)\)', PAGES[page]):
        target = (ROOT / page).parent.joinpath(link) if link else ROOT / page
        headings = re.findall(r'^#+ (.+)$', target.read_text(encoding='utf-8'), re.M)
        assert anchor in {re.sub(r'[^\w -]', '', heading.lower()).replace(' ', '-')
                          for heading in headings}, f'{link}#{anchor}'


@pytest.mark.parametrize('page', [page for page in PAGES if re.search(
    r'^(\w+=\S+ )?ros2 ', PAGES[page], re.M)])
def test_pages_that_use_ros2_say_what_to_do_without(page):
    anchor = 'installing.md#without-the-ros2-command'
    assert anchor in PAGES[page] or PAGES[page].startswith('# Installing')


@pytest.mark.parametrize('page', PAGES)
def test_make_targets_exist(page):
    makefile = (ROOT / 'Makefile').read_text(encoding='utf-8')
    for target in set(re.findall(r'`make ([\w-]+)', PAGES[page])):
        assert re.search(rf'^{target}:', makefile, re.M), target


def test_every_page_is_linked_from_the_readme():
    def linked(page):
        folder = Path(page).parent
        return {(folder / link).as_posix() for link in re.findall(r'\]\(([^)#]+)\)', PAGES[page])}

    pages = {page for page in PAGES if page.startswith('docs/')}
    assert pages <= linked('README.md') | linked('docs/evidence/index.md')
