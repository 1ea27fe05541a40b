# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the benchmarks, whose numbers all come from JSON."""
from bench.goals import GOALS
from bench.suite import ROWS
from bench.table import counted, HEAD, machine_line, rows
from studies.compare.section import table, template

_SCALING = """
## How times grow

{when}![Time against length, states and out-degree](benchmarks/scaling.svg)

*Both axes are logarithmic. A word ten times as long takes ten times the time; more states hardly
add any, once a word cannot reach them. The exact automaton grows far faster: it is the reference.*

Each point is the time for one whole word, the median of three rounds. *Exponential* and *online*
are our mechanisms, *mat-vecs* the n sparse matrix-vector products alone, *automaton* the exact
reference. Left: random words on an invented town. Middle: square grids, words of 100 and (dashed)
of 14 symbols from the middle. Right: 1,000 states with as many random successors each, words of
1,000 symbols.
"""


_AS_BARE = ('it differs from run to run by more than the goal leaves room for, as bare against '
            'bare does')
#: Goal → why it is not met, where it is not: what was found by looking into it.
WHY_NOT = {
    'step-tells':
        'it was 0.574 while pairs of draws were shared; what is left is seen on the town alone, '
        'and why is not known',
    'step-diffprivlib':
        'a step looks its symbol up as a new string, so that its time does not tell which string '
        'it was; that takes half as long again as before',
    'base-chain-1000':
        'counting has become faster since the goal was set, and weighted words have not',
    'calibrate-100':
        'seven periods are tried, live and for logs, with 48 robots each, and words with blocks '
        'take longer than those that the goal was set for',
    'explore-100':
        'whole words with blocks take longer',
    'node-loss':
        'what is lost differs from run to run, and bare relays lose messages too: a message that '
        'is dropped on the way to the receiver, where three busy processes share the cores, is '
        'sent again when the receiver has told so, and the publisher keeps 1,000, which is 60 ms '
        'at this rate (keeping 16,000 would cost four times the processor time at every message)',
    'node-round-trip': _AS_BARE,
    'node-service-time': _AS_BARE,
    'node-start':
        'some starts take a quarter of a second longer until the other process is discovered, of '
        'the bare relay as of `privatizer`, and in some runs these are more than half',
    'matvecs-1000-1000':
        'the loops also serve words weighted by the chain (`base: chain`), which takes a part of '
        'the speed that they had (0.27 before)',
    'matvecs-1000-10000':
        'the loops also serve words weighted by the chain (`base: chain`), which takes a part of '
        'the speed that they had (0.33 before)',
    'matvecs-10000-10000':
        'within 1/25 of the memory nearly every position is computed twice, once on the way back '
        'and once on the way forth; on a random graph the states that a walk can still reach are '
        'soon all of them (on a map it is less: see below)',
}


def _earlier(found) -> str:
    """Say so where the figure is of another run."""
    made = found.get('scaling_date')
    return f'(This figure is of an earlier run, of {made}.)\n\n' if made else ''


def page(found) -> str:
    """Return `benchmarks.md` for what JSON holds."""
    lines = rows(found)
    return template(__file__).format(
        command=found['command'], timing=round(1e3 * found['seconds_a_timing']),
        machine=machine_line(found), counted=counted(found),
        table=table(HEAD[:-1], [line[:-1] for line in lines]), unmet=_unmet(found),
        how='\n'.join(map('- {}'.format, _how(found))),
        scaling=_SCALING.format(when=_earlier(found)) if found['scaling'] else '')


def _unmet(found):
    unmet = []
    for name, goal in GOALS.items():
        plain = found['goals'][name]
        if not plain.get('met', 'missing' in plain) and name in WHY_NOT:
            unmet.append(f'- {goal.what}, against {goal.against}: {WHY_NOT[name]}.')
    return '\n## Why not met\n\n' + '\n'.join(unmet) + '\n' if unmet else ''


def _how(found):
    """Yield what was compared in each row that says so, and what is to be said of this run."""
    for row in ROWS:
        if not row.how:
            continue
        named = '; '.join(dict.fromkeys(GOALS[goal].what for goal in row.goals))
        notes = [note for goal in row.goals if (note := found['goals'][goal].get('note'))]
        yield ' '.join([f'**{named}.**', row.how, *dict.fromkeys(notes)])
