# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the online mechanism: one step, what its time tells, its memory, its start."""
import json
from math import exp
import os
from random import Random
from statistics import median
import subprocess
import sys
from time import perf_counter_ns

from bench.chains import (ALPHABET, any_word, grid, PRIVACY, random_chain, town, walk,
                          with_staying)
from bench.measure import (check_shares, Figure, medians, memory_of, no_garbage_collection, peer,
                           ratios, Row, side_by_side)
import numpy as np
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism

_WORD = 10_000
_PROCESSES = 8
_DRAWS = 20_000


def _empty(symbol):
    pass


def _through(function, word):
    """Return a task that calls a function with every symbol of a word."""
    def task():
        for symbol in word:
            function(symbol)
    return task


def _loop(word):
    def task():
        for _ in word:
            pass
    return task


def _alphabet():
    return Chain.complete(ALPHABET, ALPHABET[0])


def _a_call(times, length):
    return {label: [t / length for t in values] for label, values in times.items()}


def _step_and_empty_call(effort):
    chain, streets = _alphabet(), town()
    word, route = any_word(chain, _WORD), any_word(streets, _WORD)
    times = _a_call(side_by_side({
        'step': _through(OnlineMechanism(chain, PRIVACY).step, word),
        'empty call': _through(_empty, word),
        'loop': _loop(word),
        'step, town': _through(OnlineMechanism(streets, PRIVACY, policy='paper').step, route),
        'step, town, guided': _through(
            OnlineMechanism(streets, PRIVACY, policy='guided').step, route),
    }, effort), _WORD)
    alone = {label: np.subtract(values, times['loop']) for label, values in times.items()}
    found = {label: ratios(values, alone['empty call']) for label, values in alone.items()}
    plain = median(ratios(times['step'], times['empty call']))
    yield Figure(found['step'], medians(times), (
        f"The loop's own time is taken off both; {plain:.2f}× where it is not. On the town's map "
        f'{median(found["step, town"]):.2f}×, and {median(found["step, town, guided"]):.2f}× with '
        'the guided policy.'), goal='step-empty')


def _what_time_tells(effort):
    """Each process hashes strings in its own way, and has its objects at places of its own."""
    found = {}
    for seed in range(1, 1 + effort.either(2, _PROCESSES)):
        arguments = str(effort.either(10_000, 50_000)), str(effort.rounds)
        done = subprocess.run([sys.executable, '-m', __name__, *arguments], check=True,
                              capture_output=True, env={**os.environ, 'PYTHONHASHSEED': str(seed)})
        for label, areas in json.loads(done.stdout).items():
            found.setdefault(label, []).append(areas)

    def lean(areas):
        return folded(median(areas))

    worst = max((areas for each in found.values() for areas in each), key=lean)
    each = '; '.join(f'{label}: {max(map(lean, areas)):.3f}' for label, areas in found.items())
    yield Figure([*map(folded, worst)],
                 note=f'By what is privatized, the worst process of each: {each}.')


def _areas_of_steps(steps, rounds):
    """Return what is privatized → the areas under the curve in each round, in this process."""
    chain, streets, found = _alphabet(), town(), {}
    for label, mechanism in (('43 symbols', OnlineMechanism(chain, PRIVACY)),
                             ('town', OnlineMechanism(streets, PRIVACY))):
        word = _mixed_word(mechanism.chain, steps)
        copies = {symbol: ''.join(list(symbol)) for symbol in mechanism.chain.states}
        found[label] = mechanism, word
        found[f'{label}, each a string of its own'] = mechanism, [copies[s] for s in word]
    areas = {label: [] for label in found}
    for _ in range(rounds):
        for label, (mechanism, word) in found.items():
            areas[label].append(area_under_curve(*_timed_steps(mechanism, word)))
    return areas


def _mixed_word(chain, length):
    """Return a walk in which every other symbol, at random, is any state: few are feasible."""
    random = Random(3)
    return [random.choice(chain.states) if random.random() < 1 / 2 else symbol
            for symbol in walk(chain, length)]


def _timed_steps(mechanism, word):
    """
    Return for each step its time (ns), whether the truth was published, and which move it was.

    A move is what is published before and now, as one number.
    """
    step, clock, index = mechanism.step, perf_counter_ns, mechanism.chain.state_index
    mechanism.reset()
    times, outputs = [0] * len(word), [None] * len(word)
    with no_garbage_collection():
        for t, symbol in enumerate(word):
            begun = clock()
            output = step(symbol)
            times[t] = clock() - begun
            outputs[t] = output
    numbers = np.array([index[mechanism.chain.initial_state], *(index[o] for o in outputs)])
    hits = np.array([symbol == output for symbol, output in zip(word, outputs, strict=True)])
    return np.array(times), hits, numbers[:-1] * len(index) + numbers[1:]


def area_under_curve(times, hits, moves) -> float:
    """
    Return the chance that a hit took longer than a miss of the same move, ties counting half.

    That is the area under the curve of an observer who sees the moves and guesses by the time.
    Averaged over the moves that were both, each by how sure its own area is.

    :param times: shape (n,).
    :param hits: bool, same shape.
    :param moves: integers, same shape.
    """
    from scipy.stats import rankdata

    order = np.argsort(moves, kind='stable')
    areas, weights = [], []
    for some in np.split(order, np.flatnonzero(np.diff(moves[order])) + 1):
        hit = hits[some]
        count, others = int(hit.sum()), int((~hit).sum())
        if count and others:
            ranks = rankdata(times[some])[hit].sum()
            areas.append((ranks - count * (count + 1) / 2) / (count * others))
            weights.append(count * others / (count + others))
    return float(np.average(areas, weights=weights))


def folded(area: float) -> float:
    """Return what an observer reaches who knows which way the times lean."""
    return max(area, 1 - area)


def _step_and_opendp(effort):
    dp = peer('opendp.prelude', 'OpenDP')
    dp.enable_features('contrib')
    odds = exp(PRIVACY.epsilon)
    response = dp.m.make_randomized_response(
        list(ALPHABET), prob=odds / (odds + len(ALPHABET) - 1))
    assert abs(response.map(1) - PRIVACY.epsilon) < 1e-6
    yield _against(effort, 'OpenDP', response)


def _step_and_diffprivlib(effort):
    mechanisms = peer('diffprivlib.mechanisms', 'diffprivlib')
    distances = [(a, b, float(a != b)) for a in ALPHABET for b in ALPHABET]
    mechanism = mechanisms.ExponentialCategorical(epsilon=PRIVACY.epsilon, utility_list=distances)
    yield _against(effort, 'diffprivlib', mechanism.randomise)


def _against(effort, name, function):
    """Each is timed over a word of its own length: both take about as long."""
    chain = _alphabet()
    mechanism, word = OnlineMechanism(chain, PRIVACY), any_word(chain, _WORD)
    check_truths(mechanism.step, 'the step')
    check_truths(function, name)
    few = word[:_WORD // 200]
    times = side_by_side({'step': _through(mechanism.step, word),
                          name: _through(function, few)}, effort)
    times = {**_a_call({'step': times['step']}, len(word)),
             **_a_call({name: times[name]}, len(few))}
    return Figure(ratios(times[name], times['step']), medians(times))


def check_truths(function, name):
    """Hold the share of truths that a step publishes against that of randomized response at ε."""
    odds, truth = exp(PRIVACY.epsilon), ALPHABET[0]
    share = odds / (odds + len(ALPHABET) - 1)
    check_shares((function(truth) == truth for _ in range(_DRAWS)),
                 {True: share, False: 1 - share}, name)


def _memory(effort):
    def held(states, degree=4, chain=None):
        """Return bytes a state, of the mechanism alone, or with its chain."""
        chain = chain or random_chain(states, degree)
        return memory_of(lambda: _visited(chain))[0] / states

    chain = random_chain(10_000)
    values = [held(10_000, chain=chain) for _ in range(effort.either(1, effort.rounds))]
    with_chain = memory_of(lambda: _visited(random_chain(10_000)))[0] / 10_000
    yield Figure(values, note=(
        f'The chain itself takes {with_chain - values[0]:.0f} bytes a state more. At 1,000 states '
        f'of the same degree it is {held(1_000):.0f} bytes a state, at 10,000 of degree 8 '
        f'{held(10_000, 8):.0f}.'))


def _visited(chain):
    mechanism = OnlineMechanism(chain, PRIVACY, policy='paper')
    for state in chain.states:
        mechanism.reset(state)
        mechanism.step(state)
    return chain, mechanism


def _start_up(effort):
    chain = random_chain(10_000)
    times = side_by_side({'start-up': lambda: OnlineMechanism(chain, PRIVACY, policy='paper')},
                         effort)
    yield Figure([1e3 * t for t in times['start-up']], medians(times))


def _adaptive(make, delay=0, length=1_000):
    def measure(effort):
        chain = make()
        mechanism = OnlineMechanism(chain, PRIVACY, policy='adaptive', delay=delay)
        word = walk(chain, length)
        times = _a_call(side_by_side({'step': _through(mechanism.step, word)}, effort), length)
        yield Figure([1e3 * t for t in times['step']], medians(times))
    return measure


def _adaptive_log(effort):
    chain = with_staying(random_chain(1_000))
    mechanism = OfflineMechanism(chain, PRIVACY, selection='causal', policy='adaptive')
    word = walk(chain, 10_000)
    times = side_by_side({'log': lambda: mechanism.privatize(word)}, effort)
    yield Figure(times['log'], medians(times), goal='adaptive-log')
    _, most = memory_of(lambda: mechanism.privatize(word))
    yield Figure([most / 1e6], goal='adaptive-log-memory')


ROWS = (
    Row('step', _step_and_empty_call,
        '`OnlineMechanism.step` on 43 symbols that can all follow one another, and '
        '`def empty(symbol): pass`, each called with the same 10,000 random symbols in a loop; '
        'randomness from the operating system.', ('step-empty',)),
    Row('step-tells', _what_time_tells,
        'In each of eight processes, whose strings have other hashes (PYTHONHASHSEED 1 to 8), '
        'each step is timed by itself. Among steps that publish the same move: the area under the '
        'ROC curve (AUC) of the times of those that publish the true region, against those that '
        'do not (0.5 is guessing, 1 is knowing; 1 less it where it is below). Half of the symbols '
        'are a walk, half any state: on 43 symbols that can all follow one another and on the '
        'town, guided, as strings of the chain and as other equal ones. The worst counts.'),
    Row('adaptive-100', _adaptive(lambda: with_staying(grid(10, 10))),
        'All of a step: the draw, the report, and what is made ready for the next draw (belief, '
        'cells). A grid of 10 × 10, staying allowed; nothing is known of how the robot moves: six '
        'models. A walk of 1,000 symbols (on the grid of 100 × 100: 200). With a delay, each '
        'report comes so many symbols later.'),
    Row('adaptive-100-later', _adaptive(lambda: with_staying(grid(10, 10)), 10)),
    Row('adaptive-1000-later', _adaptive(lambda: with_staying(random_chain(1_000)), 10)),
    Row('adaptive-10000-later', _adaptive(lambda: with_staying(grid(100, 100)), 10, 200)),
    Row('adaptive-log', _adaptive_log,
        'Causal release by the policy adaptive, which decodes the whole log: a walk on a random '
        'chain of degree 4, staying allowed, six models. Memory: the most that NumPy and Python '
        'hold meanwhile (`tracemalloc`), the tables of the mechanism apart.',
        ('adaptive-log', 'adaptive-log-memory')),
    Row('step-opendp', _step_and_opendp,
        "The same step, and OpenDP's randomized response over the same 43 strings, at the same "
        'ε = 2 (its privacy map says so).'),
    Row('step-diffprivlib', _step_and_diffprivlib,
        "The same step, and diffprivlib's exponential mechanism over the same 43 strings, "
        'distance 0 from the true one and 1 from the others (its list of utilities holds '
        'distances), ε = 2. That both publish the truth as often as randomized response does is '
        'checked first, as it is for OpenDP.'),
    Row('state-memory', _memory,
        "What Python and NumPy hold (`tracemalloc`) for a mechanism with the paper's policy on a "
        'random chain of degree 4, after a word has been at every state.'),
    Row('start-up', _start_up,
        "`OnlineMechanism(chain, privacy)` with the paper's policy, on a chain that is there."),
)

if __name__ == '__main__':  # one process of the row `step-tells`
    print(json.dumps(_areas_of_steps(*map(int, sys.argv[1:]))))
