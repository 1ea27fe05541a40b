# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp release --keep`: what is charged, drawn, written and printed; and killed."""
from forked import forked
from forked_children import forked_children  # noqa: F401
from in_process import CHAIN, run_symdp
from patrol_bags import patrol, read_bag, START, STORE, string, write_bag
import pytest
from symdp_ros import Chain
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import write_log

PATROL = ['dock', 'gate', 'aisle_1', 'packing', 'charger', 'charger', 'gate'] * 3
ARGUMENTS = ('--chain', CHAIN, '--epsilon=1', '--adjacency=1', '--mechanism', 'causal', '--ledger',
             'robots.ledger', '--subject', 'r1')
KILLED = """
import os
from symdp_ros.cli.main import main
from symdp_ros.release import outbox
import symdp_ros.release.archives.archive
def run(place, at, *arguments):
    os.chdir(place)
    setattr(outbox if at == 'move' else outbox.Outbox, at, lambda *arguments: os._exit(9))
    main(arguments)
"""


@pytest.fixture(scope='module')
def killed():
    """Give what releases Monday's log in a process that ends at once where `outbox` would `at`."""
    with forked(KILLED) as run:
        yield lambda place, at, *keeping: run(place, at, 'release', 'monday', '-o', 'out',
                                              *ARGUMENTS, *keeping)[0]


@pytest.fixture
def place(tmp_path):
    write_bag(tmp_path / 'monday', 'sqlite3', patrol(PATROL))
    write_bag(tmp_path / 'tuesday', 'mcap', patrol(PATROL[:9]))
    return tmp_path


def release(place, *arguments, logs=('monday', 'tuesday'), out='out'):
    return run_symdp('release', *logs, '-o', out, *ARGUMENTS, *arguments, cwd=place,
                     COLUMNS='200')


def released(place, out='out'):
    return sorted(path for path in (place / out).iterdir() if path.name[0] != '.')


def word(path):
    return tuple(STORE.deserialize_cdr(data, 'std_msgs/msg/String').data
                 for _, data in read_bag(path)[0]['/region'])


def spent(place):
    with Ledger(place / 'robots.ledger') as ledger:
        return float(ledger.spent('r1')), [charge.words for charge in ledger.charges()]


def results_of(text):
    """Return topic → what becomes of it, of the table in a text."""
    results = {'private', 'kept', 'refused', 'dropped'}
    return {line.split()[0]: next(iter(results & set(line.split()[1:3])), None)
            for line in text.splitlines() if line.startswith('/')}


def test_releases_with_topics(place):
    run = release(place, '--keep', '/battery_state', '--keep', 'name')
    assert run.returncode == 0, run.stderr
    assert [path.name for path in released(place)] == ['000001.private', '000002.private']
    for path in released(place):
        assert (path / 'private_0.mcap').exists()
        assert read_bag(path)[1].keys() == {'/region', '/battery_state', '/name'}
        assert Chain.from_yaml(CHAIN).is_feasible(word(path))
    assert spent(place) == (2.0, [(word(path),) for path in released(place)])
    for text in ('monday and 1 more:', 'covered by ε', 'shows when the robot docks',
                 'not listed in --keep; shows where frames are', '--coarse-stamps makes it less',
                 'ε does not cover kept topics'):
        assert text in run.stdout, text
    again = release(place, '--keep', '/battery_state', '--keep', 'name')
    assert again.returncode == 0 and '2 already released' in again.stdout
    assert len(released(place)) == 2 and spent(place)[0] == 2.0


def test_other_topics_do_not_draw_again(place):
    """The words of the ledger are written again; an equal release is not written twice."""
    assert release(place, '--format', 'csv').returncode == 0  # without topics: text
    _, words = spent(place)
    for keeping in (['/battery_state'], ['/name', '/diagnostics'], ['/battery_state']):
        topics = [argument for name in keeping for argument in ('--keep', name)]
        run = release(place, *topics, '--format', 'sqlite3', '--coarse-stamps', '0.5')
        assert run.returncode == 0 and '2 already released' in run.stdout, run.stdout
        assert spent(place) == (2.0, words)
    assert len(released(place)) == 6
    recordings = [path for path in released(place) if path.is_dir()]
    assert sorted(word(path) for path in recordings) == sorted(
        [*(each[0] for each in words)] * 2)
    elsewhere = release(place, '--keep', '/name', out='other')
    assert elsewhere.returncode == 0 and spent(place) == (2.0, words)
    assert sorted(map(word, released(place, 'other'))) == sorted(each[0] for each in words)


def test_nothing_is_charged_for_what_is_refused(place):
    for arguments, why in ((['--keep', '/tf'], 'shows where frames are'),
                           (['--keep', '/batery_state'], 'did you mean /battery_state?')):
        run = release(place, *arguments)
        assert run.returncode == 1 and why in run.stdout.replace('\n', ' ')
        assert released(place) == [] and spent(place) == (0.0, [])
    for arguments, why in ((['--keep', '/region'], 'holds the region'),
                           (['--keep-anyway', '/region'], 'holds the region'),
                           (['--keep', '/name', '--format', 'jsonl'], 'recordings alone'),
                           (['--keep', '/name', '--format', 'csv'],
                            "format is 'csv', and topics are kept in recordings alone: choose "
                            'sqlite3 or mcap, or leave keep out'),
                           (['--keep', '/name', '--unknown-symbol', 'split'], 'split cuts'),
                           (['--coarse-stamps', '1'], 'for kept topics')):
        run = release(place, *arguments)
        assert run.returncode != 0 and why in run.stderr, run.stderr
    write_log(place / 'wednesday.csv', PATROL, format='csv')
    run = release(place, '--keep', '/name', logs=['wednesday.csv'])
    assert run.returncode == 1
    assert 'thislogisnorecording' in ''.join(run.stdout.split())
    assert spent(place) == (0.0, [])
    assert release(place, '--keep', '/name', '--keep-anyway', '/tf').returncode == 0
    assert read_bag(released(place)[0])[1].keys() == {'/region', '/name', '/tf'}


@pytest.mark.parametrize('form', ['sqlite3', 'mcap'])
def test_a_kill_between_the_charge_and_the_move(place, killed, form):
    """What was charged is handed out at the next start, kept topics and all."""
    keeping = ('--keep', '/battery_state', '--format', form)
    assert killed(place, 'move', *keeping) == 9
    assert released(place) == [] and spent(place)[0] == 1.0
    run = release(place, *keeping, logs=['monday'])
    assert run.returncode == 0 and '1 already released' in run.stdout
    [path] = released(place)
    assert read_bag(path)[1].keys() == {'/region', '/battery_state'}
    assert spent(place) == (1.0, [(word(path),)])
    assert not list((place / 'out').glob('.staging*'))


def test_a_kill_before_the_charge(place, killed):
    """Nothing is charged, and no copy of a topic is left."""
    assert killed(place, 'check', '--keep', '/battery_state') == 9
    assert list((place / 'out').glob('.staging*/*/*.mcap'))
    assert released(place) == [] and spent(place) == (0.0, [])
    assert release(place, logs=['monday']).returncode == 0
    assert [path.name for path in released(place)] == ['000001.private.csv']
    assert not list((place / 'out').glob('.staging*'))


def test_a_dry_run(place):
    """It shows what a release prints of the topics, and all that it refuses."""
    keeping = ('--keep', '/tf', '--keep', '/odd', '--keep', '/name')
    run = release(place, *keeping, '--dry-run')
    assert run.returncode == 1 and 'monday: the topic /tf has the type' in run.stderr
    assert [results_of(run.stderr)[name] for name in ('/region', '/name', '/odd', '/tf')] == [
        'private', 'kept', 'refused', 'refused'], run.stderr
    assert results_of(run.stderr)['/battery_state'] == 'dropped'
    run = release(place, '--keep', '/battery_state', '--dry-run')
    assert run.returncode == 0 and run.stdout == '' and not (place / 'out').exists()
    assert 'monday and 1 more:' in run.stderr and 'ε does not cover kept topics' in run.stderr
    assert results_of(run.stderr) == results_of(
        release(place, '--keep', '/battery_state').stdout) != {}
    write_log(place / 'wednesday.csv', PATROL, format='csv')
    run = release(place, '--keep', '/name', '--dry-run', logs=['wednesday.csv'])
    assert run.returncode == 1 and 'wednesday.csv: this log is no recording' in run.stderr
    assert results_of(run.stderr) == {}


def test_what_was_staged_is_lost(place, killed):
    """It is written again, with the same private symbols."""
    assert killed(place, 'move', '--keep', '/battery_state') == 9
    for file in (place / 'out').glob('.staging*/*/*'):
        file.unlink()
    _, words = spent(place)
    run = release(place, '--keep', '/name', logs=['monday'])
    assert '1 already released' in run.stdout, run.stdout
    [path] = released(place)
    assert read_bag(path)[1].keys() == {'/region', '/name'}
    assert spent(place) == (1.0, words) and (word(path),) == words[0]


def test_a_topic_with_hostile_names(place):
    write_bag(place / 'odd', 'mcap', [*patrol(PATROL), ('/x\x1b[2J\n', START, string('x'))])
    run = release(place, '--keep', '/name', logs=['odd'])
    assert run.returncode == 0 and '\x1b' not in run.stdout and r'/x\x1b[2J\n' in run.stdout
