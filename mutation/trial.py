# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The trial of one module: its tests, and its mutants, each in a fork."""
from collections import Counter, defaultdict
from contextlib import suppress
import ctypes
from functools import _lru_cache_wrapper
import gc
import importlib.util
import json
import os
import pickle
import resource
import signal
import sys
from tempfile import TemporaryDirectory
import threading
import time
from types import CodeType, FunctionType

from mutation.mutants import Mutant, mutants

_TEST_SECONDS = 5.0   # processor time of a test; those that take longer are not used
_MEMORY = 4 << 30     # bytes that a mutant may have


def try_module(root, module, tests, file, options, kept) -> bool:
    """
    Try the mutants of a module; write {name: verdict} to a file of JSON as they are found.

    Return whether all were tried.
    """
    for source in (root / 'symdp_ros').rglob('_*.c'):  # its loops run in NumPy
        sys.modules['.'.join(source.relative_to(root).with_suffix('').parts)] = None
    os.environ.update(OPENBLAS_NUM_THREADS='1', SYMDP_TEST_SEED='1')  # no threads: it forks
    import numpy  # noqa: F401: every fork has it
    import scipy.sparse  # noqa: F401

    path = root / 'symdp_ros' / f'{module}.py'
    found = list(mutants(path.read_text(encoding='utf-8'), str(path)))
    print(f'{module}: {len(found)} mutants', flush=True)
    parts = [name.partition('::') for name in tests]
    with TemporaryDirectory() as folder:
        trial = _Trial(module, path, found, file, options, kept, folder)
        _pytest(root, [f'test/{name}.py{between}{test}' for name, between, test in parts], trial,
                folder)
    return trial.done


class _Trial:
    """Takes the place of pytest's loop over the tests."""

    def __init__(self, module, path, found, file, options, kept, folder):
        self.module, self.path, self.mutants = module, path, found
        self.file, self.options, self.kept, self.folder = file, options, kept, folder
        self.done = False

    def pytest_runtestloop(self, session):
        importlib.import_module(f'symdp_ros.{self.module.replace("/", ".")}')
        items = self._items = {item.nodeid: item for item in session.items}
        _only_search(items.values())
        self._seconds, self._reached = _baseline(items, str(self.path))
        self._print(f'{self.module}: {len(self._seconds)} of {len(items)} tests are used, '
                    f'{sum(self._seconds.values()):.0f} s')
        self._functions = functions_of(self.path)
        self._real = compile(self.path.read_text(encoding='utf-8'), str(self.path), 'exec')
        tests = self._tests_of(Mutant('', range(0), self._real, False))
        for inside in (True, False):
            _, status = os.waitpid(self._start(Mutant('', range(0), self._real, inside), tests), 0)
            if status:
                self._print(f'{self.module}: its tests fail with nothing changed, ' + (
                    'in a fork' if inside else 'imported afresh'))
                return True
        self._try_all()
        self.done = True
        return True

    def _print(self, text):
        os.write(session_output, f'{text}\n'.encode())

    def _try_all(self):
        verdicts, running = {}, {}
        left = list(self.mutants)
        while left or running:
            while left and len(running) < self.options.jobs:
                mutant = left.pop(0)
                tests = self._tests_of(mutant)
                if mutant.name in self.kept:
                    verdicts[mutant.name] = self.kept[mutant.name]
                elif not tests:
                    verdicts[mutant.name] = 'no test reaches it'
                else:
                    running[self._start(mutant, tests)] = mutant
            if running:
                pid, status = os.wait()
                _end_group(pid)
                mutant = running.pop(pid)
                verdicts[mutant.name] = 'noticed' if status else 'survived'
                if not status:
                    self._print(f'    survived: {mutant.name}')
            self._write(verdicts)

    def _write(self, verdicts):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({each.name: verdicts[each.name] for each in self.mutants
                                         if each.name in verdicts}, indent=1,
                                        ensure_ascii=False), encoding='utf-8')

    def _tests_of(self, mutant):
        """
        Return the tests that reach a mutant, as many as there is time for.

        They are in the order of the time that each takes, with all shorter cases of its function.
        """
        tests = set(self._seconds)
        if mutant.inside:
            tests &= set().union(*(self._reached.get(line, ()) for line in mutant.lines))
        turns, so_far = {}, Counter()
        for test in sorted(tests, key=lambda each: (self._seconds[each], each)):
            function = test.partition('[')[0]
            so_far[function] += self._seconds[test]
            turns[test] = so_far[function], test
        chosen, left = [], self.options.seconds
        for test in sorted(turns, key=turns.get):
            left -= self._seconds[test]
            if left < 0 and chosen:
                break
            chosen.append(test)
        return chosen

    def _start(self, mutant, tests):
        """Run tests on a mutant in a fork: it ends with 0 where all of them pass."""
        pid = os.fork()
        if pid:
            return pid
        try:
            end_with_parent()
            os.setpgid(0, 0)
            seconds = sum(self._seconds[test] for test in tests)
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(60 + 10 * seconds))
            if mutant.inside:
                _put(self._real, mutant.code, self._functions)
                os._exit(_fails(mutant, tests, self._items, self._seconds))
            self._import_afresh(mutant, tests)
        finally:
            os._exit(1)

    def _import_afresh(self, mutant, tests):
        own = {item.module.__name__ for item in self._items.values()}
        helpers = [name for name, module in sys.modules.items()
                   if '/test/' in (getattr(module, '__file__', None) or '')]
        for name in [*sys.modules]:
            if name.partition('.')[0] == 'symdp_ros' or name in own or name in helpers:
                del sys.modules[name]
        sys.meta_path.insert(0, _Changed(f'symdp_ros.{self.module.replace("/", ".")}', mutant,
                                         str(self.path)))
        files = sorted({test.partition('[')[0] for test in tests})
        _pytest(self.path.parents[len(self.module.split('/'))], files,
                _Chosen(mutant, tests, self._seconds), self.folder)


class _Chosen:
    """Runs some tests in their order, and ends the process."""

    def __init__(self, mutant, tests, seconds):
        self._mutant, self._tests, self._seconds = mutant, tests, seconds

    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        _only_search(items.values())
        os._exit(not set(self._tests) <= set(items)
                 or _fails(self._mutant, self._tests, items, self._seconds))


class _Changed:
    """Finds a mutant where its module is imported."""

    def __init__(self, name, mutant, file):
        self._name, self._code, self._file = name, mutant.code, file

    def find_spec(self, name, path=None, target=None):
        if name == self._name:
            return importlib.util.spec_from_file_location(name, self._file, loader=self)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self._code, module.__dict__)


def _pytest(root, files, plugin, folder):
    import pytest

    global session_output
    session_output = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.chdir(root)
    # A folder of its own: one that pytest chooses may be removed by another pytest.
    return pytest.main(['-s', '-p', 'no:cacheprovider', f'--basetemp={folder}/{os.getpid()}',
                        *files], plugins=[plugin])


def _only_search(items):
    """Let Hypothesis try the same examples each time, and not look for smaller ones."""
    from hypothesis import is_hypothesis_test, Phase, settings

    for item in items:
        test = getattr(item.obj, '__func__', item.obj)
        if is_hypothesis_test(test):
            own = getattr(test, '_hypothesis_internal_use_settings', None) or settings()
            test._hypothesis_internal_use_settings = settings(
                own, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate))


def _fails(mutant, tests, items, seconds) -> bool:
    """Run tests; return whether one failed, at once. One that takes far too long ends this."""
    from _pytest.runner import runtestprotocol

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for test, following in zip(tests, [*tests[1:], None]):
        signal.setitimer(signal.ITIMER_PROF, 2 + 5 * seconds[test])
        reports = runtestprotocol(items[test], log=False, nextitem=items.get(following))
        if any(report.failed for report in reports):
            if not mutant.name:
                _say_why('fails', reports)
            return True
    return False


def _say_why(what, reports):
    for report in reports:
        if not report.passed:
            said = (report.longreprtext or report.outcome).splitlines()
            os.write(session_output, f'    {what}: {report.nodeid}: {said[-1]}\n'.encode())


def _baseline(items, file):
    """
    Return the processor time of each test that passes, and the tests that reach each line.

    One that takes too long ends its fork: an error that is raised in it, while it is traced, may
    leave a traceback without line numbers, which ends pytest.
    """
    seconds, reached, left = {}, defaultdict(set), list(items.values())
    while left:
        done = 0
        for passed, took, lines in _from_a_fork(lambda tests=left: _traced(tests, file)):
            if passed:
                name = left[done].nodeid
                seconds[name] = took
                for line in lines:
                    reached[line].add(name)
            done += 1
        if done < len(left):
            os.write(session_output, f'    not used: {left[done].nodeid}: takes more than '
                                     f'{_TEST_SECONDS:g} s, or ends its process\n'.encode())
        del left[:done + 1]
    return seconds, dict(reached)


def _traced(tests, file):
    """Yield of each test: whether it passes, its processor time, and the lines it reaches."""
    from _pytest.runner import runtestprotocol

    lines = set()

    def trace_line(frame, event, argument):
        lines.add(frame.f_lineno)
        return trace_line

    def trace(frame, event, argument):
        if frame.f_code.co_filename == file:
            lines.add(frame.f_lineno)
            return trace_line
        return None

    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    caches = _all_of(_lru_cache_wrapper)
    for item, following in zip(tests, [*tests[1:], None]):
        for cache in caches:  # else a test reaches what an earlier one has not
            cache.cache_clear()
        lines.clear()
        start = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, _TEST_SECONDS)
        threading.settrace(trace)
        sys.settrace(trace)
        try:
            reports = runtestprotocol(item, log=False, nextitem=following)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - start
        passed = all(report.passed for report in reports)
        if not passed:
            _say_why('not used', reports)
        yield passed, took, lines


def _from_a_fork(function):
    """Yield what a function yields in a process of its own, until that ends."""
    source, end = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(source)
            with os.fdopen(end, 'wb') as pipe:
                for each in function():
                    pickle.dump(each, pipe)
                    pipe.flush()
        finally:
            os._exit(0)
    os.close(end)
    with os.fdopen(source, 'rb') as pipe, suppress(EOFError):
        while True:
            yield pickle.load(pipe)
    os.waitpid(pid, 0)


def end_with_parent():
    """Let this process be killed when the one that forked it has ended."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def functions_of(path):
    """Return the functions that were made of a file, by `_key` of their code."""
    found = defaultdict(list)
    for each in _all_of(FunctionType):
        if each.__code__.co_filename == str(path):
            found[_key(each.__code__)].append(each)
    return found


def _all_of(kind):
    gc.unfreeze()  # what is frozen, as in test/conftest.py, is not listed
    # isinstance() asks an object for its class: a weak proxy of what is gone raises an error.
    return [each for each in gc.get_objects() if type(each) is kind]


def _key(code):
    return code.co_name, code.co_firstlineno, code.co_code


def _put(real, changed, functions):
    """Give the functions of a module the code of a mutant."""
    for old, new in zip(_codes(real), _codes(changed)):
        if old != new:
            for function in functions[_key(old)]:
                function.__code__ = new
            _put(old, new, functions)


def _codes(code):
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _end_group(pid):
    """End what a mutant has left running."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
