# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of the experiments."""
from matplotlib.lines import Line2D
import numpy as np
from studies.drawing import finish, INK, new_figure, save
from studies.paper.town import crossing, drive, ends, RIVER, ROUTE, STARTS, STREETS

_RIGHT, _WRONG, _TRUTH, _INK = '#1b6ca8', '#d1495b', '#f7d98b', INK
_LOOKS = {  # of a mechanism: its name, colour, line, mark and size
    'paper': ("paper's policy", '#1b6ca8', '-', 'o', 6),
    'guided': ('guided', '#2a9d54', '-', 's', 5),
    'exponential': ('exponential', '#6b4fa1', '-', 'o', 9),
}
_WORDS_FOR = {'start': 'the start of the route', 'detour': 'the detour',
              'far away': 'a street across the river'}

_ASIDE = 0.2  # of a street's name from its street


def draw_town(path) -> None:
    """Draw the map with the names of its streets, the route and the initial states."""
    figure = new_figure(12, 7.4)
    axis = figure.subplots()
    _draw_streets(axis, width=4.5)
    _draw_truth(axis, width=5.5)
    for street in STREETS:
        if street in STARTS.values():
            continue  # the title names it
        _name(axis, street)
    for letter, street in zip('ABC', STARTS.values(), strict=True):
        x, y = sum(ends(street)) / 2
        axis.text(x, y, letter, ha='center', va='center', color='white', weight='bold',
                  fontsize=10, zorder=9, bbox={'boxstyle': 'circle,pad=0.25', 'fc': _INK,
                                               'ec': 'white', 'lw': 1.2})
    end = drive(STARTS['start'], ROUTE)[-1][1][-1]
    axis.plot(*end, 's', color=_INK, mec='white', mew=1.2, ms=11, zorder=9)
    named = [f'{letter}  {street}, {_WORDS_FOR[start]}'
             for letter, (start, street) in zip('ABC', STARTS.items(), strict=True)]
    axis.set_title('      '.join([*named, '■  the end of the route']), fontsize=10.5, color=_INK)
    save(figure, path)


def draw_routes(numbers, path) -> None:
    """Draw private routes, a row for each ε and a column for each policy."""
    words = numbers['private_routes']
    epsilons, errors = numbers['average_error']['epsilon']['exact'], numbers['average_error']
    figure = new_figure(11, 0.5 + 3.4 * len(words['paper']))
    axes = figure.subplots(len(words['paper']), len(words))
    for column, policy in zip(axes.T, words, strict=True):
        for axis, (epsilon, word) in zip(column, words[policy].items(), strict=True):
            _draw_streets(axis, width=1.6)
            _draw_truth(axis, width=6)
            _draw_private(axis, word)
            wrong = sum(o != s for o, s in zip(word, ROUTE, strict=True))
            expected = errors['start'][policy]['exact'][epsilons.index(float(epsilon))]
            axis.set_title(f'{_LOOKS[policy][0]}, ε = {float(epsilon):g}: error = {wrong} of '
                           f'{len(ROUTE)} ({expected:.1f} expected)', fontsize=10.5,
                           color=_INK, pad=3)
    figure.legend(handles=[
        Line2D([], [], color=_TRUTH, lw=6, label='true route'),
        Line2D([], [], color=_RIGHT, lw=2.2, label='private route: the true street'),
        Line2D([], [], color=_WRONG, lw=2.2, label='private route: another street'),
        Line2D([], [], color=_INK, marker='o', ls='', ms=7, label='start (public)'),
        Line2D([], [], color=_INK, marker='s', ls='', ms=7, label='end of the private route')],
        loc='outside upper center', ncols=5, frameon=False, fontsize=9.5, handletextpad=0.5,
        columnspacing=1.4)
    save(figure, path)


def draw_distances(average_error, path) -> None:
    """Draw the average distance by ε under the paper's policy, a line for each start."""
    figure = new_figure(6.4, 4.2)
    axis = figure.subplots()
    epsilons = average_error['epsilon']
    for (start, street), (colour, mark) in zip(STARTS.items(), (
            ('#1b6ca8', 'o'), ('#d1495b', 's'), ('#e07b1a', '^')), strict=True):
        errors = average_error[start]['paper']
        axis.plot(epsilons['exact'], errors['exact'], color=colour, lw=1.8)
        axis.plot(epsilons['sampled'], errors['sampled'], mark, color=colour, ms=6, mec='white',
                  mew=0.7)
        axis.plot([], [], color=colour, marker=mark, lw=1.8, mec='white', mew=0.7,
                  label=f'from {street}, {_WORDS_FOR[start]}')
    finish(axis)
    axis.set(xlim=(0, 10.2), ylim=(0, len(ROUTE)))
    axis.set_xlabel('ε (k = 1)', color=_INK)
    axis.set_ylabel('average distance', color=_INK)
    axis.legend(frameon=False, fontsize=9, loc='center right')
    save(figure, path)


def draw_errors(average_error, path) -> None:
    """Draw the average distance by ε: online above, offline below, a column for each start."""
    figure = new_figure(11, 6.6)
    axes = figure.subplots(2, len(STARTS), sharex=True, sharey=True)
    epsilons = average_error['epsilon']
    for row, kind, names in zip(axes, ('online', 'offline'), (
            ('paper', 'guided'), ('exponential',)), strict=True):
        for axis, (start, street) in zip(row, STARTS.items(), strict=True):
            for name in names:
                _, colour, line, mark, size = _LOOKS[name]
                errors = average_error[start][name]
                axis.plot(epsilons['exact'], errors['exact'], color=colour, ls=line, lw=1.8)
                axis.plot(epsilons['sampled'], errors['sampled'], mark, color=colour, ms=size,
                          mec='white', mew=0.7)
            finish(axis)
            if kind == 'online':
                axis.set_title(f'from {street},\n{_WORDS_FOR[start]}', fontsize=10.5, color=_INK)
            else:
                axis.set_xlabel('ε (k = 1)', color=_INK)
        row[0].set_ylabel(f'{kind}: average distance', color=_INK)
        row[0].legend(handles=[Line2D([], [], color=colour, ls=line, marker=mark, ms=size, lw=1.8,
                                      mec='white', mew=0.7, label=label)
                               for label, colour, line, mark, size in map(_LOOKS.get, names)],
                      frameon=False, fontsize=9.5, loc='upper right')
    axes[0, 0].set(xlim=(0, 10.2), ylim=(0, len(ROUTE) + 0.3))
    save(figure, path)


def _draw_streets(axis, width):
    axis.set(aspect='equal', xlim=(-0.2, 19.8), ylim=(0.3, 11.9))
    axis.axis('off')
    xs = np.linspace(RIVER[0][0], RIVER[-1][0], 200)
    axis.plot(xs, np.polyval(np.polyfit(*zip(*RIVER, strict=True), 5), xs), color='#d3e7f5',
              lw=6 * width + 6, zorder=0, solid_capstyle='butt')
    for street in STREETS:
        axis.plot(*zip(*ends(street), strict=True), color='#dcdfe4', lw=width, zorder=1,
                  solid_capstyle='round')


def _draw_truth(axis, width):
    points = np.concatenate([points for _, points in drive(STARTS['start'], ROUTE)])
    axis.plot(*points.T, color=_TRUTH, lw=width, zorder=2, solid_capstyle='round',
              solid_joinstyle='round')


def _draw_private(axis, word):
    pieces = drive(STARTS['start'], word)
    for t, points in pieces:
        colour = _INK if t < 0 else _RIGHT if word[t] == ROUTE[t] else _WRONG
        axis.plot(*points.T, color=colour, lw=2.2, zorder=4, solid_capstyle='round')
    for mark, place in (('o', pieces[0][1][0]), ('s', pieces[-1][1][-1])):
        axis.plot(*place, mark, color=_INK, mec='white', ms=8, zorder=6)


def _name(axis, street):
    """Write a street's name beside it, where it runs longest without meeting another."""
    start, end = ends(street)
    length = np.hypot(*(end - start))
    meets = [point for other in STREETS if (point := crossing(street, other)) is not None]
    along = np.sort(np.clip([0, length, *((np.array(meets) - start) @ (end - start) / length)],
                            0, length))
    longest = np.argmax(np.diff(along))
    middle = along[longest:longest + 2].mean() if np.diff(along)[longest] > 0.93 else length / 2
    angle = (np.degrees(np.arctan2(*(end - start)[::-1])) + 90) % 180 - 90
    aside = _ASIDE * np.array((-np.sin(np.radians(angle)), np.cos(np.radians(angle))))
    x, y = start + middle * (end - start) / length + aside
    axis.text(x, y, street, rotation=angle, rotation_mode='anchor', ha='center', va='center',
              fontsize=7.5, color=_INK, zorder=8)
