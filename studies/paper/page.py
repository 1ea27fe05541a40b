# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the experiments, whose tables come from `numbers.json`."""
from studies.compare.section import table

_NAMES = {'paper': "paper's policy", 'guided': 'guided', 'exponential': 'exponential'}
_THEIRS = {  # what the paper prints
    'errors': (14, 11, 5, 1, 0),  # Figure 7, at the same ε
    'start': (.935, .993, .967, .954, .948),  # Table 1, from SW 34th St
    'detour': (0, .245, .242, .240, .237),    # and from SW Archer Rd
}
_PAGE = """\
# The paper's experiments, on a town of our own

"The paper" is B. Chen, K. Leahy, A. Jones, M. Hale, *Differential Privacy for Symbolic Systems
with Application to Markov Chains* (arXiv 2202.03325; Automatica 2023). It made its map of 43
states from traffic counts in Gainesville, Florida; the map is not published with it. So its
experiments are repeated on an invented town, whose moves along the route are as many as the
digits of the paper's Table 1 imply.

`make experiments` makes this page, its figures and [numbers.json](numbers.json) again, in about a
minute. The simulated words have public seeds, so they repeat; exact numbers are computed without
sampling (`symdp_ros.analysis.accuracy`). k = 1 throughout, but in Figure 1.

## Figures 1 to 4: how the mechanisms work

![Three paths through a grid, and which are adjacent](grid.svg)

**Figure 1.** Three paths through a 5 × 5 grid, as words of nine cells. Paths 1 and 2 differ in
two places, so they are adjacent at k = 3. `symdp_ros.analysis.alternatives.is_adjacent` decides
it.

![The automaton of the word abc](automaton.svg)

**Figure 2.** The automaton of all words over a, b, c at distance 2 from abc (Algorithm 1). A
state q_(t,e) has read t letters, e of them errors. V counts the words that lead on to the
accepting state.

![A chain of four states](chain.svg)
![The product of automaton and chain](product.svg)

**Figure 3.** A chain of four states, and the product of the automaton of s1 s2 s3 (distance 2)
with it (Algorithm 3; `symdp automaton --dot` writes such graphs).

![The online policy in two cases](online.svg)

**Figure 4.** The online policy μ (Algorithm 4) for the true symbol s1: where it is feasible after
the last output (β = 1), and where it is not (β = 0).

## The map

![The streets of Amberford and the route](town.svg)

Amberford is invented: {states} streets
([sparse.chain.yaml](../../../studies/paper/sparse.chain.yaml)). A symbol is the street a car is
on; it turns into a street that meets it, and cannot stay ({moves} moves, at most {most} from a
street). The route has {length} symbols and begins from {start}. From {detour}, a detour, the
route's first street is not feasible: {first}. The initial state is public and no part of the
word.

**Out-degrees.** {along} moves are feasible from the first {positions} streets of the drive
({start} and the first {before} of the route). This is an inference from the digits of the paper's
Table 1. With τ(N) = 1/((N−1)e^(−ε) + 1) at ε = {epsilon:g}, the products of τ(2), τ(5), τ(3),
τ(2), τ(3) are .993, .967, .954, .948, .935: its first column, rotated by one row (the .935 that
it prints at t = 1 belongs to t = 5). Its second column is ¼·τ(4), and then times τ(3), τ(2),
τ(3). The paper's chain has probably no staying, as it counts how often a driver leaves a street.

**Not comparable:** all other degrees, the streets, and the rest of the route.

## Private routes (the paper's Figure 7)

![Private routes at five ε, for two policies](routes.svg)

One draw each of the online mechanism. At ε = 0.1 the car seems to drive at random, though always
along streets that meet; at ε = 10 the private route is the true one. A street is blue where it is
the true one at that time.

Errors of {length} symbols, in one draw each, and in brackets what is expected:

{drawn}

## Correct transitions (the paper's Table 1)

The probability that the private symbol is the true one, o_t = w_t, at ε = {epsilon:g}: the
paper's numbers, and beside them ours under the same policy, exactly.

{theirs}

Under every policy, exactly, and in brackets as the share among {words} simulated words:

{correct}

The remark after the paper's Theorem 7 bounds the expected error by putting N_max for N into τ.
Ours is τ({most}) = {bound:.4f}. Where the output has left the route, that fails: from {detour}
the first symbol is never the true one. The paper does not say so, but its numbers imply it: even
at N_max = 43, all its states, τ is .779, and its second column stays below .25.

From {start}, guided is as good as the paper's policy at these five positions. From {detour}, it is
back on the route at t = 2. The next section counts the whole route.

## Average distance (the paper's Figure 8)

![Average distance by ε from three initial states](distances.svg)

As in the paper: one route of {length} symbols, {words} private words for each ε and initial state
(the marks; the paper's are SW 34th St, SW 2nd Ave and SW Archer Rd), the policy of Algorithm 4,
and the distance from 0 to {length}. The lines are exact, E[d(w, o)].

![Average distance by ε, online and offline](errors.svg)

The same with our policy guided, and offline. The three columns differ in the public initial state
alone.

{errors}

**Our policy does not always win.**
{compared}
On a map without staying, a private car that is one move late can stay one move late to the end of
the route. Guided aims at where the true car is now, so from {faraway} it follows the car all the
way and is never there in time.

Even at ε = 10 errors are left where the route cannot be joined at once. The exponential mechanism
knows the whole route before it releases anything; the online mechanisms do not.

**Not in the paper:** guided.

## The paper's statements on accuracy

`studies/paper/theorems.py` has each as a function, and `studies/test_theorems.py`
checks it by enumeration on small maps.

| statement | about | holds? |
| --- | --- | --- |
| Theorem 2 | offline, alphabet: mean and variance | yes |
| Theorem 2 | 2·exp(−2η²/n²) for η in (0, ½) | yes, but it says nothing: it is above 1.213 \
for every n |
| Theorem 4 | online, alphabet: mean, variance, Chernoff tails | yes |
| Theorem 6 | offline, chain: upper bound of the mean | yes |
| Theorem 6 | offline, chain: lower bound of the mean | no: 2.910 where the mean is 1.348, on \
four states |
| Theorem 6, remark after Theorem 7 | variance at most n²/4 | yes |
| remark after Theorem 7 | online, chain: N_min in τ bounds the mean from below | yes |
| remark after Theorem 7 | online, chain: N_max in τ bounds it from above | no (Table 1 above) |
| Algorithm 1 | V(q) as a sum over states | no: it counts 3 of the 12 words of Figure 2; \
the sum is over pairs of state and letter |

## How sure the marks are

`test/package/test_experiments.py` computes the exact numbers again, draws the simulated words of
the routes and of the correct transitions again, and holds each sampled number against its exact
one: within Bernstein's bound, with a false-alarm probability of 10⁻⁶ for all of them together.
"""


def page(numbers) -> str:
    """Return `index.md` for the content of `numbers.json`."""
    starts, correct, errors = (numbers[key] for key in (
        'starts', 'correct_transition', 'average_error'))
    size = numbers['map']
    return _PAGE.format(
        states=size['states'], moves=size['moves'], most=size['most'],
        along=_listed(size['along']), positions=len(size['along']), before=len(size['along']) - 1,
        **starts, faraway=starts['far away'],
        length=len(numbers['route']), first=numbers['route'][0],
        epsilon=correct['epsilon'], words=f'{numbers["words"]:,}',
        bound=correct['bound_with_most_moves'],
        compared=_compared(errors, starts), drawn=_drawn_table(numbers),
        theirs=_their_table(correct, starts),
        correct=_correct_table(correct, starts), errors=_error_tables(errors, starts))


def _listed(items):
    *others, last = map(str, items)
    return f'{", ".join(others)} and {last}'


def _compared(errors, starts):
    """Return the average distance under each online policy from each start, in a sentence."""
    epsilons = errors['epsilon']['exact']
    place = epsilons.index(5.0)
    parts = [f'from {street} ' + ', '.join(
        f'{_NAMES[policy]} {errors[start][policy]["exact"][place]:.2f}'
        for policy in ('paper', 'guided')) for start, street in starts.items()]
    return f'At ε = {epsilons[place]:g} the average distance is\n' + ';\n'.join(parts) + '.'


def _drawn_table(numbers):
    epsilons, errors = numbers['average_error']['epsilon']['exact'], numbers['average_error']
    rows = [('paper, Figure 7', *map(str, _THEIRS['errors']))]
    for policy, words in numbers['private_routes'].items():
        expected = errors['start'][policy]['exact']
        rows.append((f'here, {_NAMES[policy]}', *(
            f'{sum(o != s for o, s in zip(word, numbers["route"], strict=True))} '
            f'({expected[epsilons.index(float(epsilon))]:.2f})'
            for epsilon, word in words.items())))
    return table(['', *(f'ε = {float(epsilon):g}' for epsilon in words)], rows)


def _their_table(correct, starts):
    rotated = [*_THEIRS['start'][1:], _THEIRS['start'][0]]
    rows = [(f't = {t + 1}', f'{_THEIRS["start"][t]:.3f}', f'{rotated[t]:.3f}',
             f'{correct["start"]["paper"]["exact"][t]:.3f}', f'{_THEIRS["detour"][t]:.3f}',
             f'{correct["detour"]["paper"]["exact"][t]:.3f}') for t in range(len(rotated))]
    return table(['', 'paper, SW 34th St', 'the same, rotated', f'here, {starts["start"]}',
                  'paper, SW Archer Rd', f'here, {starts["detour"]}'], rows)


def _correct_table(correct, starts):
    rows = [(f'{starts[start]}, {_NAMES[policy]}',
             *map(_pair, chances['exact'], chances['sampled']))
            for start in ('start', 'detour') for policy, chances in correct[start].items()]
    count = len(rows[0]) - 1
    return table(['from, policy', *(f't = {t}' for t in range(1, count + 1))], rows)


def _error_tables(errors, starts):
    sampled = errors['epsilon']['sampled']
    places = [errors['epsilon']['exact'].index(epsilon) for epsilon in sampled]
    tables = []
    for start, street in starts.items():
        rows = [(f'{epsilon:g}', *(_pair(found['exact'][place], found['sampled'][i])
                                   for found in errors[start].values()))
                for i, (epsilon, place) in enumerate(zip(sampled, places, strict=True))]
        tables.append(f'From {street}, exact (sampled):\n\n'
                      + table(['ε', *map(_NAMES.get, errors[start])], rows))
    return '\n\n'.join(tables)


def _pair(exact, sampled):
    return f'{exact:.3f} ({sampled:.3f})'
