# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the studies share: command lines, where data is, work that can be resumed, pages."""
import argparse
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
import json
import multiprocessing
from pathlib import Path
from shutil import rmtree
import sys
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONFIG, DOCS, DATA = ROOT / 'config', ROOT / 'docs', ROOT.parent / 'shared' / 'data'
JOBS = 2


class Skipped(Exception):
    """Something cannot be measured here: the message is the reason."""


def need_maps() -> None:
    """Raise `Skipped` where the maps of DATA are not there."""
    if not DATA.is_dir():
        raise Skipped(f'the maps are not there: {DATA.name}')


def kept(study: str, quick: bool) -> Path:
    """Return the folder that keeps what an interrupted run of a study has measured."""
    return ROOT / 'build' / 'studies' / (f'{study}-quick' if quick else study)


def command(study: str, write: Callable[..., None], *, quick: bool = False,
            parts: Sequence[str] = ()) -> None:
    """
    Run `python -m studies.STUDY PATH`: what it makes, `write(PATH)` writes.

    :param write: it may raise `Skipped`.
    :param quick: whether it takes --quick, for a small run: write(PATH, quick).
    :param parts: of which --only chooses some: write(PATH, quick, only).
    """
    parser = argparse.ArgumentParser(prog=f'python -m studies.{study}')
    parser.add_argument('path', type=Path, help='the page, or its folder')
    if quick:
        parser.add_argument('--quick', action='store_true', help='a small run')
    if parts:
        parser.add_argument('--only', nargs='+', choices=parts, default=(), metavar='PART',
                            help=f'measure these alone: {", ".join(parts)}')
    given = vars(parser.parse_args())
    try:
        write(*given.values())
    except Skipped as reason:
        sys.exit(f'skipped: {reason}')
    rmtree(kept(study, given.get('quick', False)), ignore_errors=True)


def page_command(study: str, page: Callable[..., str], *, quick: bool = False) -> None:
    """Run `python -m studies.STUDY FILE.md` for a page alone: page() or page(quick)."""
    def write(path: Path, *options: bool) -> None:
        path.write_text(page(*options), encoding='utf-8')

    command(study, write, quick=quick)


def measure_all(study: str, name: str, quick: bool, function: Callable[..., Any],
                arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """
    Return function(*a) for all arguments a, in their order, measured in JOBS processes.

    Each result is kept in a file as soon as it is there: after an interruption, what is in the
    file is not measured again.

    :param name: of the file.
    :param function: at the top of a module, so that processes find it; its results fit JSON.
    :param arguments: tuples of what fits JSON.
    """
    file = kept(study, quick) / f'{name}.jsonl'
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = file.read_text(encoding='utf-8').splitlines(True) if file.exists() else []
    lines = [line for line in lines if line.endswith('\n')]  # the others were cut off
    found = {json.dumps(key): result for key, result in map(json.loads, lines)}
    missing = [a for a in arguments if json.dumps(a) not in found]
    spawn = multiprocessing.get_context('spawn')
    with (file.open('w', encoding='utf-8') as rows,
          ProcessPoolExecutor(JOBS, mp_context=spawn) as pool):
        rows.writelines(lines)
        running = {pool.submit(function, *a): a for a in missing}
        for done in as_completed(running):
            result = found[json.dumps(running[done])] = json.loads(json.dumps(done.result()))
            rows.write(json.dumps([running[done], result]) + '\n')
            rows.flush()
            print(f'{study}, {name}: {len(found)} of {len(arguments)}', flush=True)
    return [found[json.dumps(a)] for a in arguments]


def write_numbers(found: Any, file: Path) -> Any:
    """Write numbers as JSON, one row a line; return them as they are read again."""
    text = json.dumps(found, ensure_ascii=False).replace('[{', '[ {').replace(' {', '\n{')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + '\n', encoding='utf-8')
    return json.loads(text)


def filled(module: str, names: Mapping[str, Any]) -> str:
    """
    Return the text of a module's page.

    It stands beside the module, WORDS.md of WORDS.py, as the inside of an f-string: what it has
    in braces are expressions of these names.
    """
    text = Path(module).with_suffix('.md').read_text(encoding='utf-8')
    return str(eval(f'fr"""{text}"""', {'table': table, 'listed': listed, **names}))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    first, *others = ('| ' + ' | '.join(str(cell).replace('|', r'\|') for cell in line) + ' |'
                      for line in (head, *rows))
    return '\n'.join([first, '|' + '---|' * len(head), *others])


def listed(numbers: Sequence[float]) -> str:
    """Return numbers with commas between them."""
    return ', '.join(f'{number:g}' for number in numbers)
