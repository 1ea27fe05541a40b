# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`make mutate`: which changes it tries, and that its tables name what there is."""
import gc
from pathlib import Path
import weakref

from mutation.mutants import mutants
from mutation.trial import functions_of
from symdp_ros import settings
import yaml

ROOT = Path(__file__).resolve().parents[2]
MODULES, EQUIVALENT = (yaml.safe_load((ROOT / 'mutation' / f'{name}.yaml').read_text())
                       for name in ('modules', 'equivalent'))
SOURCE = '''
MOST = 2.0

def small(x: int, most: int = 3) -> bool:
    """Text 1."""
    if not x:
        raise ValueError(f'{x + 1} < 0')
    return x - 1 <= most
'''


def test_mutants():
    found = {mutant.name: mutant for mutant in mutants(SOURCE, 'a.py')}
    assert [(name, mutant.inside, [*mutant.lines]) for name, mutant in found.items()] == [
        (': MOST = 2.0 → MOST = 4.0', False, [2]),
        ('small: x: int, most: int=3 → x: int, most: int=4', False, [4]),
        ('small: not x → x', True, [6]),
        ('small: return x - 1 <= most → return x - 1 < most', True, [8]),
        ('small: return x - 1 <= most → return x - 1 > most', True, [8]),
        ('small: return x - 1 <= most → return x + 1 <= most', True, [8]),
        ('small: return x - 1 <= most → return x - 2 <= most', True, [8])]
    scope = {}
    exec(found['small: return x - 1 <= most → return x + 1 <= most'].code, scope)
    assert scope['small'](2) and not scope['small'](3)


def test_functions_are_found_that_the_collector_of_garbage_leaves_out():
    """Else every mutant inside a function survives, since nothing is changed."""
    gone = weakref.proxy(set())  # which a library may leave behind, too
    gc.freeze()
    try:
        found = functions_of(settings.__file__)
    finally:
        gc.freeze()
    assert settings.settings_of in [function for same in found.values() for function in same]
    del gone


def test_the_tests_of_modules_exist():
    for module, tests in MODULES.items():
        assert (ROOT / 'symdp_ros' / f'{module}.py').is_file()
        for name, _, test in (each.partition('::') for each in tests.split()):
            assert f'def {test}' in (ROOT / f'test/{name}.py').read_text(encoding='utf-8')


def test_every_reason_is_of_a_module_that_is_tried():
    """`make mutate` itself says which reasons are of mutants that are gone."""
    assert set(EQUIVALENT) <= set(MODULES)
    for entries in EQUIVALENT.values():
        assert all(entry['why'] and entry['mutants'] for entry in entries)
