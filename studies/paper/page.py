# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the experiments, whose tables come from `numbers.json`."""

_NAMES = {'paper': "paper's policy", 'guided': 'guided', 'planned': 'planned',
          'exponential': 'exponential', 'permute_and_flip': 'permute-and-flip'}
_PAGE = """\
# The paper's experiments, on a town of our own

"The paper" is B. Chen, K. Leahy, A. Jones, M. Hale, *Differential Privacy for Symbolic Systems
with Application to Markov Chains* (arXiv 2202.03325; Automatica 2023). Its traffic data are not
published with it. So its experiments are repeated here in form, on another map: what can be
compared is how error and privacy go together, never a number. Nor was its full text at hand when
this page was written (its abstract speaks of numerical results for English words alone): what each
section says of the paper is the outline that this project was given.

`make experiments` makes this page, its figures and [numbers.json](numbers.json) again, in about a
minute. The simulated words have public seeds, so they repeat; exact numbers are computed without
sampling (`symdp_ros.analysis.accuracy`). k = 1 throughout.

## The map

![The streets of Amberford and the route](town.svg)

Amberford is invented: {states} streets
([streets.chain.yaml](../../studies/paper/streets.chain.yaml)). A
symbol is the street a car is on; it stays there or turns into a street that meets it ({moves}
moves). The route has {length} symbols and begins from {start}, from which {most} moves are
feasible. From {detour}, a wrong turn off {start}, the route's first street is not feasible:
{first}. The initial state is public and no part of the word.

- **The paper:** 43 states, a route of 14 symbols, an initial street with about 11 feasible moves,
  and a detour from which the true next street is not feasible.
- **Not comparable:** which streets meet, all other degrees, and the route. Staying on a street is
  allowed here; whether it is in the paper's chain, we do not know.

## Private routes (the paper's Figure 7)

![Private routes at five ε, for two policies](routes.svg)

One draw each of the online mechanism, so they vary: the titles tell how many true symbols are
expected. At ε = 0.1 the car seems to drive at random, though always along streets that meet; at
ε = 10 the private route is the true one. A street is blue where it is the true one at that
time, even if the private car is on another part of it.

- **The paper** draws private routes at the same five ε.
- **Not comparable:** the map. The guided policy is this project's: where the true street is not
  feasible, it aims at the street from which the fewest moves lead to it.

## Correct transitions (the paper's Table 1)

The probability that the private symbol is the true one, o_t = w_t, at ε = {epsilon:g}: exactly,
and in brackets as the share among {words} simulated words.

{correct}

The remark after the paper's Theorem 7 bounds the expected error as if every symbol were the true
one with a probability of at least τ(N_max) = {bound:.4f}, where N_max = {most} is the most moves
from any street. That fails where the output has left the route: from {detour} the first symbol is
never the true one, and even from {start} the probability is below τ(N_max) from {below} on, under
every policy. At single positions the guided policy can be behind the paper's{behind}: it heads for
where the car is, and the car moves on. Over the whole route it is ahead (next section).

- **The paper's** Table 1 gives such probabilities for t = 1…5 from the route's start and from the
  detour at ε = 5, and shows there that the bound with N_max fails once the output has left the
  route.
- **Not comparable:** the probabilities themselves, but for those fixed by the number of feasible
  moves alone: where {most} moves are feasible, the true one among them, it is τ = {bound:.4f}
  under the paper's policy on any map.

## Average error (the paper's Figure 8)

![Average error by ε, online and offline](errors.svg)

The lines are exact, E[d(w, o)]/{length}; each mark is the average over {words} simulated private
words of the route. The three columns differ in the public initial state alone.

{errors}

Even at ε = 10 an error is left where the route cannot be joined at once. There the paper's policy
keeps missing it, and the guided one catches up. The planned policy's targets change with ε, which
gives its lines their bends; they are chosen for drives at random, not for this route.
Permute-and-flip errs no more than the exponential mechanism, which shows at large ε: from {start}
it errs {less:.0%} less at ε = {less_at:g}. Both know the whole route before they release anything;
the online mechanisms do not.

- **The paper's** Figure 8 gives the average error for ε from 0.1 to 10 from three initial states,
  with 1,000 words each.
- **Not comparable:** the curves' heights, which depend on map, route and initial states. We do not
  know whether the paper's 1,000 words are private words of one route, as here. Guided, planned and
  permute-and-flip are not in the paper; A. Benvenuti, H. Rao, M. Hale (arXiv 2603.28903, abstract)
  report up to 55% less error for permute-and-flip than for the previous mechanism, on a real
  traffic data set that is not this map.

## How sure the marks are

`test/package/test_experiments.py` computes the exact numbers again, draws the simulated words of
the routes and of the correct transitions again, and holds each sampled number against its exact
one: within Bernstein's bound, with a false-alarm probability of 10⁻⁶ for all of them together.
"""


def page(numbers) -> str:
    """Return `index.md` for the content of `numbers.json`."""
    starts, correct, errors = (numbers[key] for key in (
        'starts', 'correct_transition', 'average_error'))
    bound = correct['bound_with_most_moves']
    below = next(t for t in range(len(correct['start']['paper']['exact'])) if all(
        chances['exact'][t] < bound - 1e-9 for chances in correct['start'].values()))
    paper, guided = (correct['start'][policy]['exact'] for policy in ('paper', 'guided'))
    behind = [f't = {t}' for t in range(1, len(paper) + 1) if guided[t - 1] < paper[t - 1]]
    less, less_at = max((1 - flip / exponential, epsilon) for flip, exponential, epsilon in zip(
        errors['start']['permute_and_flip']['exact'], errors['start']['exponential']['exact'],
        errors['epsilon']['exact'], strict=True))
    return _PAGE.format(
        **numbers['map'], **starts, length=len(numbers['route']), first=numbers['route'][0],
        epsilon=correct['epsilon'], words=f'{numbers["words"]:,}', bound=bound,
        below=f't = {below + 1}', behind=f' (from {starts["start"]} at {", ".join(behind)})',
        less=less, less_at=less_at,
        correct=_correct_table(correct, starts), errors=_error_tables(errors, starts))


def _correct_table(correct, starts):
    rows = [(f'{starts[start]}, {_NAMES[policy]}',
             *map(_pair, chances['exact'], chances['sampled']))
            for start in ('start', 'detour') for policy, chances in correct[start].items()]
    count = len(rows[0]) - 1
    return _table(['from, policy', *(f't = {t}' for t in range(1, count + 1))], rows)


def _error_tables(errors, starts):
    sampled = errors['epsilon']['sampled']
    places = [errors['epsilon']['exact'].index(epsilon) for epsilon in sampled]
    tables = []
    for start, street in starts.items():
        rows = [(f'{epsilon:g}', *(_pair(found['exact'][place], found['sampled'][i])
                                   for found in errors[start].values()))
                for i, (epsilon, place) in enumerate(zip(sampled, places, strict=True))]
        tables.append(f'From {street}, exact (sampled):\n\n'
                      + _table(['ε', *map(_NAMES.get, errors[start])], rows))
    return '\n\n'.join(tables)


def _pair(exact, sampled):
    return f'{exact:.4f} ({sampled:.4f})'


def _table(head, rows):
    return '\n'.join(f'| {" | ".join(cells)} |' for cells in (head, ['---'] * len(head), *rows))
