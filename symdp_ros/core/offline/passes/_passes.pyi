# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The types of what `_passes.c` has: as in `in_numpy`, and for many words at once."""
from symdp_ros.core.annotations import Floats, Ints, Numbers, ShortInts
from symdp_ros.core.offline.passes import PassWord
from symdp_ros.core.offline.reachable import Moves

TOGETHER: int


def sweep(first: int, last: int, word: PassWord, moves: Moves, W: Floats, E: ShortInts,
          /) -> int: ...


def choose(lengths: Floats, bits: int, /) -> int: ...


def walk(position: int, first: int, last: int, state: int, word: PassWord, bits: Numbers,
         moves: Moves, widest: int, W: Floats, E: ShortInts, model: Floats, out: Ints,
         /) -> tuple[int, int]: ...


def draw_words(index: int, position: int, state: int, all_words: PassWord, lengths: Ints,
               ratios: Floats, bits: Numbers, moves: Moves, widest: int, W: Floats, E: ShortInts,
               model: Floats, out: Ints, /) -> tuple[int, int, int]:
    """
    Draw words from one on, which is swept already where the position is above 0.

    all_words: with the symbols of all, one after another, and the begins and ends of the longest.
    bits, out: of all words, as `walk`; lengths, ratios: of each. Return (index, position, state)
    where 53 bits are not enough, at the end with the number of words as `index`.
    """


def draw_together(first: int, at: Ints, states: Ints, words: PassWord, lengths: Ints,
                  ratios: Floats, bits: Numbers, moves: Moves, widest: int, W: Floats, out: Ints,
                  /) -> int:
    """
    As `draw_words`, with one model: TOGETHER words are swept at a time, side by side.

    first: the first word of a group. at, states, int64 (TOGETHER,): how many symbols of each of
    its words are drawn, −1: it is not swept yet; and the last of them. W, float64 (longest,
    states, TOGETHER). Return the first word of the group in which 53 bits were not enough for
    some: it goes on from there. The row that such a word is drawn by is as far from that of the
    end of the group's longest as it is from its end.
    """
