# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Archives on a Dask cluster of two processes on this machine: once each, whatever is lost."""
from collections import Counter
from dataclasses import replace
from itertools import product
from math import exp
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time

from forked_children import fork_children
import pytest
from refusals import refused
from scipy.stats import chi2
from symdp_ros import Chain, ConfigurationError, OfflineMechanism, Privacy
from symdp_ros.ledger.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip('pyarrow.parquet', reason='archives need pyarrow')
distributed = pytest.importorskip('distributed', reason='the extra dask is not installed')

from symdp_ros.release import outbox  # noqa: E402, I100
from symdp_ros.release.archives import cluster, file as archive_file  # noqa: E402
from symdp_ros.release.outbox import digest_of  # noqa: E402

#: Of a false alarm, for each of the four comparisons with the exact distribution.
ALPHA = 1e-7


@pytest.fixture(scope='module')
def scheduler():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  host='127.0.0.1', dashboard_address='127.0.0.1:0') as running:
        with distributed.Client(running, set_as_default=False) as client:
            client.run(fork_children)
        yield running.scheduler_address


@pytest.fixture(autouse=True)
def small_tasks(walks):
    walks.sizes = {'task_rows': 200}


def lengths(routes):
    return [(name, len(word)) for name, word in routes]


def test_an_archive_is_released_into_parts(walks, scheduler):
    routes = walks.words(400)
    walks.archive(routes, group=150)
    told = []
    outcome = walks.release(walks.settings(mechanism='auto'), scheduler=scheduler,
                            on_rows=lambda rows, total: told.append((rows, total)))
    assert (outcome.kind, outcome.files) == ('released', (walks.output,)), outcome.reason
    parts = sorted(walks.output.iterdir())
    assert [part.name for part in parts] == [f'part-{i:05d}.parquet' for i in range(len(parts))]
    assert len(parts) > 3 and len(told) == len(parts)
    assert sum(rows for rows, _ in told) == told[0][1] == outcome.length
    assert lengths(walks.read()) == lengths(routes)
    assert all(walks.chain.is_feasible(word) for _, word in walks.read())
    assert all(part.stat().st_mtime == 0 for part in parts)
    walks.check()
    # Again: the same, from here or from the cluster, to there or elsewhere.
    assert walks.release(walks.settings(mechanism='auto')).kind == 'already released'
    other = walks.output.with_name('copy.parquet')
    assert walks.release(walks.settings(mechanism='auto'), scheduler=scheduler,
                         output=other).kind == 'already released'
    assert walks.read(other) == walks.read() and walks.spent() == 1


def test_parts_follow_from_lengths_alone(walks, scheduler):
    """Where a part ends must not tell of the row groups of the file that is read."""
    walks.sizes = {'task_rows': 20}
    routes = [('a', 'ab'), ('b', 'abc' * 40), ('c', 'c'), ('d', 'abbcc' * 5), ('e', 'a')]
    for group in (10, 7, 1000):
        walks.archive(routes, group=group, start=1)
        output = walks.base / 'out' / f'{group}.parquet'
        assert walks.release(scheduler=scheduler, ledger=False, output=output).kind == 'released'
        assert lengths(walks.read(output)) == lengths(routes)
        assert [lengths(walks.read(part)) for part in sorted(output.iterdir())] == [
            lengths(routes[:2]), lengths(routes[2:4]), lengths(routes[4:])]


def test_an_attempt_that_ends_late_is_seen_by_nobody(walks, scheduler, monkeypatch):
    """Its task was won by another attempt, and all is over."""
    tasks, real = [], cluster._winners

    def winners(client, some, tell):
        tasks.extend(some)
        lost = cluster.write_part(some[0])  # on a worker that was given up as lost
        assert (some[0].directory / lost.name).exists()
        return real(client, some, tell)

    monkeypatch.setattr(cluster, '_winners', winners)
    routes = walks.words(200)
    walks.archive(routes, group=100)
    assert walks.release(scheduler=scheduler).kind == 'released'
    walks.check()
    before = sorted(walks.base.rglob('*'))
    with pytest.raises(cluster.LogError, match='cannot write the release: No such file'):
        cluster.write_part(tasks[0])
    assert sorted(walks.base.rglob('*')) == before
    assert lengths(walks.read()) == lengths(routes)


def test_what_is_wrong_with_an_archive_is_said_here(walks, scheduler, monkeypatch):
    walks.archive([(1, 'ab'), (2, ['secret'] * 5), (1, 'ab')], group=3)
    real = archive_file.Archive.survey

    def changed(archive, wanted):
        survey = real(archive, wanted)
        return replace(survey, start=1 - survey.start)

    monkeypatch.setattr(archive_file.Archive, 'survey', changed)
    outcome = walks.release(scheduler=scheduler)
    assert outcome.kind == 'failed' and 'row ' in outcome.reason
    assert 'not with position 1' in outcome.reason and 'secret' not in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []
    assert os.listdir(walks.output.parent) == ['.symdp_ros.lock']


def test_errors_of_workers_carry_no_symbol(walks, scheduler):
    def fails():
        from symdp_ros.release.archives import cluster

        def attempt(task):
            raise ValueError('secret')

        cluster._attempt, cluster.real_attempt = attempt, cluster._attempt

    def works():
        from symdp_ros.release.archives import cluster

        cluster._attempt = cluster.real_attempt

    walks.archive(walks.words(100), group=100)
    with distributed.Client(scheduler, set_as_default=False) as client:
        client.run(fails)
        outcome = walks.release(scheduler=scheduler)
        client.run(works)
    assert outcome.kind == 'failed'
    assert outcome.reason == 'a worker had an error of type ValueError: please report it'
    assert walks.spent() == 0 and walks.visible() == []


def test_a_scheduler_that_does_not_answer(walks, monkeypatch):
    walks.archive(walks.words(10))
    monkeypatch.setattr(cluster, '_PATIENCE', 0.5)
    for address, text in (('tcp://127.0.0.1:1', 'does not answer'), ('nonsense://x', 'no address'),
                          ('tcp://127.0.0.1', 'no address'), ('', 'no address')):
        outcome = walks.release(scheduler=address)
        assert outcome.kind == 'failed' and text in outcome.reason
    monkeypatch.setitem(sys.modules, 'distributed', None)
    outcome = walks.release(scheduler='tcp://127.0.0.1:1')
    assert 'install symdp_ros with its extra dask' in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []


def test_the_command_line(walks, scheduler):
    routes = walks.words(300)
    walks.archive(routes, group=100)
    (walks.base / 'chain.yaml').write_text(
        'initial_state: a\ntransitions: {a: [a, b], b: [b, c], c: [c, a]}\n')
    run = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'release', walks.path.name, '-o',
         'out/private.parquet', '--chain', 'chain.yaml', '--epsilon', '1', '--scheduler',
         scheduler, '--ledger', 'robots.ledger', '--subject', 'r1', '--allow-unknown', '1'],
        cwd=walks.base, capture_output=True, text=True, timeout=120,
        env={**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '200'})
    assert run.returncode == 0, run.stdout + run.stderr
    assert '1 released' in run.stdout and 'Traceback' not in run.stderr
    assert walks.output.is_dir() and lengths(walks.read()) == lengths(routes)
    walks.check()


WORDS = ('abb', 'acx', 'cb')


@pytest.mark.parametrize('mechanism', ['causal', 'exponential'])
@pytest.mark.parametrize('where', ['process', 'cluster'])
def test_releases_have_the_exact_distribution(walks, scheduler, where, mechanism):
    """
    χ² of the released words against the exact distribution, in one process and on the cluster.

    Drawn from the operating system's randomness: there is no seed to replay.
    """
    walks.sizes = {'task_rows': 20_000, 'chunk_rows': 10_000}
    count = 10_000
    walks.archive([(i, WORDS[i % 3]) for i in range(3 * count)], group=15_000)
    settings = walks.settings(mechanism=mechanism, policy='guided', base='chain')
    more = {'scheduler': scheduler} if where == 'cluster' else {}
    assert walks.release(settings, ledger=False, **more).kind == 'released'
    released = walks.read()
    assert [i for i, _ in released] == list(range(3 * count))
    drawn = Counter((i % 3, ''.join(word)) for i, word in released)
    exact = OfflineMechanism(walks.chain, settings.privacy, selection=mechanism)
    statistic = degrees = 0
    for number, word in enumerate(WORDS):
        sensitive = [symbol if symbol in 'abc' else None for symbol in word]
        chances = {''.join(o): exp(exact.log_probability(sensitive, o))
                   for o in product('abc', repeat=len(word)) if walks.chain.is_feasible(o)}
        assert sum(chances.values()) == pytest.approx(1)
        assert {o for n, o in drawn if n == number} <= set(chances)
        statistic += sum((drawn[number, o] - count * chance)**2 / (count * chance)
                         for o, chance in chances.items())
        degrees += len(chances) - 1
    chance = chi2.sf(statistic, degrees)
    print(f'χ² = {statistic:.1f} at {degrees} degrees of freedom: p = {chance:.2g}')
    assert chance > ALPHA


def test_settings_and_tasks_can_be_sent(walks):
    import pickle

    chains = [walks.chain, Chain.complete(list('abc'), 'b'),
              Chain({'a': {'a': 0.5, 'b': 0.5}, 'b': ['a']}, 'a')]
    for chain in chains:
        settings = walks.settings(chain=chain)
        sent = pickle.loads(pickle.dumps(settings))
        assert sent == settings and sent.digest() == settings.digest()
        assert sent.states_by_value() == settings.states_by_value()


def test_a_directory_that_the_workers_do_not_share(walks, scheduler, monkeypatch):
    real = cluster._winners

    def elsewhere(client, tasks, tell):
        parts = real(client, tasks, tell)
        (tasks[0].directory / parts[0].name).unlink()
        return parts

    monkeypatch.setattr(cluster, '_winners', elsewhere)
    walks.archive(walks.words(100), group=100)
    outcome = walks.release(scheduler=scheduler)
    assert outcome.kind == 'failed' and 'under the same paths' in outcome.reason
    assert walks.spent() == 0 and os.listdir(walks.output.parent) == ['.symdp_ros.lock']
    with Ledger(walks.ledger) as ledger:
        assert ledger.charges() == []


def test_an_interrupt_leaves_nothing(walks, scheduler):
    walks.archive(walks.words(300), group=100)

    def tell(rows, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        walks.release(scheduler=scheduler, on_rows=tell)
    assert walks.spent() == 0 and os.listdir(walks.output.parent) == ['.symdp_ros.lock']
    assert walks.release(scheduler=scheduler).kind == 'released'
    walks.check()


# Kills itself when the second part is there.
DRIVER = """
import os, signal, sys
sys.path[:0] = 'test/release', 'test/logs'
from pathlib import Path
from conftest import ArchivePlace
walks = ArchivePlace(Path(sys.argv[1]))
walks.sizes = {'task_rows': 200}
told = []
def tell(rows, total):
    told.append(rows)
    if len(told) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
walks.release(scheduler=sys.argv[2], on_rows=tell)
"""


def test_after_a_kill_of_the_driver_nothing_is_free_and_nothing_is_left(walks, scheduler):
    routes = walks.words(300)
    walks.archive(routes, group=100)
    killed = subprocess.run([sys.executable, '-c', DRIVER, str(walks.base), scheduler], cwd=ROOT,
                            timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert list(walks.output.parent.glob('.staging-*/*.attempts/*.parquet'))
    assert walks.spent() == 0 and walks.visible() == []
    assert walks.release(scheduler=scheduler).kind == 'released'
    assert lengths(walks.read()) == lengths(routes) and walks.spent() == 1
    walks.check()


def test_parts_that_are_charged_and_cannot_be_moved_are_moved_at_the_next_start(
        walks, scheduler, monkeypatch):
    walks.archive(walks.words(300), group=100)

    def fails(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(outbox, '_move', fails)
    with pytest.raises(KeyboardInterrupt):
        walks.release(scheduler=scheduler)
    monkeypatch.undo()
    assert walks.spent() == 1 and walks.visible() == []
    assert walks.release(scheduler=scheduler).kind == 'already released'
    assert lengths(walks.read()) == lengths(walks.words(300))
    walks.check()


def test_without_an_address_it_is_a_configuration_error(monkeypatch):
    monkeypatch.setattr(cluster, '_PATIENCE', 0.5)
    with refused(ConfigurationError, 'tcp://HOST:PORT', setting='scheduler'), \
            cluster.connected('127.0.0.1'):
        pass


def slow(folder):
    """Return what makes a worker wait before it hands in its second part, until it is told to."""
    def patch():
        from pathlib import Path
        import time

        from symdp_ros.release.archives import cluster

        real, done = cluster._attempt, []

        def attempt(task):
            part = real(task)
            done.append(part)
            if len(done) == 2:
                Path(folder, f'waiting-{os.getpid()}').touch()
                while not Path(folder, 'go').exists():
                    time.sleep(0.01)
            return part

        cluster._attempt = attempt
        return os.getpid()

    return patch


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, 'it does not come'
        time.sleep(0.01)


def test_a_worker_that_is_killed_loses_nothing_and_doubles_nothing(walks, scheduler):
    """Both have handed in a part, and have another on the disk, when one of them is killed."""
    routes = walks.words(400)
    walks.archive(routes, group=100)
    outcomes = []
    with distributed.Client(scheduler, set_as_default=False) as client:
        pids = list(client.run(slow(str(walks.base))).values())
    assert len(set(pids)) == 2
    thread = threading.Thread(target=lambda: outcomes.append(walks.release(
        scheduler=scheduler, subject_budget=1.0)))
    thread.start()
    wait_for(lambda: len(list(walks.base.glob('waiting-*'))) == 2)
    attempts = list(walks.output.parent.glob('.staging-*/*.attempts/*.parquet'))
    assert len(attempts) >= 4 and walks.visible() == [] and walks.spent() == 0
    written = {digest_of(path) for path in attempts}
    os.kill(pids[0], signal.SIGKILL)
    wait_for(lambda: not Path(f'/proc/{pids[0]}').exists())
    (walks.base / 'go').touch()
    thread.join(120)
    [outcome] = outcomes
    assert outcome.kind == 'released', outcome.reason
    assert lengths(walks.read()) == lengths(routes)  # each route once, in order and whole
    assert walks.spent() == 1
    walks.check()
    assert sorted(os.listdir(walks.output.parent)) == ['.symdp_ros.lock', walks.output.name]
    # What the killed one had written and not handed in is not among it.
    assert not written <= {digest_of(path) for path in walks.output.iterdir()}
    again = walks.release(walks.settings(privacy=Privacy(0.5)), subject_budget=1.0,
                          output=walks.output.with_name('more.parquet'))
    assert again.kind == 'refused' and walks.spent() == 1
