# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every preset in config/presets: its parameters, and messages of the type that it names."""
from pathlib import Path
import re

import pytest
from symdp_ros.maps import read_chain
from symdp_ros.options import PARAMETERS
import yaml

PRESETS = Path(__file__).resolve().parents[2] / 'config' / 'presets'
NAMES = ('autoware', 'lcas', 'nav2_route', 'open_rmf', 'patrolling_sim', 'px4', 'system_modes',
         'vda5050')


def parameters(name):
    return yaml.safe_load((PRESETS / f'{name}.yaml').read_text())['/**']['ros__parameters']


def test_all_presets_are_tested():
    files = {file.name for file in PRESETS.iterdir()}
    assert files == {f'{name}.yaml' for name in NAMES} | {'px4.chain.yaml', 'autoware.chain.yaml'}


@pytest.mark.parametrize('name', NAMES)
def test_parameters(name):
    options = {option.name: option for option in PARAMETERS['privatizer']}
    given = parameters(name)
    for parameter, value in given.items():
        assert options[parameter].check(value) == value
    # These are the operator's choice.
    assert not {'chain_file', 'initial_state', 'epsilon', 'adjacency', 'protect'} & set(given)
    assert given['sampling'] == 'period'


@pytest.mark.parametrize('name', NAMES)
def test_the_comment_says_how_to_start_it(name):
    comment = '\n'.join(line for line in (PRESETS / f'{name}.yaml').read_text().splitlines()
                        if line.startswith('#'))
    for part in ('Topic ', 'Type ', 'Source ', 'commit ', f'config/presets/{name}.yaml',
                 '-p epsilon:=', '-p chain_file:=', parameters(name)['message_type']):
        assert part in comment


@pytest.mark.parametrize('name', ['px4', 'autoware'])
def test_the_modes_are_those_of_the_chain_file(name):
    modes = [item.partition('=')[2] for item in parameters(name)['symbol_map']]
    chain = read_chain(PRESETS / f'{name}.chain.yaml')
    assert sorted(modes) == sorted(chain.states)
    assert not chain.states_without_staying()


def test_the_page_lists_the_presets():
    page = (PRESETS.parents[1] / 'docs' / 'robots.md').read_text()
    section = re.search(r'## Presets\n(.*?)\n## ', page, re.DOTALL)[1]
    rows = dict(re.findall(r'^\| [^|]+ \| `(\w+)` \| ([^|]+) \|', section, re.MULTILINE))
    assert sorted(rows) == sorted(NAMES)
    for name in NAMES:
        assert f'`{parameters(name)["message_type"]}`' in rows[name]
