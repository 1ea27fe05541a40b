# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Same unit (word, Hamming, k): errors, distances and the adversary's success, on every map."""
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from studies.compare import areas, matching
from studies.compare.adversary import by_channel, posteriors
from studies.compare.floor import floor
from studies.compare.section import measure_all, table, template
from studies.gains import HABIT, habit
from studies.permute_and_flip import PermuteAndFlip
from symdp_ros.analysis.adversary import moves_of, outputs_and_beliefs, walk_distribution
from symdp_ros.core.annotations import Floats, ShortInts
from symdp_ros.core.chain import Chain
from symdp_ros.core.offline import OfflineMechanism
from symdp_ros.core.online import OnlineMechanism
from symdp_ros.core.privacy import Privacy

TITLE = 'The same unit: words, Hamming distance, k'
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

    return posteriors(chain, length, words, likelihood)


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


def measure(quick: bool) -> dict[str, Any]:
    """Return all rows: for each map, k and ε, what each mechanism does."""
    walks = 20 if quick else 100
    names = areas.names()
    if quick:
        names = ['nav2/route_turtlebot3_graph.geojson', 'patrolling_sim/cumberland.graph',
                 areas.SPARSE]
    tasks = [(name, k, epsilon, walks) for name in names for k in LENGTHS
             for epsilon in (EPSILONS[1::2] if quick else EPSILONS)]
    return {'walks': walks, 'counted': min(walks, COUNTED), 'lengths': LENGTHS,
            'maps': {name: [len(areas.area(name).chain(1)), areas.area(name).chain(1).edge_count]
                     for name in names},
            'rows': measure_all('words', quick, row, tasks),
            'habit_walks': min(walks, HABIT_WALKS),
            'habits': measure_all('words-habits', quick, habit_row, [
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
            'floor': round(floor(chain, length, epsilon / k), 4), 'before': round(before, 4),
            'found': found}


def habit_row(name: str, epsilon: float, right: bool, walks: int) -> dict[str, Any]:
    """Return the error by mechanism where P has a habit, and the robot has it, too, or not."""
    area = areas.area(name)
    plain = area.chain(1)
    chain = habit(plain)
    words = areas.words(chain if right else plain, LENGTHS[1], walks)
    found = {key: _summary(area, mechanism.release(chain, Privacy(epsilon), words, crc32(
        f'{name} {epsilon} {key} {right}'.encode())))[ERROR]
        for key, mechanism in MECHANISMS.items()}
    return {'map': name, 'epsilon': epsilon, 'right': right, 'found': found}


def _summary(area: areas.Area, release: Release) -> list[float | None]:
    words, outputs, errors, beliefs, exact = release
    if errors is None:
        errors = (words != outputs).mean(axis=1)
    moves = area.moves[words, outputs].mean()
    metres = None if area.metres is None else float(area.metres[words, outputs].mean())
    if exact:
        success = beliefs.max(axis=1).mean()
    else:
        success = (beliefs.argmax(axis=1) == words.T).mean()
    uncertainty = float(errors.std(ddof=1)) / sqrt(len(errors))
    return [round(float(errors.mean()), 4), round(uncertainty, 4),
            round(float(moves), 3), metres if metres is None else round(metres, 2),
            round(float(success), 4)]


def _exact(mechanism: OnlineMechanism | OfflineMechanism, words: ShortInts) -> Floats:
    """Return the expected error of each word."""
    found = mechanism.law.errors(words.T.astype(np.int64), variances=False)
    assert found is not None  # they are not simulated
    errors: Floats = found[0].mean(axis=0)
    return errors


def draw(numbers: dict[str, Any], folder: Path) -> None:
    """Draw the errors with their floor, and errors beside the adversary's success."""
    from studies.compare.figures import curve, in_percent, INK, over_epsilon, panels, save

    epsilons = sorted({row['epsilon'] for row in numbers['rows']})
    for name, of in (('comparison-words', None), ('comparison-adversary', SUCCESS)):
        figure, axes = panels(len(LENGTHS))
        for axis, k in zip(axes, LENGTHS, strict=True):
            for key, mechanism in MECHANISMS.items():
                errors = [mean(numbers, key, k, epsilon) for epsilon in epsilons]
                across = epsilons if of is None else [
                    mean(numbers, key, k, epsilon, of) for epsilon in epsilons]
                curve(axis, key, mechanism.label, zip(across, errors, strict=True))
            if of is None:
                floors = [_floor(numbers, k, epsilon) for epsilon in epsilons]
                axis.plot(epsilons, floors, color='black', lw=2, label='floor of live mechanisms')
                axis.fill_between(epsilons, floors, color='black', alpha=0.07, lw=0)
                over_epsilon(axis, epsilons)
            else:
                axis.set_xlabel('success of the adversary (right: less private)', color=INK)
                in_percent(axis.xaxis)
            axis.set_title(f'{"one symbol" if k == 1 else f"a visit of {k} symbols"} (k = {k})',
                           fontsize=10.5, color=INK)
            axis.set_ylim(0, 1)
            in_percent(axis.yaxis)
        axes[0].set_ylabel('wrong symbols', color=INK)
        save(figure, folder / f'{name}.svg')


def mean(numbers: dict[str, Any], key: str, k: int, epsilon: float, of: int = 0) -> float:
    """Return the mean over all maps of one number of a mechanism."""
    return float(np.mean([row['found'][key][of] for row in _rows(numbers, k, epsilon)
                          if row['found'][key][of] is not None]))


def _floor(numbers: dict[str, Any], k: int, epsilon: float) -> float:
    return float(np.mean([row['floor'] for row in _rows(numbers, k, epsilon)]))


def _before(numbers: dict[str, Any], k: int, epsilon: float) -> float:
    return float(np.mean([row['before'] for row in _rows(numbers, k, epsilon)]))


def _rows(numbers: dict[str, Any], k: int, epsilon: float) -> list[dict[str, Any]]:
    return [row for row in numbers['rows'] if (row['k'], row['epsilon']) == (k, epsilon)]


_AT = {1: 2.0, 10: 4.0, 30: 8.0}  # the ε of tables of one ε, by k
_SHOWN = {1: (1.0, 2.0, 4.0), 10: (2.0, 8.0), 30: (2.0, 8.0)}  # ε of the table of means, by k
_NOT_SHOWN = 'nearest', 'decoded'  # in tables: each is close to another row
_SUCCESSES = {1: (0.3, 0.5, 0.8), 10: (0.3, 0.45), 30: (0.4,)}  # by k
_OTHERS = tuple(key for key, mechanism in MECHANISMS.items() if not mechanism.ours)
_OURS = tuple(key for key, mechanism in MECHANISMS.items() if mechanism.ours)


def page(numbers: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    rows, counted = numbers['rows'], numbers['counted']
    spread = [found[STANDARD_ERROR] for row in rows for found in row['found'].values()]
    lengths = ', '.join(f'{length} symbols for k = {k}'
                        for k, length in numbers['lengths'].items())
    return template(__file__).format(
        walks=numbers['walks'], counted=counted, maps=len(numbers['maps']), lengths=lengths,
        most_error=max(spread), usual_error=float(np.median(spread)), means=_means(numbers),
        losses=_losses(numbers), equal=_equal(numbers), adversary=_adversary(numbers),
        habit=HABIT, habit_walks=numbers['habit_walks'],
        habit_epsilon=_habit_epsilon(numbers), habits=_habits(numbers))


def short(numbers: dict[str, Any]) -> str:
    """Return the answer in a few sentences."""
    one, visit = _at(numbers, 1), _at(numbers, 30)
    best = min((key for key in _OTHERS), key=lambda key: mean(numbers, key, 30, visit))
    line = [_error_at(numbers, key, 1, 0.5) for key in ('adaptive', 'paper')]
    equal = '' if None in line else (
        f' (at a success of 50 %, adaptive errs {line[0]:.3f}, the paper {line[1]:.3f})')
    epsilon = _habit_epsilon(numbers)
    wrong = [_habit_error(numbers, key, epsilon, False) for key in ('chain', 'counting')]
    return (
        f'**At the same ε and unit, ours err less.** Live, k = 1, ε = {one:g}: adaptive errs on '
        f'{mean(numbers, "adaptive", 1, one):.1%} of the symbols, the online mechanism of the '
        f'paper on {mean(numbers, "paper", 1, one):.1%}, and no live mechanism on less than '
        f'{_floor(numbers, 1, one):.1%}. On logs with visits of 30 symbols, ε = {visit:g}: '
        f'exponential, base: chain errs on {mean(numbers, "chain", 30, visit):.1%}, the best of '
        f'the others ({MECHANISMS[best].label}) on {mean(numbers, best, 30, visit):.1%}.\n'
        f'- **Fewer errors help the adversary, too.** At k = 1, where an adversary who knows '
        f'everything but the route is right equally often, ours err no less{equal}.\n'
        f'- **What wrong probabilities cost.** P are the probabilities of the moves. Where the '
        f'robot has none of the habits in P, base: chain errs on {wrong[0]:.1%} (k = 1, '
        f'ε = {epsilon:g}), counting words on {wrong[1]:.1%}.')


def _epsilons(numbers: dict[str, Any]) -> list[float]:
    return sorted({row['epsilon'] for row in numbers['rows']})


def _at(numbers: dict[str, Any], k: int) -> float:
    """Return the measured ε that is nearest to that of the tables."""
    return min(_epsilons(numbers), key=lambda epsilon: abs(epsilon - _AT[k]))


def _shown() -> list[tuple[str, Mechanism]]:
    return [(key, mechanism) for key, mechanism in MECHANISMS.items() if key not in _NOT_SHOWN]


def _means(numbers: dict[str, Any]) -> str:
    """Return a table of errors and successes of the adversary, means over all maps."""
    measured = _epsilons(numbers)
    cells = [(k, epsilon) for k, shown in _SHOWN.items() for epsilon in shown
             if epsilon in measured]
    lines = [(m.label, *(f'{mean(numbers, key, *at):.3f}, {mean(numbers, key, *at, SUCCESS):.0%}'
                         for at in cells))
             for key, m in _shown()]
    lines.append(('*floor (k > 1: at equal spending)*', *(
        f'{_floor(numbers, *at):.3f}' for at in cells)))
    lines.append(('*without any output*', *(f'{_before(numbers, *at):.0%}' for at in cells)))
    return table(('', *(f'k = {k}, ε = {epsilon:g}' for k, epsilon in cells)), lines)


def _losses(numbers: dict[str, Any]) -> str:
    """Say where a mechanism of others errs less than ours, live and on logs."""
    parts = []
    for what, others, ours in (
            ('Live', ('paper',), ('guided', 'adaptive')),
            ('On logs', _OTHERS, _OURS)):
        gaps = []
        for row in numbers['rows']:
            found = row['found']
            other = min(others, key=lambda key: found[key][ERROR])
            own = min(ours, key=lambda key: found[key][ERROR])
            gaps.append((found[own][ERROR] - found[other][ERROR], row, other, own))
        lost = sorted((gap for gap in gaps if gap[0] > 0), key=lambda gap: -gap[0])
        text = (f'**{what}**: in {len(lost)} of {len(gaps)} cases (map, k, ε), the best of the '
                f'others ({"; ".join(MECHANISMS[key].label for key in others)}) errs less than '
                'the best of ours.')
        if lost:
            gap, row, other, own = lost[0]
            text += (f' The largest loss: on {row["map"]}, at k = {row["k"]} and '
                     f'ε = {row["epsilon"]:g}, {MECHANISMS[other].label} errs '
                     f'{row["found"][other][ERROR]:.3f}, {MECHANISMS[own].label} '
                     f'{row["found"][own][ERROR]:.3f}.')
        parts.append(text)
    parts.append(_each_alone(numbers))
    parts.append(_lost_at_equal(numbers))
    parts.append(_lost_by_habit(numbers))
    return '\n\n'.join(parts)


def _each_alone(numbers: dict[str, Any]) -> str:
    """Return in how many cases each of ours alone errs more."""
    lines = []
    for key in _OURS:
        cells = []
        for others in (('paper',), _OTHERS):
            for k in LENGTHS:
                rows = [row['found'] for row in numbers['rows'] if row['k'] == k]
                lost = sum(found[key][ERROR] > min(found[other][ERROR] for other in others) + 5e-5
                           for found in rows)
                live = MECHANISMS[key].live or others == _OTHERS
                cells.append(f'{lost} of {len(rows)}' if live else '–')
        lines.append((MECHANISMS[key].label, *cells))
    return ('In how many cases (map, ε) each of ours alone errs more than the online mechanism of '
            'the paper (live), and more than the best of all five others (on logs):\n\n' + table(
                ('', *(f'{where}, k = {k}' for where in ('live', 'logs') for k in LENGTHS)),
                lines))


def _lost_by_habit(numbers: dict[str, Any]) -> str:
    """Say what base: chain and adaptive lose by a wrong P."""
    epsilon = _habit_epsilon(numbers)
    chain, counting, adaptive, guided = (
        _habit_error(numbers, key, epsilon, False)
        for key in ('chain', 'counting', 'adaptive', 'guided'))
    return (f'**With a wrong P** (below), k = 1, ε = {epsilon:g}: exponential, base: chain errs '
            f'{chain:.3f}, counting {counting:.3f}; adaptive {adaptive:.3f}, guided {guided:.3f}.')


def _habit_epsilon(numbers: dict[str, Any]) -> float:
    return min((row['epsilon'] for row in numbers['habits']), key=lambda value: abs(value - 2))


def _habit_error(numbers: dict[str, Any], key: str, epsilon: float, right: bool) -> float:
    return float(np.mean([row['found'][key] for row in numbers['habits']
                          if (row['epsilon'], row['right']) == (epsilon, right)]))


def _lost_at_equal(numbers: dict[str, Any]) -> str:
    """Say where others err less than ours at equal success of the adversary."""
    lines = []
    for k, some in _SUCCESSES.items():
        for success in some:
            best = []
            for keys in (_OTHERS, _OURS):
                found = {key: error for key in keys
                         if (error := _error_at(numbers, key, k, success)) is not None}
                best.append(min(found.items(), key=lambda item: item[1], default=None))
            other, own = best
            if other and own and other[1] < own[1]:
                lines.append(f'k = {k}, {success:.0%}: {MECHANISMS[other[0]].label} '
                             f'{other[1]:.3f}, {MECHANISMS[own[0]].label} {own[1]:.3f}')
    guided, paper = (_error_at(numbers, key, 1, 0.5) for key in ('guided', 'paper'))
    text = '**At equal success of the adversary** (below), ours are no better where k = 1'
    if guided is not None and paper is not None:
        text += (f': at 50 % guided errs {guided:.3f}, the online mechanism of the paper '
                 f'{paper:.3f}')
    return text + '. The best of the others errs less than the best of ours at ' + (
        '; '.join(lines) + '.' if lines else 'none of the successes of the table.')


def _adversary(numbers: dict[str, Any]) -> str:
    """Say how much of the gain in errors is the adversary's gain, too."""
    epsilon = _at(numbers, 1)
    paper, best = ((mean(numbers, key, 1, epsilon), mean(numbers, key, 1, epsilon, SUCCESS))
                   for key in ('paper', 'adaptive'))
    visit = _at(numbers, 30)
    chain, old, adaptive = (
        (mean(numbers, key, 30, visit), mean(numbers, key, 30, visit, SUCCESS))
        for key in ('chain', 'paper', 'adaptive'))
    return f"""\
**This adversary gains from fewer errors, too.** At k = 1 all mechanisms lie nearly on one line: at
ε = {epsilon:g}, adaptive errs {best[0]:.3f} and the online mechanism of the paper {paper[0]:.3f},
and the adversary is right {best[1]:.0%} and {paper[1]:.0%} of the time. At k = 30, ε = {visit:g},
exponential, base: chain errs {chain[0]:.3f} against {old[0]:.3f}, and the adversary is right
{chain[1]:.0%} against {old[1]:.0%} of the time. A better mechanism makes full use of ε: if
the adversary should know less, choose a smaller ε. What a mechanism takes from P alone costs no
privacy: there, adaptive errs {adaptive[0]:.3f}, and the adversary is right {adaptive[1]:.0%} of
the time."""


def _equal(numbers: dict[str, Any]) -> str:
    cells = [(k, success) for k, some in _SUCCESSES.items() for success in some]
    lines = []
    for key, mechanism in _shown():
        errors = [_error_at(numbers, key, *cell) for cell in cells]
        lines.append((mechanism.label, *('–' if error is None else f'{error:.3f}'
                                         for error in errors)))
    return table(('', *(f'k = {k}, {success:.0%}' for k, success in cells)), lines)


def _error_at(numbers: dict[str, Any], key: str, k: int, success: float) -> float | None:
    """Return the error where the curve of a mechanism has this success, or None."""
    x, y = zip(*sorted((mean(numbers, key, k, epsilon, SUCCESS), mean(numbers, key, k, epsilon))
                       for epsilon in _epsilons(numbers)), strict=True)
    return float(np.interp(success, x, y)) if x[0] <= success <= x[-1] else None


def _habits(numbers: dict[str, Any]) -> str:
    epsilon = _habit_epsilon(numbers)
    lines = [(mechanism.label, *(f'{_habit_error(numbers, key, epsilon, right):.3f}'
                                 for right in (True, False)))
             for key, mechanism in _shown()]
    return table(('', 'right', 'wrong'), lines)
