"""The README's tables and commands agree with the code."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()


def test_parameters_of_the_privatizer():
    pytest.importorskip('rclpy', reason='rclpy is not installed: no parameters to compare')
    from symdp_ros.nodes.privatizer import SETTINGS
    from symdp_ros.ros.lifecycle import AUTOSTART

    table = README.split('## Parameters of `privatizer`')[1].split('\n## ')[0]
    written = dict(re.findall(r'^\| `(\w+)` \| `?([^|`]+?)`? \|', table, re.M))
    defaults = {setting.name: 'required' if setting.default is None else
                str(setting.default).lower() if isinstance(setting.default, bool) else
                setting.default if setting.type.name == 'STRING' and setting.default else
                repr(setting.default) for setting in (*SETTINGS, AUTOSTART)}
    assert written == defaults


def test_the_python_example_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = README.split('```python\n')[1].split('```')[0]
    exec(compile(code, 'README.md', 'exec'), {})
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_chain_example_is_a_chain(tmp_path):
    from symdp_ros import Chain

    text = README.split('# warehouse.chain.yaml\n')[1].split('```')[0]
    file = tmp_path / 'chain.yaml'
    file.write_text(text)
    assert Chain.from_yaml(file).states == ('dock', 'aisle_1', 'aisle_2')


@pytest.mark.parametrize('link', re.findall(r'\]\(([^)#]+)\)', README))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


def test_make_targets_exist():
    makefile = (ROOT / 'Makefile').read_text()
    for target in set(re.findall(r'`?make (\w+)', README)):
        assert re.search(rf'^{target}:', makefile, re.M), target
