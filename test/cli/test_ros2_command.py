# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`ros2 symdp`: the same commands, options and answers as `symdp`; and its completion."""
import argparse
from importlib.metadata import entry_points
import os
import subprocess
import sys
from types import ModuleType

from in_process import ROOT, run_symdp
import pytest

MAP = 'config/depot.geojson'
#: What `ros2` does.
ROS2 = 'import sys; from ros2cli.cli import main; sys.exit(main())'


@pytest.fixture
def command(monkeypatch):
    """Return the extension, made without ros2cli."""
    stub = ModuleType('ros2cli.command')
    stub.CommandExtension = object
    monkeypatch.setitem(sys.modules, 'ros2cli', ModuleType('ros2cli'))
    monkeypatch.setitem(sys.modules, 'ros2cli.command', stub)
    monkeypatch.delitem(sys.modules, 'symdp_ros.cli.ros2_command', raising=False)
    from symdp_ros.cli.ros2_command import SymdpCommand

    return SymdpCommand()


def test_it_does_what_symdp_does(command, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    parser = argparse.ArgumentParser(prog='ros2')
    command.add_arguments(parser, 'ros2 symdp', argv=None)
    for file in MAP, 'no such file':
        status = command.main(parser=parser, args=parser.parse_args(['check', file]))
        printed, expected = capsys.readouterr(), run_symdp('check', file)
        assert (status, printed.out, printed.err) == (
            expected.returncode, expected.stdout, expected.stderr)


def test_bad_values_are_refused_as_symdp_does(command, capsys):
    parser = argparse.ArgumentParser(prog='ros2')
    command.add_arguments(parser, 'ros2 symdp')
    with pytest.raises(SystemExit, match='2'):
        parser.parse_args(['calibrate', MAP, '--epsilon', '-1'])
    assert 'epsilon' in capsys.readouterr().err


def test_it_tells_the_version_as_symdp_does(command, capsys):
    parser = argparse.ArgumentParser(prog='ros2')
    command.add_arguments(parser, 'ros2 symdp')
    with pytest.raises(SystemExit, match='0'):
        parser.parse_args(['--version'])
    assert capsys.readouterr().out == run_symdp('--version').stdout


def ros2(*arguments, **environment):
    pytest.importorskip('ros2cli', reason='ros2cli is not installed')
    if 'symdp' not in entry_points(group='ros2cli.command').names:
        pytest.skip('this installation has no entry point of ros2cli: install it again')
    return subprocess.run([sys.executable, '-c', ROS2, *arguments], cwd=ROOT, text=True,
                          capture_output=True, env={**os.environ, **environment})


def test_ros2_runs_it():
    run = ros2('symdp', 'check', MAP)
    assert (run.returncode, run.stdout) == (0, run_symdp('check', MAP).stdout)
    assert '\n  symdp ' in ros2('-h').stdout


def test_ros2_completes_it(tmp_path):
    """As a shell asks: the answers come on a file that it names."""
    line, answers = 'ros2 symdp calibrate --target', tmp_path / 'answers'
    ros2(_ARGCOMPLETE='1', COMP_LINE=line, COMP_POINT=str(len(line)), COMP_TYPE='9',
         _ARGCOMPLETE_STDOUT_FILENAME=str(answers))
    assert answers.read_text().strip() == '--target-error'
