# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Whole trajectories under local privacy: mechanisms of others, by their code, and ours at k = n.

ATP, n-gram, L-SRR and TraCS are run as the authors of TraCS implemented them: TRACS names a
checkout of github.com/ZhengYeah/TraCS, with its check-ins of Chicago (1,000 places). Code and data
stay outside this project.
"""
from collections.abc import Callable
from functools import cache
import os
from pathlib import Path
import pickle
import random
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from studies.common import measure_all, Skipped, table
from studies.drawing import finish, new_figure, save
from studies.permute_and_flip import PermuteAndFlip
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

NEIGHBOURS = 10
LENGTH = 13               # of a walk; their ε are multiples of it
PER_PLACE = (2, 4, 6, 8, 10)
SLICE = slice(100, 200)   # of their trajectories: those of their experiment
COUNT = 40                # of those
START = 'start'           # it can be followed by every place
THEIRS = {'ATP': 'tp', 'n-gram': 'ngram', 'L-SRR': 'srr', 'TraCS-D': 'tracs_d',
          'TraCS-C': 'tracs_c'}
OURS = {'randomized response, no map': 'complete', 'exponential, on the map': 'exponential',
        'adaptive (live), on the map': 'adaptive',
        'permute-and-flip, on the map': 'permute_and_flip'}
LABELLED = {**THEIRS, **{f'{name} (ours)': key for name, key in OURS.items()}}
INPUTS = {'check-ins': 'their check-ins', 'walks': 'walks on the map'}
_DEGREES = ((41.60015, 41.99822), (-87.9952, -87.50765))  # the unit square, as in their code

Points = npt.NDArray[np.float64]  # shape (length, 2), in the unit square


def folder() -> Path:
    """Return the checkout of TraCS."""
    name = os.environ.get('TRACS')
    if not name:
        raise Skipped('TRACS does not name a checkout of TraCS')
    if not (Path(name) / 'src' / 'methods').is_dir():
        raise Skipped('the folder that TRACS names holds no TraCS')
    return Path(name)


@cache
def places() -> Points:
    """Return the places, and make their code importable."""
    sys.path.append(str(folder()))
    file = folder() / 'experiments' / 'discrete_space' / 'CHI' / 'chi_location_space.pkl'
    return np.array(pickle.loads(file.read_bytes()))


@cache
def successors() -> tuple[tuple[int, ...], ...]:
    """Return the map: from a place to itself, its 10 nearest, and those it is so near to."""
    near = cKDTree(places()).query(places(), NEIGHBOURS + 1)[1]
    moves = [{i} for i in range(len(near))]
    for i, row in enumerate(near.tolist()):
        for j in row:
            moves[i].add(j)
            moves[j].add(i)
    while True:  # join the parts by the shortest link
        links = [(i, j) for i, row in enumerate(moves) for j in row]
        rows, columns = np.array(links).T
        size = (len(moves), len(moves))
        matrix = csr_matrix((np.ones(len(links)), (rows, columns)), size)
        parts, part = connected_components(matrix)
        if parts == 1:
            return tuple(tuple(sorted(row)) for row in moves)
        inside = np.flatnonzero(part == part[0])
        outside = np.flatnonzero(part != part[0])
        distances, nearest = cKDTree(places()[inside]).query(places()[outside])
        i, j = int(outside[distances.argmin()]), int(inside[nearest[distances.argmin()]])
        moves[i].add(j)
        moves[j].add(i)


@cache
def chain(on_map: bool) -> Chain:
    """Return the map with a start from which every place can follow, or no map at all."""
    names = list(map(str, range(len(places()))))
    if not on_map:
        return Chain.complete(names, names[0])
    return Chain({START: names, **{str(i): list(map(str, row))
                                   for i, row in enumerate(successors())}}, START)


@cache
def trajectories(kind: str) -> list[list[int]]:
    """Return words of numbers of places."""
    file = folder() / 'experiments' / 'discrete_space' / 'CHI' / 'chi_trajectory.pkl'
    theirs = [nearest(np.array(points)) for points in pickle.loads(file.read_bytes())[SLICE]]
    if kind == 'check-ins':
        return theirs
    draw = random.Random('walks')
    words = []
    for word in theirs:
        walk = word[:1]
        while len(walk) < LENGTH:
            walk.append(draw.choice(successors()[walk[-1]]))
        words.append(walk)
    return words


def nearest(points: Points) -> list[int]:
    """Return the number of the place that is nearest to each point."""
    return [int(i) for i in cKDTree(places()).query(points)[1]]


def perturbed(name: str, word: list[int], epsilon: float, seed: str) -> list[int]:
    """Return a private word by a mechanism of theirs, with the settings of their experiment."""
    from src.methods.ngram import ngram_perturb
    from src.methods.srr_3_groups import srr_perturb
    from src.methods.tp import tp_perturb
    from src.methods.wrapped_tracs import tracs_c, tracs_d

    each, locations = epsilon / len(word), list(places())
    points = [places()[i] for i in word]
    calls: dict[str, Callable[[], Any]] = {
        'tp': lambda: tp_perturb(points, locations, each),
        'ngram': lambda: ngram_perturb(points, locations, each, 0.8 * np.sqrt(2)),
        'srr': lambda: srr_perturb(points, locations, each, [0.3, 0.6]),
        'tracs_d': lambda: tracs_d(points, each, np.pi / (np.pi + 1) * each),
        'tracs_c': lambda: tracs_c(points, each, each / 2)}
    random.seed(seed)
    return nearest(np.array(calls[name]()))


@cache
def ours(name: str, epsilon: float, length: int,
         seed: str) -> OnlineMechanism | OfflineMechanism | PermuteAndFlip:
    """Return a mechanism of ours at k = n, with random numbers of its own."""
    privacy, on_map = Privacy(epsilon, length), chain(name != 'complete')
    draw = random.Random(f'{seed}, {length}')
    if name == 'adaptive':
        return OnlineMechanism(on_map, privacy, policy='adaptive', random=draw)
    if name == 'permute_and_flip':
        return PermuteAndFlip(on_map, privacy, draw)
    return OfflineMechanism(on_map, privacy, random=draw)


def privatized(name: str, word: list[int], epsilon: float, seed: str) -> list[int]:
    """Return a private word by a mechanism of ours, at k = n; the next one for each seed."""
    mechanism = ours(name, epsilon, len(word), seed)
    if isinstance(mechanism, PermuteAndFlip):
        drawn = mechanism.draw(np.array([chain(True).state_index[str(i)] for i in word]))
        return [int(chain(True).states[i]) for i in drawn]
    return [int(symbol) for symbol in mechanism.privatize(list(map(str, word)))]


def degrees_off(word: list[int], other: list[int]) -> float:
    """Return the mean distance in degrees, as their experiment measures it."""
    low, high = np.array(_DEGREES).T
    apart = (places()[word] - places()[other]) * (high - low)
    return float(np.hypot(*apart.T).mean())


def allowed(word: list[int]) -> tuple[int, int]:
    """Return how many moves of a word the map allows, and how many there are."""
    return sum(b in successors()[a] for a, b in zip(word, word[1:], strict=False)), len(word) - 1


def measure_one(kind: str, name: str, per_place: int, count: int) -> dict[str, float]:
    """Return the means over the trajectories, for one mechanism and one ε."""
    epsilon, offs, feasible, moves = per_place * LENGTH, [], 0, 0
    for i, word in enumerate(trajectories(kind)[:count]):
        seed = f'{kind}, {name}, {epsilon}'
        output = (perturbed(name, word, float(epsilon), f'{seed}, {i}')
                  if name in THEIRS.values() else privatized(name, word, float(epsilon), seed))
        offs.append(degrees_off(word, output))
        some, all_moves = allowed(output)
        feasible, moves = feasible + some, moves + all_moves
    return {'off': float(np.mean(offs)), 'deviation': float(np.std(offs, ddof=1) / len(offs)**0.5),
            'allowed': feasible / moves}


def measure(quick: bool) -> dict[str, Any]:
    """Return a row for each kind of input, mechanism and ε."""
    folder()
    count = 5 if quick else COUNT
    keys = [(kind, name, per_place, count) for kind in INPUTS
            for name in LABELLED.values() for per_place in PER_PLACE]
    truth = {kind: [allowed(word) for word in trajectories(kind)[:count]] for kind in INPUTS}
    lengths = [len(word) for word in trajectories('check-ins')[:count]]
    return {'places': len(places()), 'moves': sum(map(len, successors())), 'count': count,
            'truth': {kind: sum(a for a, _ in found) / sum(b for _, b in found)
                      for kind, found in truth.items()},
            'longest': max(lengths), 'single': lengths.count(1) / count,
            'rows': [{'input': kind, 'mechanism': name, 'epsilon': per_place * LENGTH, **found}
                     for (kind, name, per_place, _), found in zip(
                         keys, measure_all('compare', 'trajectories', quick, measure_one, keys),
                         strict=True)]}


def tables(found: dict[str, Any]) -> str:
    """Return a table for each kind of input."""
    epsilons = [per_place * LENGTH for per_place in PER_PLACE[::2]]
    rows = {(row['input'], row['mechanism'], row['epsilon']): row for row in found['rows']}
    return '\n\n'.join(
        f'On {text} ({found["truth"][kind]:.0%} of the true moves are on the map). Each cell: '
        'off, allowed.\n\n' + table(['', *(f'ε = {epsilon}' for epsilon in epsilons)], [
            (label, *(f'{row["off"]:.4f}, {row["allowed"]:.0%}'
                      for row in (rows[kind, key, epsilon] for epsilon in epsilons)))
            for label, key in LABELLED.items()]) for kind, text in INPUTS.items())


def summary(found: dict[str, Any]) -> str:
    """Return for each input and ε which is closer, the best of theirs or the best of ours."""
    sentences = []
    for kind, text in INPUTS.items():
        ahead: dict[str, list[str]] = {}
        for epsilon in (per_place * LENGTH for per_place in PER_PLACE):
            one, other = (min((row for row in found['rows'] if row['mechanism'] in names.values()
                               and (row['input'], row['epsilon']) == (kind, epsilon)),
                              key=lambda row: row['off']) for names in (THEIRS, OURS))
            apart = one['off'] - other['off']
            sure = abs(apart) >= 2 * np.hypot(one['deviation'], other['deviation'])
            ahead.setdefault('neither' if not sure else 'ours' if apart > 0 else 'theirs',
                             []).append(f'{epsilon}')
        sentences.append(f'- On {text}: ' + '; '.join(
            f'{whose} at ε = {", ".join(at)}' for whose, at in ahead.items()) + '.')
    return '\n'.join(sentences)


def draw(found: dict[str, Any], directory: Path) -> None:
    """Draw comparison-trajectories.svg."""
    figure = new_figure(10, 4.2)
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (kind, text) in zip(axes, INPUTS.items(), strict=True):
        for i, (label, key) in enumerate(LABELLED.items()):
            rows = [row for row in found['rows']
                    if (row['input'], row['mechanism']) == (kind, key)]
            axis.plot([row['epsilon'] for row in rows], [row['off'] for row in rows],
                      'o--' if key in THEIRS.values() else 's-', color=f'C{i}', ms=4, lw=1.6,
                      label=label)
        axis.set(title=text, xlabel='ε for the whole trajectory', yscale='log')
        finish(axis)
    axes[0].set_ylabel('mean distance off, degrees')
    figure.legend(*axes[0].get_legend_handles_labels(), loc='outside lower center', ncols=3,
                  frameon=False, fontsize=8.5)
    save(figure, directory / 'comparison-trajectories.svg')
