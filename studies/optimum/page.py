# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/evidence/optimum.md and its picture, whose numbers all come from optimum.json."""
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from studies.compare import words
from studies.compare.section import table, template
from studies.optimum import maps, tiny, windows

#: What knows as much: reports at once, one symbol later, with the whole word.
KNOWS = {0: 'at once', 1: 'one symbol later', None: 'the whole word'}
LABELS = {'adaptive': 'adaptive', 'paper': 'online (the paper)', 'guided': 'guided',
          'exponential': 'exponential, base: chain',
          'counting': 'exponential, counting (the paper)', 'flip': 'permute-and-flip',
          'slow clock': 'slow clock', 'watch': 'watching for a change'}
LOOKS = {'exponential': 'chain'}  # of `studies.compare.figures`, where it has another name
#: What the optimum of three states in a row may be exceeded by: ε, delay → ratio.
GOALS = {(2.0, 1): 1.2, (3.0, 1): 1.2, (2.0, None): 1.3, (3.0, None): 1.3}

# What the tables show.
_ONE_SHOWN, _LEFT_OUT = (1.0, 2.0, 3.0, 5.0), ('guided',)  # ε; close to `paper`
_TWO_SHOWN, _WINDOW_SHOWN = 3.0, 4.0
_MEANS_SHOWN = {1: (1.0, 2.0, 3.0), 10: (2.0, 8.0), 30: (2.0, 8.0)}


def page(numbers: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    solved, charted = numbers['tiny'], numbers['maps']
    alike = next(row for row in solved if row['chain'] == tiny.ALIKE)
    lengths = sorted({row['n'] for row in solved})
    return template(__file__).format(
        minutes=numbers['minutes'], short=_short(numbers), maps=len(_names(charted)),
        lengths=f'{lengths[0]} to {lengths[-1]}',
        gap=_gap(solved),
        usual_gap=_gap(row for row in solved if row['epsilon'] <= 4), ones=_ones(solved),
        goals=_goals(solved), learned=_learned(solved), twos=_twos(solved),
        window=tiny.WINDOW, windows=_windows(solved), watching=_watching(solved),
        visit=windows.VISIT, rates=_rates(numbers['rates']), worth=_worth(numbers['rates']),
        alike=alike['optimum'], alike_floor=numbers['alike'][0],
        alike_bound=numbers['alike'][1], loose=_loose(numbers),
        walks=maps.WALKS, delay=maps.DELAY, map_lengths=', '.join(
            f'{length} symbols for k = {k}' for k, length in words.LENGTHS.items()),
        stored=', '.join(f'{e:g}' for e in words.EPSILONS), means=_means(charted),
        shown_two=_TWO_SHOWN, shown_window=_WINDOW_SHOWN)


def pick(rows: Iterable[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    """Return the one row with these values."""
    [found] = (row for row in rows if all(row[key] == value for key, value in wanted.items()))
    return found


def _gap(rows: Iterable[dict[str, Any]]) -> float:
    return max(round(row['optimum'] - row['proved'], tiny.DECIMALS) for row in rows)


def _ones(solved: list[dict[str, Any]]) -> str:
    """Return the table of k = 1 on three states: what each mechanism errs."""
    rows = [row for row in solved if (row['chain'], row['n'], row['k']) == (tiny.THREE, 4, 1)]
    lines = []
    for delay, knows in KNOWS.items():
        at = [pick(rows, epsilon=epsilon, delay=delay) for epsilon in _ONE_SHOWN]
        lines.append((f'*optimum, {knows}*', *(f'{row["optimum"]:.4f}' for row in at)))
        lines += [(LABELS[key], *(f'{row["found"][key]:.4f} ({_ratio(row, key):.2f})'
                                  for row in at))
                  for key in at[0]['found'] if key not in _LEFT_OUT]
    return table((f'{tiny.THREE}, n = 4', *(f'ε = {e:g}' for e in _ONE_SHOWN)), lines)


def _ratio(row: dict[str, Any], key: str) -> float:
    return float(row['found'][key] / row['optimum'])


def _least(row: dict[str, Any]) -> str:
    return min(row['found'], key=lambda key: row['found'][key])


def _goals(solved: list[dict[str, Any]]) -> str:
    parts = []
    for (epsilon, delay), goal in GOALS.items():
        row = pick(solved, chain=tiny.THREE, n=4, epsilon=epsilon, k=1, delay=delay)
        ratio = _ratio(row, _least(row))
        parts.append(f'{ratio:.3f} at ε = {epsilon:g}, {KNOWS[delay]} (≤ {goal}'
                     f'{"" if ratio <= goal else ", **not met**"})')
    return f'The goals were ratios of the best of ours: {"; ".join(parts)}.'


def _learned(solved: list[dict[str, Any]]) -> str:
    """Say what a symbol of delay is worth, and where ours lose the most."""
    worst = max((row for row in solved if row['k'] == 1), key=lambda row: _ratio(row, _least(row)))
    rows = {delay: pick(solved, chain=tiny.THREE, n=4, epsilon=3.0, k=1, delay=delay)
            for delay in KNOWS}
    gain, all_of_it = (1 - rows[delay]['optimum'] / rows[0]['optimum'] for delay in (1, None))
    return (
        f'One symbol of delay is worth {gain:.0%} of all errors for the best mechanism on the '
        f'three states at ε = 3, and the whole word {all_of_it:.0%}: nearly all is gained by the '
        f'first symbol. The best of ours is farthest from its optimum on {worst["chain"]}, n = '
        f'{worst["n"]}, ε = {worst["epsilon"]:g}, {KNOWS[worst["delay"]]}: a ratio of '
        f'{_ratio(worst, _least(worst)):.2f}.')


def _loose(numbers: dict[str, Any]) -> str:
    """Say how far the bound by one symbol is below the optimum, where that is known."""
    parts = []
    for (delay, knows), found in zip(KNOWS.items(), numbers['three'], strict=True):
        row = pick(numbers['tiny'], chain=tiny.THREE, n=4, epsilon=2.0, k=1, delay=delay)
        parts.append(f'{found:.3f} {knows} (optimum: {row["optimum"]:.3f})')
    return f'On three states in a row, n = 4, ε = 2, it says {"; ".join(parts)}.'


def _twos(solved: list[dict[str, Any]]) -> str:
    lines = []
    for row in solved:
        if (row['k'], row['epsilon'], row['in_a_row'], row['chain']) == (
                2, _TWO_SHOWN, True, tiny.THREE):
            key = {name: row[name] for name in ('chain', 'n', 'epsilon', 'k', 'delay')}
            anywhere, best = pick(solved, in_a_row=False, **key), _least(row)
            lines.append((KNOWS[row['delay']],
                          f'{anywhere["optimum"]:.4f}', f'{row["optimum"]:.4f}',
                          f'{row["found"][best]:.4f} ({LABELS[best]})',
                          f'{_ratio(row, best):.2f}'))
    return table(('known', 'optimum, anywhere', 'optimum, in a row', 'best of ours',
                  'ratio'), lines)


def _windows(solved: list[dict[str, Any]]) -> str:
    lines = []
    for row in solved:
        if (row['k'], row['epsilon']) == (tiny.WINDOW, _WINDOW_SHOWN) and row['in_a_row']:
            first, span = row['watched']
            lines.append((
                row['chain'], KNOWS[row['delay']], f'{row["optimum"]:.4f}', *(
                    f'{row["found"][key]:.4f} ({_ratio(row, key):.2f})'
                    for key in ('adaptive', 'slow clock', 'watch')), f'{first}, {span}'))
    return table(('chain', 'known', 'optimum', f'adaptive, k = {tiny.WINDOW}', 'slow clock',
                  'watching', 'first tick, L'), lines)


def _watching(solved: list[dict[str, Any]]) -> str:
    """Say what watching gains."""
    rows = [row for row in solved if row['k'] == tiny.WINDOW and row['in_a_row']]
    parts = []
    for name in dict.fromkeys(row['chain'] for row in rows):
        saved = [(1 - row['found']['watch'] / row['found']['slow clock'], row) for row in rows
                 if row['chain'] == name]
        (least, low), (most, high) = (end(saved, key=lambda pair: pair[0]) for end in (min, max))
        parts.append(f'on {name}, {least:.0%} (ε = {low["epsilon"]:g}, {KNOWS[low["delay"]]}) to '
                     f'{most:.0%} (ε = {high["epsilon"]:g}, {KNOWS[high["delay"]]})')
    far = max(rows, key=lambda row: _ratio(row, 'watch'))
    return (f'Of the errors of the slow clock, watching saves {"; ".join(parts)}. It is at most '
            f'{_ratio(far, "watch"):.2f} times the optimum. (Where L = 6 it watches the whole '
            'word: words of 6 ticks are too short to say what it gains in the long run, where '
            'the blind ticks count.)')


def _rates(found: list[dict[str, Any]]) -> str:
    lines = []
    for name, stays in dict.fromkeys((row['map'], row['stays']) for row in found
                                     if row['stays'] == windows.STAYS[0]):
        at = [row for row in found if (row['map'], row['stays']) == (name, stays)]
        lines.append((name, f'{stays} s', *(
            f'{row["rates"][0]:.3f}, {row["rates"][1]:.3f}' for row in at)))
    return table(('map', 'stays', *(f'ε = {epsilon:g}' for epsilon in windows.EPSILONS)), lines)


def _clock_until(found: list[dict[str, Any]]) -> float:
    """Return the largest ε at which the slow clock tells more on every map."""
    return float(max(epsilon for epsilon in windows.EPSILONS if all(
        row['rates'][1] < row['rates'][0] for row in found if row['epsilon'] == epsilon)))


def _worth(found: list[dict[str, Any]]) -> str:
    """Say at which ε watching tells less than the clock on real maps, and from which on more."""
    ratios = {epsilon: [row['rates'][1] / row['rates'][0] for row in found
                        if row['epsilon'] == epsilon] for epsilon in windows.EPSILONS}
    less = _clock_until(found)
    more = min(epsilon for epsilon, found in ratios.items() if min(found) > 1)
    return (f'Up to ε = {less:g} watching tells less than the slow clock ({min(ratios[less]):.2f} '
            f'to {max(ratios[less]):.2f} of it at ε = {less:g}), and more from ε = {more:g} on')


def _names(charted: list[dict[str, Any]]) -> list[str]:
    return [*dict.fromkeys(row['map'] for row in charted)]


def _mean(charted: list[dict[str, Any]], k: int, epsilon: float) -> list[tuple[float, float]]:
    """Return bound and error, at once, later and on logs: means over all maps."""
    rows = [row for row in charted if (row['k'], row['epsilon']) == (k, epsilon)]
    return [(float(np.mean([row['bounds'][i] for row in rows])),
             float(np.mean([row['found'][i][1] for row in rows]))) for i in range(3)]


def _means(charted: list[dict[str, Any]]) -> str:
    lines = [(f'k = {k}, ε = {epsilon:g}', *(f'{number:.3f}' for pair in _mean(
        charted, k, epsilon) for number in pair))
        for k, shown in _MEANS_SHOWN.items() for epsilon in shown]
    return table(('', *(head for when in ('at once', f'{maps.DELAY} later', 'logs')
                        for head in (f'bound, {when}', f'ours, {when}'))), lines)


def _short(numbers: dict[str, Any]) -> str:
    """Return the answers in a few sentences."""
    solved, charted = numbers['tiny'], numbers['maps']
    ratios = {}
    for delay in KNOWS:
        found = [_ratio(row, _least(row)) for row in solved if row['k'] == 1 and (
            row['delay'] == delay and row['epsilon'] in (2.0, 3.0) and row['n'] in (4, 6))]
        ratios[delay] = f'{min(found):.2f} to {max(found):.2f}'
    live, later, logs = _mean(charted, 1, 2.0)
    watched = pick(solved, chain=tiny.TWO, n=6, epsilon=4.0, k=tiny.WINDOW, delay=0)
    return f"""\
- **On tiny chains**, where the optimum is known, the best of ours errs {ratios[0]} times as much
  as the optimum at once, {ratios[1]} times one symbol later, and {ratios[None]} times with the
  whole word (ε = 2 and 3, k = 1, the longer words).
- **On real maps** we know a bound only. ε = 2, k = 1: at once no mechanism errs less than
  {live[0]:.3f}, and ours errs {live[1]:.3f}; {maps.DELAY} symbols later {later[0]:.3f} and
  {later[1]:.3f}; on logs {logs[0]:.3f} and {logs[1]:.3f}.
- **For visits** there is more to gain: on two states, ε = 4, a slow clock errs
  {watched['found']['slow clock']:.3f}, the optimum {watched['optimum']:.3f}, and a mechanism that
  watches for a change, proved private below, {watched['found']['watch']:.3f}. On real maps, with
  visits of 30 s, it tells less than a slow clock up to
  ε = {_clock_until(numbers['rates']):g}."""


def draw(numbers: dict[str, Any], folder: Path) -> None:
    """Draw the errors on three states in a row, and the means over all maps."""
    from matplotlib.axes import Axes
    from studies.compare.figures import curve, in_percent, INK, over_epsilon, panels, save

    def end(axis: Axes, title: str, epsilons: list[float], least: list[float]) -> None:
        axis.plot(epsilons, least, color='black', lw=2, label='no mechanism errs less')
        axis.fill_between(epsilons, least, color='black', alpha=0.07, lw=0)
        axis.set_title(title, fontsize=10.5, color=INK)
        over_epsilon(axis, epsilons)
        in_percent(axis.yaxis)

    figure, axes = panels(3, 'row', rows=2)
    rows = [row for row in numbers['tiny'] if (row['chain'], row['n'], row['k']) == (
        tiny.THREE, 4, 1)]
    epsilons = sorted({row['epsilon'] for row in rows})
    for axis, (delay, knows) in zip(axes, KNOWS.items(), strict=False):
        at = [pick(rows, epsilon=epsilon, delay=delay) for epsilon in epsilons]
        for key in at[0]['found']:
            curve(axis, LOOKS.get(key, key), LABELS[key],
                  [(row['epsilon'], row['found'][key]) for row in at])
        end(axis, f'three states in a row, {knows}', epsilons, [row['optimum'] for row in at])
    means = {epsilon: _mean(numbers['maps'], 1, epsilon) for epsilon in maps.EPSILONS}
    for i, (axis, when) in enumerate(zip(axes[3:], (
            'at once', f'{maps.DELAY} symbols later', 'logs'), strict=True)):
        axis.plot([*means], [pair[i][1] for pair in means.values()], color='#3d2466', marker='v',
                  ms=5, lw=1.6, mec='white', mew=0.6, label='the best of ours on each map')
        end(axis, f'all maps, {when}', [*means], [pair[i][0] for pair in means.values()])
    for axis in (axes[0], axes[3]):  # each is the scale of its row
        axis.set_ylabel('wrong symbols', color=INK)
        axis.set_ylim(0)
    save(figure, folder / 'optimum.svg')
