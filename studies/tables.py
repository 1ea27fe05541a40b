# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m studies.tables FILE.md`: make the page of tables, docs/evidence/tables.md."""
from pathlib import Path
import sys

from studies.belief import belief_table, constant_normaliser_table
from studies.compare.section import table
from symdp_ros.analysis.audit import audit
from symdp_ros.analysis.calibration import Calibration, Error
from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_graph

DEPOT = Path(__file__).resolve().parent.parent / 'config' / 'depot.geojson'

#: Out-degrees 3, 2, 1 and 4; the first two rows are the paper's.
FOUR = Chain({'s0': ['s1', 's2', 's3'], 's1': ['s1', 's2'], 's2': ['s0'],
              's3': ['s3', 's0', 's1', 's2']}, 's0')
AUDITED = ((1, 1.0, 1), (2, 2.0, 1), (2, 1.0, 2), (3, 0.5, 1), (3, 2.0, 2), (3, 3.0, 3),
           (4, 1.0, 1), (4, 2.0, 2))  # n, ε, k
BELIEVED, POLICY = (1.0, 2.0, 3.0), 'guided'  # ε
NORMALISED = 4  # n
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
LENGTH, WALKS = 50, 400

Accuracies = dict[float, dict[str, Error]]  # by ε and mechanism

_PAGE = """\
# Tables

`make tables` makes this page again, in about twenty seconds. Whatever is drawn at random has a
public seed, so the numbers repeat; `studies/test_tables.py` computes them again. n is the
length of a word.

## Audit: the promise, checked on all words

What it shows: the largest privacy loss that occurs. The chain is small, s0 → {{s1, s2, s3}},
s1 → {{s1, s2}}, s2 → {{s0}}, s3 → {{s3, s0, s1, s2}}, from s0, so everything can be looked at: all
words of n symbols (feasible or not, unknown symbols included), all ordered pairs of them that
differ in 1 to k symbols, and all feasible outputs.

How to read it: a mechanism promises that no output is more than e^ε times as probable for one word
as for an adjacent one. Each number is the logarithm of the largest such ratio, the worst loss, so
it must not exceed ε; **bold** if it does. That is decided in fractions, of the probabilities that
are drawn with. The online policies stand for causal release too.

{audit}

## Belief: what an observer can make of private symbols

What it shows: how often a route differs from the true one, as a share of its positions, before
and after Bayes' rule. The map is the [depot](../../config/depot.geojson) with staying allowed.
Patrols of 100 symbols follow probabilities in which each state has one likely move (0.9): five
such chains, twenty patrols of each; k = 1, policy {policy}. After ± stands the standard error over
the patrols.

How to read it: *private* is the error of the private symbols as they are; *filtered* of the most
probable region at each time, from the symbols so far; *smoothed* of the same from all symbols;
*feasible route* of the best guess that the map allows to drive. *Saved* is how much lower
the smoothed error is than the private one. It costs no privacy.

{belief}

## Constant normaliser: the guess for the exponential mechanism

What it shows: what is lost because belief in the exponential mechanism's releases takes its
normaliser Z(w) as the same for all words w. Computed by enumeration of all feasible words of the
chain of the audit, as likely as the public models of moves make them; k = 1.

How to read it: the three errors are shares of positions that are wrong: of the private symbols as
they are, of the best guess there is, and of the guess with constant Z. The last
column is the mean distance between the two beliefs (total variation): 0 is no difference, 1 none
in common.

{normaliser}

## Accuracy: the error to expect by ε

What it shows: the share of symbols of a release that are not the true ones, to be expected
before there is any data, on the [depot](../../config/depot.geojson) with staying allowed:
{length} symbols, k = 1, exact for each of {walks} walks by the map's moves, all alike, and
averaged over them. The standard error over the walks is {accuracy_off:.3f} at most.

How to read it: *live* is the online mechanism under each policy, and causal release; the other two
need the whole log. `symdp calibrate` prints such a table for any map, length and k.

{accuracy}
"""


def audit_table() -> str:
    """Return the exact audit of `FOUR` in Markdown."""
    lines = []
    for length, epsilon, adjacency in AUDITED:
        found = audit(FOUR, Privacy(epsilon, adjacency), length)
        head = ('n', 'ε', 'k', 'pairs', *(
            f'{row.mechanism}, {row.policy}' if row.policy else row.mechanism for row in found))
        lines.append((length, f'{epsilon:g}', adjacency, f'{found[0].pairs:,}', *(
            f'{row.loss:.4f}' if row.holds else f'**{row.loss:.4f}**' for row in found)))
    return table(head, lines)


def beliefs_table() -> str:
    """Return what belief is worth on the depot in Markdown."""
    return belief_table({'depot': depot()}, BELIEVED, policy=POLICY).rstrip()


def normaliser_table() -> str:
    """Return the error of the constant normaliser on `FOUR` in Markdown."""
    return constant_normaliser_table({'four': FOUR}, NORMALISED).rstrip()


def accuracy() -> Accuracies:
    """Return the expected error by ε and mechanism on the depot."""
    return Calibration(depot(), 1, LENGTH, walks=WALKS).table(EPSILONS)


def accuracy_table(found: Accuracies) -> str:
    """Return it in Markdown."""
    return table(('ε', *next(iter(found.values()))), [
        (f'{epsilon:g}', *(f'{error.mean:.3f}' for error in row.values()))
        for epsilon, row in found.items()])


def depot() -> Chain:
    """Return the depot's chain, with staying, from its first state."""
    graph = read_graph(DEPOT, self_loops=True)
    return graph.chain(next(iter(graph.successors)))


def page() -> str:
    """Return the page."""
    found = accuracy()
    return _PAGE.format(
        length=LENGTH, walks=WALKS, audit=audit_table(),
        belief=beliefs_table(), policy=POLICY, normaliser=normaliser_table(),
        accuracy=accuracy_table(found), accuracy_off=max(
            error.standard_error for row in found.values() for error in row.values()))


def main(path) -> None:
    """Write the page."""
    Path(path).write_text(page(), encoding='utf-8')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: python -m studies.tables FILE.md')
    main(sys.argv[1])
