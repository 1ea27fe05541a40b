"""The README's tables and commands agree with the code."""
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()


def written(heading_or_text):
    """Return the rows `name` → default of the first table after a text."""
    rows = {}
    for names, defaults in re.findall(r'^\| (`[^|]+) \| ([^|]+?) \|',
                                      README.split(heading_or_text)[1].split('\n\n|')[1]
                                      .split('\n\n')[0], re.M):
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


@pytest.mark.parametrize('module, text, inherited', [
    ('privatizer', '## Parameters of `privatizer`', ()),
    ('log_release', '`log_release` has', (
        'chain_file', 'initial_state', 'self_loops', 'graph', 'level', 'epsilon', 'adjacency',
        'policy', 'field', 'symbol_map', 'no_region', 'sampling', 'period', 'input_timeout'))])
def test_parameters(module, text, inherited):
    pytest.importorskip('rclpy', reason='rclpy is not installed: no parameters to compare')
    node = import_module(f'symdp_ros.nodes.{module}')
    from symdp_ros.ros.lifecycle import AUTOSTART
    from symdp_ros.ros.parameters import PARAMETER_SERVICES

    settings = [*node.SETTINGS, *([AUTOSTART, PARAMETER_SERVICES] if not inherited else [])]
    assert written(text) == {setting.name: default_of(setting) for setting in settings
                             if setting.name not in inherited}


def test_the_python_example_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = README.split('## In Python\n\n```python\n')[1].split('```')[0]
    exec(compile(code, 'README.md', 'exec'), {})
    assert len(capsys.readouterr().out.splitlines()) == 5


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
