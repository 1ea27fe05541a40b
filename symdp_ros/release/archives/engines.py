# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Engines that map work over tasks: threads of this process, Dask, Ray or Spark.

An engine sees the paths of files, ranges of rows, settings and the path of a key; of results the
name of a file, its size and how many rows it has: never a row, and never the key, whatever it
logs. Workers and this process see the same files under the same paths, run as the same user, and
have this package. Retries are the engine's own: all attempts at a task give the same bits.

No engine is started here that other users of the machine could send work to. Dask and Ray, started
on one machine, run what anyone sends to their ports there: without a scheduler, Dask's work is
done on threads, and Ray is refused. Spark authenticates whoever connects.
"""
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
import os
import re
import secrets
import sys
from typing import Any, TypeAlias, TypeVar

from symdp_ros.errors import ConfigurationError, SymdpError
from symdp_ros.release.archives.parquet_file import readers

#: What is mapped, over what, and the address of a scheduler: results, as they come.
Engine: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any], str], Iterator[Any]]

_Item = TypeVar('_Item')
_Result = TypeVar('_Result')
_RETRIES = 3
_PATIENCE = 15  # seconds, for a scheduler to answer, and for a first worker


def run(name: str, work: Callable[[Any], Any], tasks: Sequence[Any],
        address: str) -> Iterator[Any]:
    """
    Yield what the work returns for each task, in any order.

    :param name: of `ENGINES`.
    :param address: of the engine's scheduler; '': it is done on this machine, except with Ray.
    :raises ConfigurationError: it does not answer, has no worker, or is not installed; it gave up.
    :raises SymdpError, OSError: what the work raises.
    """
    problem = None
    try:
        yield from ENGINES[name](work, tasks, address)
    except SymdpError:
        raise
    except Exception as error:
        if name == 'local':
            raise
        # Of a scheduler, or of a worker without this package; some engines wrap what work raises.
        problem = type(error).__name__
    if problem is not None:
        raise ConfigurationError(
            f'{name} gave up with an error of type {problem}: are its workers alive, do they see '
            'the same files, and is this package installed there?', setting='engine')


def in_order(pool: Executor, work: Callable[[_Item], _Result], items: Iterable[_Item],
             ahead: int) -> Iterator[_Result]:
    """Yield what the work returns for each item, in order, done in a pool; a few are ahead."""
    waiting = deque[Future[_Result]]()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # after an error or an interrupt, do not wait for the rest
        for future in waiting:
            future.cancel()


def _local(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Iterator[Any]:
    """Map on threads of this process: what takes time is in C, or in other processes."""
    stop = getattr(work, 'stop', lambda: None)  # work on threads may be told to end early
    if address:
        raise ConfigurationError('a scheduler is for --engine dask, ray or spark',
                                 setting='scheduler')
    with ThreadPoolExecutor(min(os.cpu_count() or 1, readers()[0], len(tasks))) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
            stop()


def _dask(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Iterator[Any]:
    if not address:
        yield from _local(work, tasks, '')
        return
    with _starting('dask', address, r'(tcp|tls)://\S+:\d+', 'tcp://HOST:PORT or tls://HOST:PORT'):
        from distributed import as_completed as completed, Client

        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    try:
        with _starting('dask', address):
            client.wait_for_workers(1, timeout=_PATIENCE)
        # Not pure, and with new names: no result of an earlier run may be used again.
        futures = client.map(work, tasks, pure=False, retries=_RETRIES,
                             key=f'symdp-release-{secrets.token_hex(8)}')
        try:
            for future, result in completed(futures, loop=client.loop, with_results=True):
                future.release()  # or it is done again where the worker that holds it ends
                yield result
        finally:
            with suppress(Exception):  # of a scheduler that is gone
                client.cancel(futures)
    finally:
        client.close()


def _ray(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Iterator[Any]:
    with _starting('ray', address, r'(ray://)?\S+:\d+', 'HOST:PORT or ray://HOST:PORT'):
        import ray

        own = not ray.is_initialized()
        if own and address:
            ray.init(address, log_to_driver=False, configure_logging=False)
    if own and not address:
        raise ConfigurationError(
            'ray needs --scheduler: started on this machine, it would run what any user of it '
            'sends; --engine local works on all processors of this machine', setting='scheduler')
    try:
        remote: Any = ray.remote(max_retries=_RETRIES)(lambda task: work(task))
        waiting = [remote.remote(task) for task in tasks]
        while waiting:
            [done], waiting = ray.wait(waiting)
            yield ray.get(done)
    finally:
        if own:
            ray.shutdown()


def _spark(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Iterator[Any]:
    with _starting('spark', address, r'(spark|k8s)://\S+|yarn|local(\[\S+\])?',
                   'spark://HOST:PORT, yarn or local[N]'):
        from pyspark.sql import SparkSession

        own = SparkSession.getActiveSession() is None
        builder = SparkSession.builder.master(address or f'local[*,{_RETRIES + 1}]').config(
            map={'spark.app.name': 'symdp release', 'spark.ui.enabled': 'false'})
        if not address or address.startswith('local'):
            # Who connects to its ports needs a secret, which Spark draws and tells no other user.
            builder = builder.config(map={
                'spark.authenticate': 'true', 'spark.driver.bindAddress': '127.0.0.1',
                'spark.driver.host': '127.0.0.1'})
            os.environ.setdefault('PYSPARK_PYTHON', sys.executable)
        spark = builder.getOrCreate()
    try:
        yield from spark.sparkContext.parallelize(tasks, len(tasks)).map(work).collect()
    finally:
        if own:
            spark.stop()


#: The engines, by their names.
ENGINES: dict[str, Engine] = {'local': _local, 'dask': _dask, 'ray': _ray, 'spark': _spark}


@contextmanager
def _starting(name: str, address: str, pattern: str = '', form: str = '') -> Iterator[None]:
    """
    Start an engine in this block.

    :param pattern: of an address; `form`: the same, for people to read.
    :raises ConfigurationError: it is not installed; the address is none; what the block raises.
    """
    problem = ''
    if address and pattern and not re.fullmatch(pattern, address):
        problem = f'the scheduler {address!r} is no address for {name}: write it as {form}'
    else:
        try:
            yield
        except ImportError:
            problem = (f'--engine {name} needs a Python package: install symdp_ros with its extra '
                       f'{name}')
        except Exception as error:
            problem = (f'the scheduler {address} does not answer, or has no worker' if address
                       else f'{name} cannot be started') + f' ({type(error).__name__})'
    if problem:
        raise ConfigurationError(problem, setting='scheduler' if address else 'engine')
