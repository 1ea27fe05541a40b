# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp release` is killed at random moments: what is visible is charged, and the reverse."""
import multiprocessing
from pathlib import Path
import random
import time

from long_runs import first_seed, KILL_ROUNDS, report
import pytest
from symdp_ros import Chain
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.logs import read_log, write_log
from symdp_ros.release.outbox import holds, Outbox

ROOT = Path(__file__).resolve().parents[2]
CHAIN = ROOT / 'config' / 'warehouse.chain.yaml'
STATES = Chain.from_yaml(CHAIN)
PATIENCE = 120.0  # seconds for a process to begin its work; no time is asserted
RELEASE = """
import os, sys
from symdp_ros.cli.main import main
os.chdir({base!r})
told = os.open('told', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
os.dup2(told, 1)
os.dup2(told, 2)
sys.exit(main({arguments!r}))
"""
#: Processes are forked from one that has imported what they need.
FORKED = multiprocessing.get_context('forkserver')
FORKED.set_forkserver_preload([
    'symdp_ros.cli.main', 'symdp_ros.release.archives.archive', 'symdp_ros.release.session',
    'rich.console', 'rich.table', 'rich.progress'])


class Place:
    """A directory of releases, a ledger, and processes that are killed."""

    def __init__(self, base, chance):
        self.base, self.chance = base, chance
        self.out, self.ledger = base / 'out', base / 'robots.ledger'
        self.out.mkdir()
        self.took = 0.5  # seconds of work, as last seen

    def start(self, *arguments):
        arguments = ['release', '--chain', str(CHAIN), '--epsilon=1', '--adjacency=1',
                     '--mechanism', 'causal',
                     '--ledger', str(self.ledger), '--subject', 'r1', *arguments]
        process = FORKED.Process(target=exec, args=(RELEASE.format(
            base=str(self.base), arguments=arguments), {}))
        process.start()
        return process

    def release(self, *arguments):
        """Release, and be not killed."""
        process = self.start(*arguments)
        process.join()
        assert process.exitcode == 0, (self.base / 'told').read_text()

    def kill(self, *arguments) -> bool:
        """Kill a release at a random moment of its work; return whether it was still running."""
        something = self.chance.choice(('.staging-*', '.staging-*', '.staging-*/*', '[!.]*'))
        before = set(self.out.glob(something))
        process = self.start(*arguments)
        until = time.monotonic() + PATIENCE
        while process.is_alive() and set(self.out.glob(something)) <= before:
            assert time.monotonic() < until, 'it does not begin'
            time.sleep(0.0005)
        begun = time.monotonic()
        time.sleep(self.chance.uniform(0, self.took))
        process.kill()
        process.join()
        if process.exitcode == 0:
            self.took = min(self.took, (time.monotonic() - begun) / 2)
        else:
            self.took = min(2 * self.took, 1.0)
            assert process.exitcode == -9, (self.base / 'told').read_text()
        return process.exitcode == -9

    def visible(self):
        return {path.name for path in self.out.iterdir() if not path.name.startswith('.')}

    def check_killed(self):
        """Nothing is visible before its charge; the ledger is whole."""
        if not self.ledger.exists():
            assert self.visible() == set()
            return 0
        with Ledger(self.ledger) as ledger:
            assert ledger.problems() == []
            files, charges = ledger.files.all(), ledger.charges()
            assert ledger.spent('r1') == len(charges)
        assert len({charge.log_id for charge in charges}) == len(charges)
        digests = {file.path.name: file.digest for file in files}
        assert self.visible() <= set(digests)
        assert all(holds(self.out / name, digests[name]) for name in self.visible())
        return len(charges)

    def check_recovered(self):
        """After a start nothing is charged that is not there, and nothing else is left."""
        with Ledger(self.ledger) as ledger:
            with Outbox(self.out, ledger) as box:
                assert box.problems == ()
            files, charges = ledger.files.all(), ledger.charges()
            assert ledger.problems() == []
        assert {file.path.name for file in files} == self.visible()
        assert all(file.visible and holds(file.path, file.digest) for file in files)
        assert {file.number for file in files} == {charge.number for charge in charges}
        assert not list(self.out.glob('.staging*'))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv('OPENBLAS_NUM_THREADS', '1')  # no threads: it forks
    seed = first_seed()
    print(f'SYMDP_TEST_SEED={seed}')
    return Place(tmp_path, random.Random(seed))


def killed_often(place, one_round):
    """Kill as often as is asked for, and check each time; report what was found."""
    kills = tries = charged = 0
    while kills < KILL_ROUNDS:
        tries += 1
        assert tries < 20 * KILL_ROUNDS + 20, 'it is always done before it is killed'
        kills += place.kill(*one_round(tries))
        charged = place.check_killed()
        if place.ledger.exists():
            place.check_recovered()
    report(f'{kills} kills of {tries} releases, {charged} charges', 'no failure')


def test_releases_of_logs_are_killed(place):
    logs = place.base / 'logs'
    logs.mkdir()

    def some_more(number):
        for i in range(4):
            word = [STATES.initial_state, *place.chance.choices(
                (*STATES.states, 'none'), k=place.chance.randrange(30))]
            form = place.chance.choice(('csv', 'jsonl'))
            write_log(logs / f'{number}-{i}.{form}', word, format=form)
        return ('logs', '-o', 'out', '--format',
                place.chance.choice(('csv', 'jsonl', 'sqlite3', 'mcap')),
                *place.chance.choice(((), ('--keep-names',))))

    killed_often(place, some_more)
    place.release('logs', '-o', 'out')
    assert place.check_killed() == len(list(logs.iterdir()))
    place.check_recovered()
    words = [[symbol for _, symbol in read_log(path, topic='private_region')]
             for path in place.out.iterdir() if path.name[0] != '.']
    assert all(map(STATES.is_feasible, words))
    with Ledger(place.ledger) as ledger:
        released = sorted(word for charge in ledger.charges() for word in charge.words)
    assert sorted(map(tuple, words)) == released


def test_releases_of_archives_are_killed(place):
    pa = pytest.importorskip('pyarrow', reason='archives need pyarrow')
    pq = pytest.importorskip('pyarrow.parquet')

    def another(number):
        lengths = [place.chance.randrange(1, 200) for _ in range(50)]
        pq.write_table(pa.table({
            'route': [i for i, n in enumerate(lengths) for _ in range(n)],
            'position': [t for n in lengths for t in range(n)],
            'symbol': place.chance.choices(STATES.states, k=sum(lengths))}),
            place.base / f'{number}.parquet')
        return f'{number}.parquet', '-o', f'out/{number}.private.parquet'

    killed_often(place, another)
    archives = {path.name for path in place.base.glob('*.parquet')}
    for name in sorted(archives):  # those that were released are handed out, the others released
        place.release(name, '-o', f'out/{name.replace(".parquet", ".private.parquet")}')
    assert place.check_killed() == len(archives)
    place.check_recovered()
