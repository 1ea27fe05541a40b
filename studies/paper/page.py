# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the experiments, whose tables come from `numbers.json`."""
from studies.common import filled, table

_NAMES = {'paper': "paper's policy", 'guided': 'guided', 'exponential': 'exponential'}
_THEIRS = {  # what the paper prints
    'errors': (14, 11, 5, 1, 0),  # Figure 7, at the same ε
    'start': (.935, .993, .967, .954, .948),  # Table 1, from SW 34th St
    'detour': (0, .245, .242, .240, .237),    # and from SW Archer Rd
}


def page(numbers) -> str:
    """Return `index.md` for the content of `numbers.json`."""
    return filled(__file__, {
        **globals(), **numbers, 'numbers': numbers, 'size': numbers['map'],
        'correct': numbers['correct_transition'], 'errors': numbers['average_error']})


def in_words(items):
    *others, last = map(str, items)
    return f'{", ".join(others)} and {last}'


def compared(errors, starts):
    """Return the average distance under each online policy from each start, in a sentence."""
    epsilons = errors['epsilon']['exact']
    place = epsilons.index(5.0)
    parts = [f'from {street} ' + ', '.join(
        f'{_NAMES[policy]} {errors[start][policy]["exact"][place]:.2f}'
        for policy in ('paper', 'guided')) for start, street in starts.items()]
    return f'At ε = {epsilons[place]:g} the average distance is\n' + ';\n'.join(parts) + '.'


def drawn_table(numbers):
    epsilons, errors = numbers['average_error']['epsilon']['exact'], numbers['average_error']
    rows = [('paper, Figure 7', *map(str, _THEIRS['errors']))]
    for policy, words in numbers['private_routes'].items():
        expected = errors['start'][policy]['exact']
        rows.append((f'here, {_NAMES[policy]}', *(
            f'{sum(o != s for o, s in zip(word, numbers["route"], strict=True))} '
            f'({expected[epsilons.index(float(epsilon))]:.2f})'
            for epsilon, word in words.items())))
    return table(['', *(f'ε = {float(epsilon):g}' for epsilon in words)], rows)


def their_table(correct, starts):
    rotated = [*_THEIRS['start'][1:], _THEIRS['start'][0]]
    rows = [(f't = {t + 1}', f'{_THEIRS["start"][t]:.3f}', f'{rotated[t]:.3f}',
             f'{correct["start"]["paper"]["exact"][t]:.3f}', f'{_THEIRS["detour"][t]:.3f}',
             f'{correct["detour"]["paper"]["exact"][t]:.3f}') for t in range(len(rotated))]
    return table(['', 'paper, SW 34th St', 'the same, rotated', f'here, {starts["start"]}',
                  'paper, SW Archer Rd', f'here, {starts["detour"]}'], rows)


def correct_table(correct, starts):
    rows = [(f'{starts[start]}, {_NAMES[policy]}',
             *map(_pair, chances['exact'], chances['sampled']))
            for start in ('start', 'detour') for policy, chances in correct[start].items()]
    count = len(rows[0]) - 1
    return table(['from, policy', *(f't = {t}' for t in range(1, count + 1))], rows)


def error_tables(errors, starts):
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
