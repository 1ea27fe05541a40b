# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `log_release` with kept topics: no answer or log depends on what a recording holds."""
import json

from patrol_bags import patrol, read_bag, write_bag

PATROL = list('abbc' * 4)


def released(place):
    return sorted(path for path in (place / 'releases').iterdir() if path.name[0] != '.')


def test_kept_topics(world, tmp_path, chain_file):
    """The first log has the topics, the second lacks them, in the third their type shows more."""
    for name in ('logs', 'releases'):
        (tmp_path / name).mkdir()
    messages = patrol(PATROL)
    poses = {topic: kind for topic, _, kind in messages}['/tf']
    for name, log in (('one', messages), ('two', [m for m in messages if m[0] == '/region']),
                      ('six', [(topic, stamp, poses if topic == '/name' else kind)
                               for topic, stamp, kind in messages])):
        write_bag(tmp_path / 'logs' / name, 'sqlite3', log)
    run = world.start('log_release', **{
        'chain_file': chain_file, 'epsilon': 1.0, 'log_dir': tmp_path / 'logs',
        'release_dir': tmp_path / 'releases', 'ledger_file': tmp_path / 'robots.ledger',
        'subject': 'r1', 'keep': '[/name, battery_state]', 'coarse_stamps': 0.5,
        'mechanism': 'causal', 'keep_names': True})
    run.wait_for('active')
    assert 'kept topics: /battery_state, /name: ε does not cover them' in run.log
    answer = world.trigger('/log_release/release')
    assert answer.success and [
        (log['log'], log['releases']) for log in json.loads(answer.message)['logs']] == [
        ('one', ['one.private']), ('six', ['six.private']), ('two', ['two.private'])]
    kept = {path.name: read_bag(path)[1].keys() - {'/region'} for path in released(tmp_path)}
    assert kept == {'one.private': {'/name', '/battery_state'}, 'two.private': set(),
                    'six.private': {'/battery_state'}}
    lines = [line.split(': ', 1)[-1] for line in run.log.splitlines()
             if any(f' {name}: ' in line for name in ('one', 'two', 'six'))]
    assert len(lines) == 3 and all(line.endswith('16 symbols released') for line in lines)
    assert run.stop() == 0
    assert not any(word in run.log for word in ('/tf', '/secret', 'TFMessage', 'frames'))
