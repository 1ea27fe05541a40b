# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m studies.tables FILE.md`: make the page of tables, docs/evidence/tables.md."""
from random import Random

import numpy as np
from studies.common import CONFIG, filled, page_command, table
from studies.compare.areas import HABIT, habit  # noqa: F401: HABIT is for the page
from symdp_ros.analysis.accuracy import averaged, patrols
from symdp_ros.analysis.audit import audit
from symdp_ros.analysis.belief import best_route, Filter, smooth
from symdp_ros.analysis.calibration import Calibration, Error
from symdp_ros.core.annotations import Floats
from symdp_ros.core.chain import Chain
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy
from symdp_ros.maps import read_graph


#: Out-degrees 3, 2, 1 and 4; the first two rows are the paper's.
FOUR = Chain({'s0': ['s1', 's2', 's3'], 's1': ['s1', 's2'], 's2': ['s0'],
              's3': ['s3', 's0', 's1', 's2']}, 's0')
AUDITED = ((1, 1.0, 1), (2, 2.0, 1), (2, 1.0, 2), (3, 0.5, 1), (3, 2.0, 2), (3, 3.0, 3),
           (4, 1.0, 1), (4, 2.0, 2))  # n, ε, k
BELIEVED, POLICY = (1.0, 2.0, 3.0), 'guided'  # ε
HABITS, BELIEF_WALKS, BELIEF_LENGTH = 5, 20, 100  # chains, and walks of each
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


def belief_errors(privacy: Privacy) -> Floats:
    """
    Return the share of positions at which four routes are wrong: shape (4, walks).

    The private one; the most probable state at each time, by what came so far; the same by the
    whole private route; and the best feasible route. On walks by some habits on the depot.
    """
    errors = []
    for seed in range(HABITS):
        chain = habit(depot(), seed)
        mechanism = OnlineMechanism(chain, privacy, policy=POLICY, random=Random(seed))
        states = np.array(chain.states)
        for true in patrols(chain, BELIEF_LENGTH, BELIEF_WALKS):
            private, tracker = mechanism.privatize(true), Filter(mechanism)
            filtered = states[[tracker.update(output).argmax() for output in private]]
            beliefs = smooth(mechanism, private)
            smoothed, route = states[beliefs.argmax(axis=1)], best_route(beliefs, chain)
            errors.append([np.mean(np.array(true) != np.array(guess))
                           for guess in (private, filtered, smoothed, route)])
    return np.array(errors).T


def belief_table() -> str:
    """Return `belief_errors` in Markdown; last, how much lower smoothed is than private."""
    lines = []
    for epsilon in BELIEVED:
        found = [averaged(errors) for errors in belief_errors(Privacy(epsilon))]
        private, _, smoothed, _ = found
        lines.append((f'{epsilon:g}',
                      *(f'{each.error:.3f} ± {each.standard_error:.3f}' for each in found),
                      f'{1 - smoothed.error / private.error:.0%}'))
    return table(('ε', 'private', 'filtered', 'smoothed', 'feasible route', 'saved'), lines)


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
