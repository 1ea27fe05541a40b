# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the sections share: where the data is, long work that can be resumed, tables."""
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
import json
import multiprocessing
from pathlib import Path
import sys
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / 'shared' / 'data'
JOBS = 2


class Skipped(Exception):
    """A section cannot be measured here: the message is the reason."""


def unfinished(quick: bool) -> Path:
    """Return the folder that keeps what an interrupted run has measured."""
    return ROOT / 'build' / ('compare-quick' if quick else 'compare')


def write_page(page: Callable[[bool], str], arguments: list[str]) -> None:
    """
    Write a page into the file that the arguments name, or print it.

    :param page: returns it, or a small one where it has one, for --quick. It may raise `Skipped`.
    """
    files = [argument for argument in arguments if argument != '--quick']
    try:
        text = page('--quick' in arguments)
    except Skipped as reason:
        sys.exit(f'skipped: {reason}')
    if files:
        Path(files[0]).write_text(text, encoding='utf-8')
    else:
        print(text)


def write_numbers(found: dict[str, Any], file: Path) -> None:
    """Write numbers as JSON, one row a line."""
    text = json.dumps(found).replace('[{', '[ {').replace(' {', '\n{')
    file.write_text(text + '\n', encoding='utf-8')


def template(module: str) -> str:
    """Return the text of the page of a module, which stands beside it: WORDS.md of WORDS.py."""
    return Path(module).with_suffix('.md').read_text(encoding='utf-8')


def measure_all(name: str, quick: bool, function: Callable[..., Any],
                arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """
    Return function(*a) for all arguments a, in their order, measured in JOBS processes.

    Each result is kept in a file as soon as it is there: after an interruption, what is in the
    file is not measured again.

    :param name: of the file.
    :param function: at the top of a module, so that processes find it; its results fit JSON.
    :param arguments: tuples of what fits JSON.
    """
    file = unfinished(quick) / f'{name}.jsonl'
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = file.read_text(encoding='utf-8').splitlines(True) if file.exists() else []
    lines = [line for line in lines if line.endswith('\n')]  # the others were cut off
    found = {json.dumps(key): result for key, result in map(json.loads, lines)}
    missing = [a for a in arguments if json.dumps(a) not in found]
    spawn = multiprocessing.get_context('spawn')
    with (file.open('w', encoding='utf-8') as kept,
          ProcessPoolExecutor(JOBS, mp_context=spawn) as pool):
        kept.writelines(lines)
        running = {pool.submit(function, *a): a for a in missing}
        for done in as_completed(running):
            result = found[json.dumps(running[done])] = json.loads(json.dumps(done.result()))
            kept.write(json.dumps([running[done], result]) + '\n')
            kept.flush()
            print(f'{name}: {len(found)} of {len(arguments)}', flush=True)
    return [found[json.dumps(a)] for a in arguments]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    first, *others = ('| ' + ' | '.join(str(cell).replace('|', r'\|') for cell in line) + ' |'
                      for line in (head, *rows))
    return '\n'.join([first, '|' + '---|' * len(head), *others])
