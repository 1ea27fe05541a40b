# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m studies.tables FILE.md`: make the page of tables, docs/evidence/tables.md."""
from studies.belief import belief_table, constant_normaliser_table  # noqa: F401: for the page
from studies.common import CONFIG, filled, page_command, table
from symdp_ros.analysis.audit import audit
from symdp_ros.analysis.calibration import Calibration, Error
from symdp_ros.core.chain import Chain
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_graph


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


def accuracy() -> Accuracies:
    """Return the expected error by ε and mechanism on the depot."""
    return Calibration(depot(), 1, LENGTH, walks=WALKS).table(EPSILONS)


def most_error(found: Accuracies) -> float:
    """Return the largest standard error."""
    return max(error.standard_error for row in found.values() for error in row.values())


def accuracy_table(found: Accuracies) -> str:
    """Return it in Markdown."""
    return table(('ε', *next(iter(found.values()))), [
        (f'{epsilon:g}', *(f'{error.mean:.3f}' for error in row.values()))
        for epsilon, row in found.items()])


def depot() -> Chain:
    """Return the depot's chain, with staying, from its first state."""
    graph = read_graph(CONFIG / 'depot.geojson', self_loops=True)
    return graph.chain(next(iter(graph.successors)))


def page() -> str:
    """Return the page."""
    return filled(__file__, {**globals(), 'found': accuracy()})


if __name__ == '__main__':
    page_command('tables', page)
