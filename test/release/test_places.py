# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Archives in stores: over S3 from a server on this machine, and as file:// URIs."""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time

from in_process import run_symdp
import pytest
from refusals import refused
from symdp_ros import ConfigurationError, LogError
from symdp_ros.ledger.ledger import Ledger

fs = pytest.importorskip('pyarrow.fs', reason='archives need pyarrow')

from symdp_ros.release.archives.parquet_file import check_unchanged, Columns  # noqa: E402, I100
from symdp_ros.release.archives.places import MANIFEST, Remote, Upload  # noqa: E402

SERVER = shutil.which('moto_server')
CHAIN = 'initial_state: a\ntransitions: {a: [a, b], b: [b, c], c: [c, a]}\n'


@pytest.fixture(scope='module')
def bucket(tmp_path_factory):
    """Return a function: path in a bucket of a real S3 server → its URI."""
    if SERVER is None:
        pytest.skip('needs a program that serves S3, moto_server')
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp('moto') / 'log'
    with open(log, 'w') as out:
        clean = {name: value for name, value in os.environ.items() if 'PYTHON' not in name}
        server = subprocess.Popen([SERVER, '-H', '127.0.0.1', '-p', str(port)], stdout=out,
                                  stderr=out, env=clean, start_new_session=True)
        try:
            until = time.monotonic() + 60
            while socket.socket().connect_ex(('127.0.0.1', port)):
                assert server.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.1)
            # Small files in one request: the server does not complete uploads in parts.
            more = (f'?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1'
                    '&allow_delayed_open=true')
            # Keys in the URI: those of the environment are read once, when the library begins.
            store, _ = fs.FileSystem.from_uri(f's3://x:y@b/x{more}&allow_bucket_creation=true')
            store.create_dir('walks')
            yield lambda path: f's3://x:y@walks/{path}{more}'
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


@pytest.fixture(params=['s3', 'file'])
def uri(request, tmp_path):
    """Return a function: path in a store → its URI."""
    if request.param == 's3':
        place = request.getfixturevalue('bucket')
        return lambda path: place(f'{tmp_path.name}/{path}')
    return lambda path: f'file://{tmp_path}/store/{path}'


def put(place, files):
    """Write files into a store; the source: name → path."""
    for name, path in files.items():
        with open(path, 'rb') as source:
            (place / name).write(source)


def test_an_archive_in_a_store_is_released_as_one_on_the_disk(walks, uri):
    """The same bits with the same key: files of robots, one of them with an odd name."""
    place, local = Remote(uri('walks%20of%202026')), walks.path
    names = [f'robot={robot}/part-{i}.parquet' for robot in ('r1', 'r 2#', 'r%20?')
             for i in (0, 1)]
    for name in names:
        path = local / name.replace('?', '%3F')
        path.parent.mkdir(parents=True, exist_ok=True)
        walks.archive(walks.words(9, seed=name), path=path)
    put(place, {path.relative_to(local).as_posix(): path for path in local.rglob('*.parquet')})
    put(place, {'_SUCCESS': local / next(iter(names))})
    settings = walks.settings(columns=Columns(subject='robot'))
    drawn = []
    for number, archive in enumerate((place, local)):
        output = walks.output.with_name(f'{number}.parquet')
        outcome = walks.release(settings, subject='', path=archive, output=output,
                                ledger=number == 0, random=random.Random(3))
        assert outcome.kind == 'released', outcome.reason
        drawn.append({file.relative_to(output): file.read_bytes()
                      for file in output.rglob('*.parquet')})
    assert drawn[0] == drawn[1] and len(drawn[0]) == 6
    with Ledger(walks.ledger) as ledger:
        assert {name: ledger.spent(name) for name in ledger.subjects()} == dict.fromkeys(
            ('r1', 'r 2#', 'r ?'), 1)
    again = walks.release(settings, subject='', path=place,
                          output=walks.output.with_name('0.parquet'))
    assert again.kind == 'already released'
    walks.archive(walks.words(3), path=local / names[0])
    put(place, {names[0]: local / names[0]})
    assert walks.release(settings, subject='', path=place).kind == 'failed'


def test_a_file_in_a_store_that_changes_while_it_is_read(walks, uri):
    place = Remote(uri('one')) / 'walks.parquet'
    walks.archive(walks.words(30))
    put(Remote(uri('one')), {'walks.parquet': walks.path})

    def change(rows, total):
        walks.archive(walks.words(40))
        put(Remote(uri('one')), {'walks.parquet': walks.path})

    outcome = walks.release(path=place, on_rows=change)
    assert outcome.kind == 'failed' and 'changed' in outcome.reason
    assert walks.spent() == 0 and walks.visible() == []


def test_damage_in_a_store_is_found_in_a_child(walks, uri):
    walks.path.write_bytes(b'PAR1 secret')
    put(Remote(uri('one')), {'walks.parquet': walks.path})
    outcome = walks.release(path=Remote(uri('one')) / 'walks.parquet')
    assert outcome.kind == 'failed' and 'secret' not in outcome.reason


def test_the_command_reads_and_writes_stores(walks, uri):
    (walks.base / 'map.chain.yaml').write_text(CHAIN)
    for robot in 'r1', 'r2':
        path = walks.base / 'in' / f'subject={robot}' / 'routes.parquet'
        path.parent.mkdir(parents=True)
        walks.archive(walks.words(5, seed=robot), path=path)
        put(Remote(uri('in')), {f'subject={robot}/routes.parquet': path})

    def release(target, output='out/o.parquet'):
        return run_symdp('release', uri('in'), '--map', 'map.chain.yaml', '--epsilon=1',
                         '--adjacency=1', '--mechanism', 'causal', '--policy', 'guided',
                         '--allow-unknown', '1', '--ledger', 'robots.ledger', '-o', output,
                         '--upload', uri(target), cwd=walks.base)

    done = release('out')
    assert done.returncode == 0, done.stderr
    assert str(Remote(uri('out'))) + ': uploaded' in done.stdout
    assert not re.search('endpoint|x:y', done.stdout + done.stderr)  # nor a key in the URI
    place = Remote(uri('out'))
    assert sorted(place.names()) == sorted([
        MANIFEST, 'subject=r1/routes.parquet', 'subject=r2/routes.parquet'])
    for name in 'subject=r1/routes.parquet', 'subject=r2/routes.parquet':
        assert (place / name).open().read() == (walks.base / 'out/o.parquet' / name).read_bytes()
    assert 'it is there already' in release('out').stdout
    done = release('in')
    assert done.returncode == 1 and 'holds something else' in done.stderr
    with Ledger(walks.ledger) as ledger:
        assert {name: ledger.spent(name) for name in ledger.subjects()} == {'r1': 1, 'r2': 1}


def test_a_copy_that_was_ended_is_finished_by_the_next_one(tmp_path, uri, monkeypatch):
    """Wherever: nothing but what is in the store outlives it."""
    release = tmp_path / 'release'
    for name in ('a/1.parquet', 'a/2.parquet', 'b/3.parquet'):
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).write_text(name)
    for writes in range(6):  # the draft, three files, the manifest; the draft's end
        place, left = Remote(uri(f'ended{writes}')), iter(range(writes))
        with monkeypatch.context() as ended, pytest.raises(StopIteration):
            for name in 'write', 'remove':
                ended.setattr(Remote, name, lambda *arguments, real=getattr(Remote, name): (
                    next(left), real(*arguments)))
            Upload(place, release).put()
        # Whoever waits for it reads no part.
        assert (place / MANIFEST).kind() == ('File' if writes == 5 else 'NotFound')
        upload = Upload(place, release)
        assert upload.put() == (writes < 5) and not upload.put()
        assert sorted(place.names()) == [MANIFEST, 'a/1.parquet', 'a/2.parquet', 'b/3.parquet']
        with (place / MANIFEST).open() as file:
            assert sorted(json.loads(file.read())) == ['a/1.parquet', 'a/2.parquet', 'b/3.parquet']
        (release / 'a/1.parquet').write_text(f'changed {writes}')
        with pytest.raises(ConfigurationError) as caught:
            upload.put()
        assert caught.value.setting == 'upload'
        (release / 'a/1.parquet').write_text('a/1.parquet')


def test_a_single_file_is_copied_once(tmp_path, uri):
    release, place = tmp_path / 'release', Remote(uri('one.parquet'))
    upload = Upload(place, release)
    release.write_text('x')
    assert upload.put() and not upload.put() and place.open().read() == b'x'
    release.write_text('y')
    for again in upload.put, lambda: Upload(place, release):
        with pytest.raises(ConfigurationError):
            again()


@pytest.mark.parametrize('name', ['s3://', 's3:///', 'nothing://x/y', 's3//x'])
def test_names_that_are_no_places(name):
    with pytest.raises(ConfigurationError):
        Remote(name).kind()


@pytest.mark.parametrize('key', ['user:SE/CRET', 'user:SE?CRET', 'user:SE@CRET'])
def test_a_key_that_is_not_encoded_is_not_shown(key):
    with refused(ConfigurationError, '%2F') as caught:
        Remote(f's3://{key}@b/x')
    assert 'SE' not in str(caught.value) and 'CRET' not in str(caught.value)


def test_what_is_not_there_or_does_not_answer(walks):
    outcome = walks.release(path=Remote(f'file://{walks.base}/nothing'))
    assert outcome.kind == 'failed' and 'no such file' in outcome.reason
    with socket.socket() as closed:
        closed.bind(('127.0.0.1', 0))
        port = closed.getsockname()[1]
        place = Remote(f's3://user:secret@b/x?endpoint_override=127.0.0.1:{port}&scheme=http'
                       '&region=us-east-1')
        with refused(LogError, 'does not answer') as caught:
            check_unchanged(place, (1, 2, 3))  # it was not changed
    assert 'secret' not in str(caught.value) and str(place) == 's3://b/x'
