# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp chain`, and what `symdp check --regions` finds."""
import json
import os

from in_process import report, ROOT, run_symdp
import pytest
from shared_data import ABSENT
from symdp_ros.files.durable import write_new_file
from symdp_ros.maps import read_graph
from symdp_ros.maps.graph import TransitionGraph

REGIONS = ROOT / 'config' / 'depot.regions.yaml'


def same(written, graph: TransitionGraph):
    return (written.initial_state == graph.initial_state and written.tick == graph.tick
            and written.moves == graph.moves and written.complete == graph.complete
            and list(written.successors.items()) == list(graph.successors.items()))


@pytest.mark.parametrize('file, options, choices', [
    ('config/depot.regions.yaml', [], {}),
    ('config/depot.regions.yaml', ['--self-loops', '--initial-state', '33'],
     {'self_loops': True, 'initial_state': '33'}),
    ('config/depot.geojson', [], {}), ('config/modes.chain.yaml', [], {}),
    ('config/warehouse.chain.yaml', ['--self-loops'], {'self_loops': True}),
    ('../shared/data/nav2/test_error_codes.geojson', ['--self-loops'], {'self_loops': True}),
    ('config/depot.geojson', ['--prune'], {'prune': True}),
    ('../shared/data/rmf/hotel.building.yaml', ['--graph', '0', '--level', 'L2'],
     {'graph': 0, 'level': 'L2'}),
    ('../shared/data/lcas_tmap2/test.tmap2', [], {}),
])
def test_the_chain_file_is_the_map(tmp_path, file, options, choices):
    if not (ROOT / file).exists():
        pytest.skip(f'{ABSENT}: {file}')
    graph, output = read_graph(ROOT / file, **choices), tmp_path / 'new.chain.yaml'
    run = run_symdp('chain', file, *options, '-o', output)
    assert run.returncode == 0, run.stderr
    assert f'new.chain.yaml: {len(graph.successors)} states, ' in run.stdout
    assert ('names no initial_state' in run.stdout) == (graph.initial_state is None)
    assert same(read_graph(output), graph)
    assert [file.name for file in tmp_path.iterdir()] == ['new.chain.yaml']


def test_odd_names_and_all_keys_are_written(tmp_path):
    names = ['no', '1', 'null', '厨房', '🤖', 'a: b', '- x', 'x' * 1000, '~',
             ' leading', '"', "'", '&a', '1:30', '=', '<<']
    source, output = tmp_path / 'odd.yaml', tmp_path / 'new.yaml'
    quoted = {name: json.dumps(name) if name != '🤖' else '"🤖"' for name in names}
    source.write_text('initial_state: "no"\ntick: 0.1\nmoves: 3\ntransitions:\n' + ''.join(
        f'  ? {quoted[name]}\n  : {{{quoted[name]}: 0.3, {quoted[other]}: 0.7}}\n'
        for name, other in zip(names, names[1:] + names[:1], strict=True)), 'utf-8')
    assert run_symdp('chain', source, '-o', output).returncode == 0
    assert same(read_graph(output), read_graph(source))
    assert list(read_graph(output).successors) == names


def test_a_file_is_never_replaced(tmp_path):
    output = tmp_path / 'new.chain.yaml'
    output.write_text('mine')
    for name in (output, tmp_path / 'link.yaml'):
        if name != output:
            name.symlink_to('nowhere')
        run = run_symdp('chain', REGIONS, '-o', name)
        assert run.returncode == 1 and 'is there already: name another file' in run.stderr
    assert output.read_text() == 'mine' and len(list(tmp_path.iterdir())) == 2


def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path):
    """In a container every process may have the number of the one that was killed."""
    (tmp_path / f'.{os.getpid()}.symdp').write_text('half')
    write_new_file(tmp_path / 'new.chain.yaml', 'whole')
    assert (tmp_path / 'new.chain.yaml').read_text() == 'whole'
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize('output, text', [
    ('new.txt', 'is to be a chain file: give it a name that ends in .chain.yaml'),
    ('nowhere/new.yaml', 'No such file or directory')])
def test_outputs_that_are_refused(tmp_path, output, text):
    run = run_symdp('chain', REGIONS, '-o', output, cwd=tmp_path)
    assert run.returncode == 1 and text in run.stderr and 'Traceback' not in run.stderr


def test_dead_ends_are_refused(tmp_path):
    file = tmp_path / 'ends.yaml'
    file.write_text('transitions: {a: [b], b: []}\n')
    run = run_symdp('chain', file, '-o', tmp_path / 'new.yaml')
    assert run.returncode == 1 and 'b. Add the missing moves' in run.stderr
    assert not (tmp_path / 'new.yaml').exists()


def test_the_sample_fits_its_map():
    run = run_symdp('check', 'config/depot.geojson', '--regions', REGIONS)
    lines = report(run)
    assert run.returncode == 0
    assert {lines[name] for name in ('without a polygon', 'without a state', 'not in its polygon',
                                     'do not touch')} == {'none'}


def test_how_polygons_fit_a_map(tmp_path):
    text = REGIONS.read_text()
    for old, new in (('  0: ', '  gate: '), ('  8: [[19.5, 0]', '  8: [[19.6, 0]'),
                     ('4], [19.5, 4]]', '4], [19.6, 4]]'),
                     ('  1: [[-1.5, 1.5], [1.5, 1.5]', '  1: [[-1.5, 3.5], [1.5, 3.5]'),
                     ('initial_state: 0', 'initial_state: 1')):
        assert old in text
        text = text.replace(old, new, 1)
    file = tmp_path / 'depot.regions.yaml'
    file.write_text(text)
    run = run_symdp('check', 'config/depot.geojson', '--regions', file)
    lines = report(run)
    assert lines['without a polygon'] == '0' and lines['without a state'] == 'gate'
    assert lines['not in its polygon'] == '1'
    assert lines['do not touch'] == '5 - 8, 6 - 8'
    assert run.returncode == 1
    assert "line 8: the polygon 'gate' names no state of the map" in run.stderr
    file.write_text('\n'.join(line for line in text.split('\n') if 'gate' not in line))
    assert run_symdp('check', 'config/depot.geojson', '--regions', file).returncode == 0
    run = run_symdp('check', 'config/depot.geojson', '--regions', 'config/modes.chain.yaml')
    assert run.returncode == 1 and 'modes.chain.yaml: this is no regions file' in run.stderr


def test_floors_need_not_touch(tmp_path):
    file = tmp_path / 'floors.yaml'
    file.write_text('regions: {a: {polygon: [[0, 0], [1, 0], [1, 1]], level: L1}, '
                    'b: {polygon: [[0, 0], [1, 0], [1, 1]], level: L2}}\n')
    chain = tmp_path / 'chain.yaml'
    chain.write_text('initial_state: a\ntransitions: {a: [b], b: [a]}\n')
    assert report(run_symdp('check', chain, '--regions', file))['do not touch'] == 'none'
