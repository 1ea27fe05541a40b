# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Same unit (word, Hamming, k): errors, distances and the adversary's success, on every map."""
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from studies.common import measure_all, table
from studies.compare import areas, matching
from studies.compare.adversary import by_channel
from studies.compare.floor import bound
from studies.drawing import (curve, in_percent, INK, no_less, over_epsilon, panels,
                             save_with_legend)
from studies.permute_and_flip import PermuteAndFlip
from symdp_ros.analysis.accuracy import averaged
from symdp_ros.analysis.adversary import moves_of, outputs_and_beliefs, walk_distribution
from symdp_ros.analysis.belief import posteriors
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
LENGTHS = {1: 50, 10: 100, 30: 150}  # of words, by k
ERROR, STANDARD_ERROR, MOVES, METRES, SUCCESS = range(5)  # of a row's numbers
HABIT_EPSILONS, HABIT_WALKS = (1.0, 2.0, 4.0), 50
COUNTED = 10  # words for permute-and-flip, which counts words: O(n²·edges) time


class Release(NamedTuple):
    """Some words, what a mechanism made of them, and what the adversary makes of that."""

    words: ShortInts      # (words, length)
    outputs: ShortInts    # (words, length)
    error: Floats | None  # of each word, exactly; None: what the outputs show
    beliefs: Floats       # (length, states, words)
    exact: bool           # whether the beliefs are


def _online(policy: str, delay: int | None = 0) -> Callable[..., Release]:
    def release(chain: Chain, privacy: Privacy, words: ShortInts, seed: int) -> Release:
        mechanism = OnlineMechanism(chain, privacy, policy=policy, delay=delay,
                                    random=Random(seed))
        drawn, beliefs = outputs_and_beliefs(mechanism, words, moves_of(chain))
        errors = None if policy == 'adaptive' else _exact(mechanism, words)
        return Release(words, drawn, errors, beliefs, True)
    return release


def _exponential(base: str) -> Callable[..., Release]:
    def release(chain: Chain, privacy: Privacy, words: ShortInts, seed: int) -> Release:
        mechanism = OfflineMechanism(chain, privacy, base=base, random=Random(seed))
        offsets, length = np.arange(len(words) + 1) * words.shape[1], words.shape[1]
        drawn = mechanism.privatize_many(words.ravel(), offsets).reshape(words.shape)
        ratio = mechanism.law.likelihood_ratio(length)
        assert ratio is not None  # none of these is causal
        return Release(words, drawn, _exact(mechanism, words),
                       _of_matches(chain, drawn, ratio), False)
    return release


def _flip(chain: Chain, privacy: Privacy, words: ShortInts, seed: int) -> Release:
    words, mechanism = words[:COUNTED], PermuteAndFlip(chain, privacy, Random(seed))
    drawn = np.stack([mechanism.draw(word) for word in words])
    shares = np.arange(words.shape[1] + 1) / words.shape[1]
    errors = np.array([mechanism.distance_distribution(word) @ shares for word in words])
    return Release(words, drawn, errors, _of_matches(chain, drawn, mechanism.ratio), False)


def _of_matches(chain: Chain, drawn: ShortInts, ratio: float) -> Floats:
    """Return the adversary's beliefs where a match is `ratio` as likely as an error."""
    words, length = drawn.shape

    def likelihood(t: int) -> Floats:
        column = np.full((len(chain), words), 1 / ratio)
        column[drawn[:, t], np.arange(words)] = 1
        return column

    return posteriors(chain, moves_of(chain), length, words, likelihood)


def _response(by_chain: bool) -> Callable[..., Release]:
    def release(chain: Chain, privacy: Privacy, words: ShortInts, seed: int) -> Release:
        spent = privacy.epsilon / privacy.adjacency
        channel = matching.channel(len(chain), spent)
        seen = matching.draw(channel, words, np.random.default_rng(seed))
        routes = (matching.likeliest(chain, seen, spent) if by_chain
                  else matching.nearest(chain, seen))
        return Release(words, routes, None, by_channel(chain, channel, seen), True)
    return release


class Mechanism(NamedTuple):
    """How a mechanism is written in the page, and what draws from it."""

    label: str
    live: bool
    ours: bool
    release: Callable[..., Release]


MECHANISMS = {
    'paper': Mechanism('online (the paper)', True, False, _online('paper')),
    'counting': Mechanism('exponential, counting (the paper)', False, False,
                          _exponential('counting')),
    'flip': Mechanism('permute-and-flip', False, False, _flip),
    'nearest': Mechanism('randomized response, nearest route', False, False, _response(False)),
    'likeliest': Mechanism('randomized response, likeliest route', False, False, _response(True)),
    'guided': Mechanism('guided', True, True, _online('guided')),
    'adaptive': Mechanism('adaptive', True, True, _online('adaptive')),
    'delayed': Mechanism('adaptive, 3 symbols later', False, True, _online('adaptive', 3)),
    'decoded': Mechanism('adaptive, the whole word', False, True, _online('adaptive', None)),
    'chain': Mechanism('exponential, base: chain', False, True, _exponential('chain')),
}


OTHERS = tuple(key for key, mechanism in MECHANISMS.items() if not mechanism.ours)
OURS = tuple(key for key, mechanism in MECHANISMS.items() if mechanism.ours)

# What the page shows: ε of tables of one ε, and of the table of means, by k; successes, by k.
AT = {1: 2.0, 30: 8.0}
_SHOWN = {1: (1.0, 2.0, 4.0), 10: (2.0, 8.0), 30: (2.0, 8.0)}
_SUCCESSES = {1: (0.3, 0.5, 0.8), 10: (0.3, 0.45), 30: (0.4,)}
#: Without those that are close to another row.
_LABELS = {key: mechanism.label for key, mechanism in MECHANISMS.items()
           if key not in ('nearest', 'decoded')}


def measure(quick: bool) -> dict[str, Any]:
    """Return all rows: for each map, k and ε, what each mechanism does."""
    walks = 10 if quick else 100
    names = areas.names()
    if quick:
        names = ['nav2/route_turtlebot3_graph.geojson', areas.SPARSE]
    return {'walks': walks, 'counted': min(walks, COUNTED), 'lengths': LENGTHS,
            'maps': {name: [len(areas.area(name).chain(1)), areas.area(name).chain(1).edge_count]
                     for name in names},
            'rows': measure_all('compare', 'words', quick, row, [
                (name, k, epsilon, walks) for name in names for k in LENGTHS
                for epsilon in EPSILONS]),
            'habit_walks': min(walks, HABIT_WALKS),
            'habits': measure_all('compare', 'words-habits', quick, habit_row, [
                (name, epsilon, right, min(walks, HABIT_WALKS)) for name in names
                for epsilon in HABIT_EPSILONS for right in (True, False)])}


def row(name: str, k: int, epsilon: float, walks: int) -> dict[str, Any]:
    """Return one row: by mechanism [error, its standard error, moves, metres, success]."""
    area = areas.area(name)
    chain, length = area.chain(k), LENGTHS[k]
    words = areas.words(chain, length, walks)
    found = {key: _summary(area, mechanism.release(
        chain, Privacy(epsilon, k), words, crc32(f'{name} {k} {epsilon} {key}'.encode())))
        for key, mechanism in MECHANISMS.items()}
    before = walk_distribution(chain, length).max(axis=1).mean()
    return {'map': name, 'k': k, 'epsilon': epsilon,
            'floor': round(bound(chain, length, epsilon / k), 4), 'before': round(before, 4),
            'found': found}


def habit_row(name: str, epsilon: float, right: bool, walks: int) -> dict[str, Any]:
    """Return the error by mechanism where P has a habit, and the robot has it, too, or not."""
    area = areas.area(name)
    plain = area.chain(1)
    chain = areas.habit(plain)
    words = areas.words(chain if right else plain, LENGTHS[1], walks)
    found = {key: _summary(area, mechanism.release(chain, Privacy(epsilon), words, crc32(
        f'{name} {epsilon} {key} {right}'.encode())))[ERROR]
        for key, mechanism in MECHANISMS.items()}
    return {'map': name, 'epsilon': epsilon, 'right': right, 'found': found}


def _summary(area: areas.Area, release: Release) -> list[float | None]:
    words, outputs, errors, beliefs, exact = release
    if errors is None:
        errors = (words != outputs).mean(axis=1)
    found = averaged(errors)
    metres = None if area.metres is None else round(float(area.metres[words, outputs].mean()), 2)
    right = beliefs.max(axis=1) if exact else beliefs.argmax(axis=1) == words.T
    return [round(found.error, 4), round(found.standard_error, 4),
            round(float(area.moves[words, outputs].mean()), 3), metres,
            round(float(right.mean()), 4)]


def _exact(mechanism: OnlineMechanism | OfflineMechanism, words: ShortInts) -> Floats:
    """Return the expected error of each word."""
    found = mechanism.law.errors(words.T.astype(np.int64), variances=False)
    assert found is not None  # they are not simulated
    errors: Floats = found[0].mean(axis=0)
    return errors


def draw(numbers: dict[str, Any], folder: Path) -> None:
    """Draw the errors with their floor, and errors beside the adversary's success."""
    for name, of in (('comparison-words', None), ('comparison-adversary', SUCCESS)):
        figure, axes = panels(len(LENGTHS))
        for axis, k in zip(axes, LENGTHS, strict=True):
            for key, mechanism in MECHANISMS.items():
                errors = [mean(numbers, key, k, epsilon) for epsilon in EPSILONS]
                across = EPSILONS if of is None else [
                    mean(numbers, key, k, epsilon, of) for epsilon in EPSILONS]
                curve(axis, key, mechanism.label, zip(across, errors, strict=True))
            if of is None:
                no_less(axis, EPSILONS, [mean(numbers, 'floor', k, epsilon)
                                         for epsilon in EPSILONS], 'floor of live mechanisms')
                over_epsilon(axis, EPSILONS)
            else:
                axis.set_xlabel('success of the adversary (right: less private)', color=INK)
                in_percent(axis.xaxis)
            axis.set_title(f'{"one symbol" if k == 1 else f"a visit of {k} symbols"} (k = {k})',
                           fontsize=10.5, color=INK)
            axis.set_ylim(0, 1)
            in_percent(axis.yaxis)
        axes[0].set_ylabel('wrong symbols', color=INK)
        save_with_legend(figure, folder / f'{name}.svg')


# What the page is made of.

def mean(numbers: dict[str, Any], key: str, k: int, epsilon: float | None = None,
         of: int = ERROR) -> float:
    """Return the mean over all maps of a number of a mechanism, of 'floor' or 'before'."""
    at = k, AT[k] if epsilon is None else epsilon
    return float(np.mean([row['found'][key][of] if key in MECHANISMS else row[key]
                          for row in numbers['rows'] if (row['k'], row['epsilon']) == at]))


def success(numbers: dict[str, Any], key: str, k: int, epsilon: float | None = None) -> float:
    """Return how often the adversary is right, the mean over all maps."""
    return mean(numbers, key, k, epsilon, SUCCESS)


def wrong(numbers: dict[str, Any], key: str, right: bool = False) -> float:
    """Return the error where P has a habit that the robot has not."""
    return float(np.mean([row['found'][key] for row in numbers['habits']
                          if (row['epsilon'], row['right']) == (AT[1], right)]))


def error_at(numbers: dict[str, Any], key: str, k: int, share: float) -> float:
    """Return the error where the curve of a mechanism has this success; NaN: nowhere."""
    x, y = zip(*sorted((success(numbers, key, k, epsilon), mean(numbers, key, k, epsilon))
                       for epsilon in EPSILONS), strict=True)
    return float(np.interp(share, x, y, np.nan, np.nan))


def best_other(numbers: dict[str, Any]) -> str:
    """Return that of others which errs least on visits."""
    return min(OTHERS, key=lambda key: mean(numbers, key, 30))


def spread(rows: list[dict[str, Any]]) -> list[float]:
    """Return all standard errors."""
    return [found[STANDARD_ERROR] for row in rows for found in row['found'].values()]


def spelled(lengths: dict[str, int]) -> str:
    """Return the lengths of words in a sentence."""
    return ', '.join(f'{length} symbols for k = {k}' for k, length in lengths.items())


def means(numbers: dict[str, Any]) -> str:
    """Return a table of errors and successes of the adversary, means over all maps."""
    cells = [(k, epsilon) for k, shown in _SHOWN.items() for epsilon in shown]
    return table(('', *(f'k = {k}, ε = {epsilon:g}' for k, epsilon in cells)), [
        *((label, *(f'{mean(numbers, key, *at):.3f}, {success(numbers, key, *at):.0%}'
                    for at in cells)) for key, label in _LABELS.items()),
        ('*floor (k > 1: at equal spending)*',
         *(f'{mean(numbers, "floor", *at):.3f}' for at in cells)),
        ('*without any output*', *(f'{mean(numbers, "before", *at):.0%}' for at in cells))])


def lost(numbers: dict[str, Any], what: str, others: tuple[str, ...],
         ours: tuple[str, ...]) -> str:
    """Say where a mechanism of others errs less than ours."""
    gaps = []
    for row in numbers['rows']:
        errors = {key: found[ERROR] for key, found in row['found'].items()}
        other, own = (min(keys, key=errors.__getitem__) for keys in (others, ours))
        gaps.append((errors[own] - errors[other], row, other, own))
    lost = [gap for gap in gaps if gap[0] > 0]
    text = (f'**{what}**: in {len(lost)} of {len(gaps)} cases (map, k, ε), the best of the '
            f'others ({"; ".join(MECHANISMS[key].label for key in others)}) errs less than '
            'the best of ours.')
    if lost:
        _, row, *keys = max(lost, key=lambda gap: gap[0])
        text += (f' The largest loss: on {row["map"]}, at k = {row["k"]} and '
                 f'ε = {row["epsilon"]:g}, ' + ', '.join(
                     f'{MECHANISMS[key].label}{" errs" * (key == keys[0])} '
                     f'{row["found"][key][ERROR]:.3f}' for key in keys) + '.')
    return text


def each_alone(numbers: dict[str, Any]) -> str:
    """Return in how many cases each of ours alone errs more."""
    def cell(key: str, others: tuple[str, ...], k: int) -> str:
        rows = [row['found'] for row in numbers['rows'] if row['k'] == k]
        lost = sum(found[key][ERROR] > min(found[other][ERROR] for other in others) + 5e-5
                   for found in rows)
        return f'{lost} of {len(rows)}' if MECHANISMS[key].live or others == OTHERS else '–'

    return table(('', *(f'{where}, k = {k}' for where in ('live', 'logs') for k in LENGTHS)), [
        (MECHANISMS[key].label, *(cell(key, others, k) for others in (('paper',), OTHERS)
                                  for k in LENGTHS)) for key in OURS])


def lost_at_equal(numbers: dict[str, Any]) -> str:
    """Say where others err less than ours at equal success of the adversary."""
    lines = []
    for k, some in _SUCCESSES.items():
        for share in some:
            found = [[(error, key) for key in keys
                      if (error := error_at(numbers, key, k, share)) < 1]
                     for keys in (OTHERS, OURS)]
            if all(found) and min(found[0])[0] < min(found[1])[0]:
                lines.append(f'k = {k}, {share:.0%}: ' + ', '.join(
                    f'{MECHANISMS[key].label} {error:.3f}' for error, key in map(min, found)))
    return '; '.join(lines) or 'none of the successes of the table'


def equal(numbers: dict[str, Any]) -> str:
    """Return the table of errors at equal success of the adversary."""
    cells = [(k, share) for k, some in _SUCCESSES.items() for share in some]
    return table(('', *(f'k = {k}, {share:.0%}' for k, share in cells)), [
        (label, *(f'{error_at(numbers, key, *cell):.3f}'.replace('nan', '–') for cell in cells))
        for key, label in _LABELS.items()])


def habits_table(numbers: dict[str, Any]) -> str:
    """Return the table of errors with a P that is right, and wrong."""
    return table(('', 'right', 'wrong'), [
        (label, *(f'{wrong(numbers, key, right):.3f}' for right in (True, False)))
        for key, label in _LABELS.items()])
