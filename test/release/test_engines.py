# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Archives on engines with two workers on this machine: once each, whatever is lost."""
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import exp
import os
from pathlib import Path
import pickle
import random
import signal
import stat
import subprocess
import sys
import threading

from forked_children import fork_children
import psutil
import pytest
from scipy.special import chdtrc
from symdp_ros import Chain, LogError, OfflineMechanism, Privacy
from symdp_ros.ledger.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip('pyarrow.parquet', reason='archives need pyarrow')

from symdp_ros.release.archives import dataset, engines  # noqa: E402, I100
from symdp_ros.release.archives.tasks import Work  # noqa: E402

#: Of a false alarm, for each of the two comparisons with the exact distribution.
ALPHA = 1e-7


@pytest.fixture(scope='module')
def distributed():
    """Return the library of Dask's clusters: to import it takes most of a second."""
    return pytest.importorskip('distributed', reason='the extra dask is not installed')


@pytest.fixture(scope='module')
def scheduler(distributed):
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  host='127.0.0.1', dashboard_address='127.0.0.1:0') as running:
        with distributed.Client(running, set_as_default=False) as client:
            client.run(fork_children)
        yield running.scheduler_address


@pytest.fixture(scope='module')
def ray():
    started = pytest.importorskip('ray', reason='the extra ray is not installed')
    started.init('local', num_cpus=2, include_dashboard=False, log_to_driver=False,
                 configure_logging=False)
    yield
    started.shutdown()


@pytest.fixture(scope='module')
def spark():
    sql = pytest.importorskip('pyspark.sql', reason='the extra spark is not installed')
    os.environ['PYSPARK_PYTHON'] = sys.executable
    session = sql.SparkSession.builder.master('local[2,4]').config(map={
        'spark.ui.enabled': 'false', 'spark.driver.host': '127.0.0.1',
        'spark.driver.bindAddress': '127.0.0.1'}).getOrCreate()
    yield
    session.stop()


@pytest.fixture(params=['dask', 'ray', 'spark'])
def engine(request):
    """Give how `ArchivePlace.release` is told to use each engine."""
    started = request.getfixturevalue(
        'scheduler' if request.param == 'dask' else request.param)
    return {'engine': request.param, 'scheduler': started or ''}


@pytest.fixture(autouse=True)
def small_tasks(walks):
    walks.sizes = {'task_rows': 200}


def ports():
    """Return the ports at which this process and its children listen."""
    here, found = psutil.Process(), set()
    for process in [here, *here.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            connections = getattr(process, 'net_connections',
                                  getattr(process, 'connections', None))()
            found |= {(c.laddr.ip, c.laddr.port) for c in connections
                      if c.status == psutil.CONN_LISTEN}
    return found


# What another user of the machine can do: send a scheduler work that says as whom it ran.
STRANGER = """
import logging, os, sys
from distributed import Client
logging.disable()
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for port in sys.argv[1:]:
    try:
        with Client(f'tcp://127.0.0.1:{port}', timeout=3, set_as_default=False) as client:
            print('ran as', client.submit(os.getuid).result(timeout=10))
    except Exception:
        pass
"""

# The same of Spark: a Java that knows no secret asks a driver for one of its endpoints, and a
# gateway of Python for a property. Whose Java it is makes no difference at a port.
STRANGER_TO_SPARK = """
import sys
from py4j.java_gateway import GatewayParameters, JavaGateway
from pyspark.java_gateway import launch_gateway
gateway = launch_gateway()
spark = gateway.jvm.org.apache.spark
manager = getattr(getattr(spark, 'SecurityManager$'), 'MODULE$')
defaults = [getattr(manager, f'$lessinit$greater$default${i}')() for i in (2, 3)]
conf = spark.SparkConf(False).set('spark.rpc.lookupTimeout', '1s')
peer = getattr(getattr(spark.rpc, 'RpcEnv$'), 'MODULE$').create(
    'peer', '127.0.0.1', '127.0.0.1', -1, conf, spark.SecurityManager(conf, *defaults), 0, True)
for port in map(int, sys.argv[1:]):
    try:
        peer.setupEndpointRef(spark.rpc.RpcAddress('127.0.0.1', port), 'BlockManagerMaster')
        print('reached the driver')
    except Exception:
        pass
    try:
        other = JavaGateway(gateway_parameters=GatewayParameters(port=port, read_timeout=1))
        print('ran as', other.jvm.java.lang.System.getProperty('user.name'))
    except Exception:
        pass
"""


def stranger(found, program=STRANGER):
    """Return what a process of another user, if this one is root's, could run at some ports."""
    return subprocess.run([sys.executable, '-c', program, *(str(port) for _, port in found)],
                          cwd='/', capture_output=True, text=True, timeout=120).stdout


def lengths(routes):
    return [(name, len(word)) for name, word in routes]


def test_an_archive_is_released_into_parts(walks, scheduler):
    routes = walks.words(400)
    walks.archive(routes, group=150)
    told = []
    outcome = walks.release(walks.settings(mechanism='auto'), engine='dask', scheduler=scheduler,
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
    assert walks.release(walks.settings(mechanism='auto'), engine='dask', scheduler=scheduler,
                         output=other).kind == 'already released'
    assert walks.read(other) == walks.read() and walks.spent() == 1


def test_parts_follow_from_lengths_alone(walks, scheduler):
    """Where a part ends must not tell of the row groups of the file that is read."""
    walks.sizes = {'task_rows': 20}
    routes = [('a', 'ab'), ('b', 'abc' * 40), ('c', 'c'), ('d', 'abbcc' * 5), ('e', 'a')]
    for group in (10, 7, 1000):
        walks.archive(routes, group=group, start=1)
        output = walks.base / 'out' / f'{group}.parquet'
        assert walks.release(engine='dask', scheduler=scheduler, ledger=False,
                             output=output).kind == 'released'
        assert lengths(walks.read(output)) == lengths(routes)
        assert [lengths(walks.read(part)) for part in sorted(output.iterdir())] == [
            lengths(routes[:2]), lengths(routes[2:4]), lengths(routes[4:])]


def test_an_attempt_that_ends_late_is_seen_by_nobody(walks, scheduler, monkeypatch):
    """Its task was won by another attempt, and all is over."""
    late, real = [], engines.run

    def run(name, work, tasks, address):
        late.append((work, tasks[0]))
        lost = work(tasks[0])  # on a worker that was given up as lost
        assert (work.release.path.parent / lost.name).exists()
        return real(name, work, tasks, address)

    monkeypatch.setattr(engines, 'run', run)
    routes = walks.words(200)
    walks.archive(routes, group=100)
    assert walks.release(engine='dask', scheduler=scheduler).kind == 'released'
    walks.check()
    before = sorted(walks.base.rglob('*'))
    [(work, task)] = late
    with pytest.raises(LogError, match='cannot write the release: No such file'):
        work(task)  # it has no key any more
    assert sorted(walks.base.rglob('*')) == before
    assert lengths(walks.read()) == lengths(routes)


def test_what_is_wrong_with_an_archive_is_said_here(walks, engine, monkeypatch):
    walks.archive([(1, 'ab'), (2, ['secret'] * 5), (1, 'ab')], group=3)
    real = dataset.Dataset.survey
    monkeypatch.setattr(dataset.Dataset, 'survey', lambda archive, timed: replace(
        real(archive, timed), start=1))
    outcome = walks.release(**engine)
    assert outcome.kind == 'failed' and 'row ' in outcome.reason
    assert 'not with position 1' in outcome.reason and 'secret' not in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []
    assert os.listdir(walks.releases) == ['.symdp_ros.lock']


def test_errors_of_workers_carry_no_symbol(walks, scheduler, distributed):
    def fails():
        from symdp_ros.release.archives.tasks import Work

        def attempt(self, number, task):
            raise ValueError('secret')

        Work._attempt, Work.real = attempt, Work._attempt

    def works():
        from symdp_ros.release.archives.tasks import Work

        Work._attempt = Work.real

    walks.archive(walks.words(100), group=100)
    with distributed.Client(scheduler, set_as_default=False) as client:
        client.run(fails)
        outcome = walks.release(engine='dask', scheduler=scheduler)
        client.run(works)
    assert outcome.kind == 'failed'
    assert outcome.reason == 'a worker had an error of type ValueError: please report it'
    assert walks.spent() == 0 and walks.visible() == []


def test_other_users_can_send_no_work_to_what_is_started_here(walks, distributed):
    """Dask's own scheduler on one machine runs what anybody sends to its port; ours has none."""
    before, opened = ports(), set()
    with distributed.LocalCluster(n_workers=1, host='127.0.0.1', processes=False,
                                  protocol='tcp', dashboard_address=None) as open_to_all:
        [own] = [at for at in ports() - before if open_to_all.scheduler_address.endswith(
            f'//{at[0]}:{at[1]}')]
        assert stranger([own]) == f'ran as {os.getuid()}\n'
    before = ports()
    walks.archive(walks.words(400), group=100)
    outcome = walks.release(engine='dask', on_rows=lambda *_: opened.update(ports() - before))
    assert outcome.kind == 'released' and walks.output.is_dir(), outcome.reason
    assert not opened


def test_ray_is_not_started_here(walks):
    """Its ports on all interfaces, and its folder, are open to every user."""
    ray = pytest.importorskip('ray', reason='the extra ray is not installed')
    if ray.is_initialized():
        pytest.skip('another test has started it')
    before = ports()
    walks.archive(walks.words(10))
    outcome = walks.release(engine='ray')
    assert outcome.kind == 'failed' and 'ray needs --scheduler' in outcome.reason
    assert ports() == before


def test_spark_on_this_machine_asks_who_connects(walks):
    sql = pytest.importorskip('pyspark.sql', reason='the extra spark is not installed')
    if sql.SparkSession.getActiveSession() is not None:
        pytest.skip('another test has a session')
    with sql.SparkSession.builder.master('local[1]').config(map={
            'spark.ui.enabled': 'false', 'spark.driver.host': '127.0.0.1',
            'spark.authenticate': 'false'}).getOrCreate() as open_to_all:
        port = int(open_to_all.conf.get('spark.driver.port'))
        assert stranger([('', port)], STRANGER_TO_SPARK) == 'reached the driver\n'
    walks.archive(walks.words(100), group=100)
    for address in ('', 'local[2]'):
        before, opened, asks, reached = ports(), set(), set(), []

        def look(*_):
            opened.update(ports() - before)
            context = sql.SparkSession.getActiveSession().sparkContext
            asks.add(context.getConf().get('spark.authenticate'))
            if not reached:
                reached.append(stranger(opened, STRANGER_TO_SPARK))

        outcome = walks.release(engine='spark', scheduler=address, on_rows=look, ledger=False,
                                output=walks.output.with_name(f'{address}.parquet'))
        assert outcome.kind == 'released', outcome.reason
        assert asks == {'true'} and opened
        assert {host for host, _ in opened} <= {'127.0.0.1', '::ffff:127.0.0.1'}
        assert reached == ['']


def test_a_scheduler_with_tls(walks, tmp_path, distributed):
    """Its certificates are those of Dask's configuration."""
    import dask

    security = distributed.Security.temporary()
    with distributed.LocalCluster(n_workers=1, host='127.0.0.1', processes=False,
                                  protocol='tls', security=security,
                                  dashboard_address=None) as closed:
        address = closed.scheduler_address
        assert address.startswith('tls://')
        walks.archive(walks.words(50), group=100)
        (tmp_path / 'ca.pem').write_text(security.tls_ca_file)
        (tmp_path / 'key.pem').write_text(security.tls_client_cert + security.tls_client_key)
        with dask.config.set({'distributed.comm.require-encryption': True,
                              'distributed.comm.tls.ca-file': str(tmp_path / 'ca.pem'),
                              'distributed.comm.tls.client.cert': str(tmp_path / 'key.pem'),
                              'distributed.comm.tls.client.key': str(tmp_path / 'key.pem')}):
            outcome = walks.release(engine='dask', scheduler=address)
            assert outcome.kind == 'released', outcome.reason
        assert stranger([('', int(address.rpartition(':')[2]))]) == ''
    walks.check()


@pytest.mark.usefixtures('distributed')
def test_an_engine_that_cannot_be_used(walks, monkeypatch):
    walks.archive(walks.words(10))
    monkeypatch.setattr(engines, '_PATIENCE', 0.5)
    for engine, address, text in (
            ('dask', 'tcp://127.0.0.1:1', 'does not answer'), ('dask', 'x://x', 'no address'),
            ('dask', 'tcp://127.0.0.1', 'tls://HOST:PORT'), ('ray', 'here', 'HOST:PORT'),
            ('spark', 'here', 'spark://HOST:PORT'), ('spark', 'local-cluster[1,1,9]', 'local[N]'),
            ('local', 'tcp://127.0.0.1:1', '--engine dask')):
        outcome = walks.release(engine=engine, scheduler=address)
        assert outcome.kind == 'failed' and text in outcome.reason, outcome.reason
    for engine, package, address in (('dask', 'distributed', 'tcp://127.0.0.1:1'),
                                     ('ray', 'ray', ''), ('spark', 'pyspark.sql', '')):
        monkeypatch.setitem(sys.modules, package, None)
        outcome = walks.release(engine=engine, scheduler=address)
        assert f'with its extra {engine}' in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []


def test_work_on_threads_is_told_to_stop():
    """It would otherwise go on until it is done, and an interrupt wait for it."""
    class Work:
        def __init__(self):
            self.stopped, self.ended = threading.Event(), []

        def __call__(self, task):
            assert not task or self.stopped.wait(60)
            self.ended.append(task)
            return task

        def stop(self):
            self.stopped.set()

    work = Work()
    results = engines.run('local', work, [0, 1, 2, 3, 4, 5, 6, 7], '')
    assert next(results) == 0
    results.close()
    assert work.stopped.is_set() and len(work.ended) < 8


def test_an_attempt_that_is_stopped_leaves_nothing(walks, monkeypatch):
    real = engines.ENGINES['local']

    def stopped(work, tasks, address):
        work.stop()
        yield from real(work, tasks, address)

    walks.archive(walks.words(50))
    monkeypatch.setitem(engines.ENGINES, 'local', stopped)
    assert walks.release().reason == 'it was stopped'
    assert walks.spent() == 0 and os.listdir(walks.releases) == ['.symdp_ros.lock']


def test_an_engine_that_gives_up(walks, monkeypatch):
    def gives_up(work, tasks, address):
        yield work(tasks[0])
        raise RuntimeError('secret')

    walks.archive(walks.words(100))
    monkeypatch.setitem(engines.ENGINES, 'ray', gives_up)
    outcome = walks.release(engine='ray')
    assert outcome.kind == 'failed' and 'secret' not in outcome.reason
    assert 'ray gave up with an error of type RuntimeError' in outcome.reason
    assert walks.spent() == 0 and os.listdir(walks.releases) == ['.symdp_ros.lock']


@pytest.mark.parametrize('mechanism', [
    {'mechanism': 'causal', 'policy': 'guided'}, {'mechanism': 'causal', 'policy': 'adaptive'},
    {'mechanism': 'exponential', 'base': 'chain'},
    {'mechanism': 'exponential', 'base': 'counting'}], ids=lambda each: ' '.join(each.values()))
def test_one_key_gives_one_release(walks, engine, mechanism):
    """Whatever the engine, its workers and the sizes of what is read, drawn and written."""
    routes = walks.words(120)
    walks.archive(routes, group=150)
    settings = walks.settings(**mechanism)
    released = []
    for sizes, how in (({}, {}), ({'threads': 1, 'chunk_rows': 10}, {}),
                       ({'threads': 3, 'chunk_rows': 50, 'batch_rows': 7}, {}),
                       ({'task_rows': 100, 'chunk_rows': 30}, engine)):
        walks.sizes, output = sizes, walks.output.with_name(f'{len(released)}.parquet')
        assert walks.release(settings, ledger=False, output=output, random=random.Random(7),
                             **how).kind == 'released'
        released.append(walks.read(output))
    assert released[0] == released[1] == released[2] == released[3]
    other = walks.output.with_name('other.parquet')
    walks.release(settings, ledger=False, output=other, random=random.Random(8))
    assert lengths(walks.read(other)) == lengths(routes) and walks.read(other) != released[0]


def test_the_key_is_seen_by_nobody(walks, monkeypatch):
    """It travels by a file that its user alone can read, and ends with the release."""
    seen, real = [], Work._attempt

    def attempt(self, number, task):
        key = self.release.path
        seen.append(key.read_bytes())
        assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(key.parent).st_mode) == 0o700
        for text in (repr(self).encode(), repr(task).encode(),
                     pickle.dumps(replace(self, on_rows=None, stopped=None)),
                     pickle.dumps(task)):
            assert seen[0] not in text and seen[0].hex().encode() not in text
        return real(self, number, task)

    monkeypatch.setattr(Work, '_attempt', attempt)
    walks.archive(walks.words(50))
    for name in ('a.parquet', 'b.parquet'):
        output = walks.output.with_name(name)
        assert walks.release(ledger=False, output=output).kind == 'released'
        assert not any(key in path.read_bytes() for key in seen
                       for path in walks.base.rglob('*') if path.is_file())
    assert len(set(seen)) == 2 and len(seen[0]) == 32


def test_the_command_line(walks, scheduler):
    routes = walks.words(300)
    walks.archive(routes, group=100)
    (walks.base / 'chain.yaml').write_text(
        'initial_state: a\ntransitions: {a: [a, b], b: [b, c], c: [c, a]}\n')
    run = subprocess.run(
        [sys.executable, '-m', 'symdp_ros.cli.main', 'release', walks.path.name, '-o',
         'out/private.parquet', '--chain', 'chain.yaml', '--epsilon=1', '--adjacency=1',
         '--engine', 'dask', '--scheduler', scheduler, '--ledger', 'robots.ledger', '--subject',
         'r1', '--allow-unknown', '1'],
        cwd=walks.base, capture_output=True, text=True, timeout=120,
        env={**os.environ, 'PYTHONPATH': str(ROOT), 'COLUMNS': '200'})
    assert run.returncode == 0, run.stdout + run.stderr
    assert '1 released' in run.stdout and 'Traceback' not in run.stderr
    assert walks.output.is_dir() and lengths(walks.read()) == lengths(routes)
    walks.check()


WORDS = ('abb', 'acx', 'cb')


@pytest.mark.parametrize('mechanism', ['causal', 'exponential'])
def test_releases_have_the_exact_distribution(walks, mechanism):
    """
    χ² of the released words against the exact distribution; engines give the same bits.

    Drawn from the operating system's randomness: there is no seed to replay.
    """
    walks.sizes = {'chunk_rows': 10_000}
    count = 10_000
    walks.archive([(i, WORDS[i % 3]) for i in range(3 * count)], group=15_000)
    settings = walks.settings(mechanism=mechanism, policy='guided', base='chain')
    assert walks.release(settings, ledger=False).kind == 'released'
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
    chance = chdtrc(degrees, statistic)
    print(f'χ² = {statistic:.1f} at {degrees} degrees of freedom: p = {chance:.2g}')
    assert chance > ALPHA


def test_settings_and_tasks_can_be_sent(walks):
    chains = [walks.chain, Chain.complete(list('abc'), 'b'),
              Chain({'a': {'a': 0.5, 'b': 0.5}, 'b': ['a']}, 'a')]
    for chain in chains:
        settings = walks.settings(chain=chain)
        sent = pickle.loads(pickle.dumps(settings))
        assert sent == settings and sent.digest() == settings.digest()
        assert sent.states_by_value() == settings.states_by_value()


def test_a_directory_that_the_workers_do_not_share(walks, scheduler, monkeypatch):
    real = engines.run

    def elsewhere(name, work, tasks, address):
        for part in real(name, work, tasks, address):
            (work.release.path.parent / part.name).unlink()
            yield part

    monkeypatch.setattr(engines, 'run', elsewhere)
    walks.archive(walks.words(100), group=100)
    outcome = walks.release(engine='dask', scheduler=scheduler)
    assert outcome.kind == 'failed' and 'under the same paths' in outcome.reason
    assert walks.spent() == 0 and os.listdir(walks.releases) == ['.symdp_ros.lock']
    with Ledger(walks.ledger) as ledger:
        assert ledger.charges() == []


def test_an_interrupt_leaves_nothing(walks, scheduler):
    walks.archive(walks.words(300), group=100)

    def tell(rows, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        walks.release(engine='dask', scheduler=scheduler, on_rows=tell)
    assert walks.spent() == 0 and os.listdir(walks.releases) == ['.symdp_ros.lock']
    assert walks.release(engine='dask', scheduler=scheduler).kind == 'released'
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
walks.release(engine='dask', scheduler=sys.argv[2], on_rows=tell)
"""


def test_after_a_kill_of_the_driver_nothing_is_free_and_nothing_is_left(walks, scheduler):
    routes = walks.words(300)
    walks.archive(routes, group=100)
    killed = subprocess.run([sys.executable, '-c', DRIVER, str(walks.base), scheduler], cwd=ROOT,
                            timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert list(walks.releases.glob('.staging-*/*.attempts/*.parquet'))
    assert walks.spent() == 0 and walks.visible() == []
    assert walks.release(engine='dask', scheduler=scheduler).kind == 'released'
    assert lengths(walks.read()) == lengths(routes) and walks.spent() == 1
    walks.check()


def test_workers_that_are_killed_change_no_bit(walks, engine, monkeypatch):
    """Two die, each when its part is written and not yet handed in."""
    routes, real = walks.words(400), engines.run
    walks.archive(routes, group=100)
    undisturbed = walks.base / 'undisturbed.parquet'
    assert walks.release(**engine, output=undisturbed, ledger=False,
                         random=random.Random(3)).kind == 'released'
    folder = walks.base

    def run(name, work, tasks, address):
        def deadly(numbered):
            part = work(numbered)
            if numbered[0] < 2:
                with suppress(FileExistsError):
                    os.close(os.open(folder / f'killed-{numbered[0]}', os.O_CREAT | os.O_EXCL))
                    os.kill(os.getpid(), signal.SIGKILL)
            return part

        return real(name, deadly, tasks, address)

    monkeypatch.setattr(engines, 'run', run)
    outcome = walks.release(**engine, subject_budget=1.0, random=random.Random(3))
    assert outcome.kind == 'released', outcome.reason
    assert len(list(folder.glob('killed-*'))) == 2
    assert {path.name: path.read_bytes() for path in walks.output.iterdir()} == {
        path.name: path.read_bytes() for path in undisturbed.iterdir()}
    assert walks.spent() == 1
    walks.check()
    again = walks.release(walks.settings(privacy=Privacy(0.5)), subject_budget=1.0,
                          output=walks.output.with_name('more.parquet'))
    assert again.kind == 'refused' and walks.spent() == 1
