# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp automaton FILE`: the feasible words at one Hamming distance from a word."""
from symdp_ros.cli.arguments import add_arguments
from symdp_ros.cli.maps.check import add_chain_arguments, chain_of
from symdp_ros.cli.printed_tables import plain_table
from symdp_ros.core.offline.automaton import HammingAutomaton
from symdp_ros.errors import ConfigurationError, UnknownSymbolError
from symdp_ros.figures.automaton import (chance_text, count_text, dot_lines, label_text,
                                         words_text)
from symdp_ros.options import AUTOMATON_WORD, DISTANCE, DOT


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'automaton', help='show all feasible words at one distance from a word',
        description='Shows the modified Hamming-distance automaton of a word on the chain: which '
                    'moves lead to the feasible words at that distance, how many words can '
                    'follow from each state, and how likely each move is when one of the words '
                    'is drawn uniformly. The table and the graph show the word itself: keep '
                    'them as private as the word.')
    add_chain_arguments(parser)
    add_arguments(parser, (AUTOMATON_WORD, DISTANCE, DOT))
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the table, or the graph; return 0."""
    chain = chain_of(options)
    word = [symbol.strip() for symbol in options.word.split(',')]
    try:
        automaton = HammingAutomaton(chain, word, options.distance)
    except UnknownSymbolError:
        raise ConfigurationError(
            f'--word holds a symbol that is no state of the chain in {options.chain_file}: '
            f'separate symbols by commas, as in --word {",".join(chain.states[:3])}') from None
    if not automaton.word_count:
        raise ConfigurationError(f'no feasible word is at distance {options.distance} from this '
                                 'one: try another --distance')
    if options.dot:
        print(*dot_lines(automaton, word), sep='\n')
    else:
        _print(automaton, len(word))
    return 0


def _print(automaton, length):
    from rich.console import Console

    table = plain_table('>position', '>errors', 'state', '>count', 'policy')
    for state in automaton.states():
        policy = 'accepts' if state.position == length else ', '.join(
            f'{label_text(s)}: {chance_text(p)}' for s, p in automaton.policy(*state).items())
        table.add_row(str(state.position), str(state.errors), label_text(state.state),
                      count_text(automaton.count(*state)), policy)
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table)
    console.print(words_text(automaton.word_count))
