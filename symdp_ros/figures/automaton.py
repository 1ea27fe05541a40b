# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Hamming-distance automaton as text, for tables and for Graphviz."""
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from symdp_ros.core.annotations import Word
from symdp_ros.core.offline.automaton import AutomatonState, HammingAutomaton

_MATCH, _ERROR, _GREY = '#1b6ca8', '#d1495b', '#707987'
_SUBSCRIPTS = str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉')


def dot_lines(automaton: HammingAutomaton, word: Word) -> Iterator[str]:
    """
    Yield the lines of a graph in the DOT language: a picture like the paper's Figures 2 and 3.

    There is a column for each position, with the states from which a word is accepted: errors so
    far, and V, the number of words from there on. Moves have their symbols and probabilities.

    :param word: the automaton's. The graph shows it: it is as sensitive.
    """
    heading = (f'word {" ".join(map(label_text, word))} · {words_text(automaton.word_count)}\n'
               "blue: the word's symbol; red: an error; V: how many words go on from here")
    yield 'digraph {'
    yield (f'  rankdir=LR; labelloc=t; label={_quoted(heading)}; '
           'fontname="sans-serif"; node [fontname="sans-serif", shape=box, style=rounded]; '
           'edge [fontname="sans-serif", fontsize=10];')
    columns = ['start', *(f'w{i}'.translate(_SUBSCRIPTS) + f' = {label_text(symbol)}'
                          for i, symbol in enumerate(word, 1))]
    for position, column in enumerate(columns):
        yield (f'  {position} [shape=plaintext, fontcolor="{_GREY}", '
               f'label={_quoted(column)}];')
    yield f'  {" -> ".join(map(str, range(len(columns))))} [style=invis];'
    names = dict[AutomatonState, str]()
    for state in automaton.states():
        names[state] = f's{len(names)}'
        errors = f'{state.errors} error{"s" * (state.errors != 1)}'
        label = (f'{label_text(state.state)}\n{errors}, '
                 f'V = {count_text(automaton.count(*state))}')
        accepts = ', peripheries=2' if state.position == len(word) else ''
        yield (f'  {{rank=same; {state.position}; {names[state]} '
               f'[label={_quoted(label)}{accepts}];}}')
    for edge in automaton.edges():
        colour = _ERROR if edge.is_error else _MATCH
        label = f'{label_text(edge.target.state)}: {chance_text(edge.probability)}'
        yield (f'  {names[edge.source]} -> {names[edge.target]} [label={_quoted(label)}, '
               f'color="{colour}", fontcolor="{colour}"];')
    yield '}'


def _quoted(text: str) -> str:
    escaped = text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
    return f'"{escaped}"'


def chance_text(chance: Fraction) -> str:
    """Return a probability as a fraction where it is short, else rounded."""
    if chance.denominator < 1000:
        return str(chance)
    return f'≈{Decimal(chance.numerator) / Decimal(chance.denominator):.3g}'


def count_text(count: int) -> str:
    """Return a count, rounded where it is long."""
    return str(count) if count < 10**12 else f'≈{Decimal(count):.3e}'


def words_text(count: int) -> str:
    """Return how many words there are, in words."""
    return f'{count_text(count)} feasible word{"s" * (count != 1)}'


def label_text(symbol: str | None) -> str:
    """Return a label without what cannot be drawn on one line; None is an absent symbol."""
    if symbol is None:
        return '–'
    return ''.join(c if c.isprintable() else '\N{REPLACEMENT CHARACTER}' for c in symbol)
