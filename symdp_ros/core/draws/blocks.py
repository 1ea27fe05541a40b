# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The loops of the random bits of many words: import only where they are about to run."""
from symdp_ros.core.annotations import Ints, Numbers
from symdp_ros.core.compiled.compiling import compiled, inlined


@inlined
def _name_block(names: Numbers, word: int, i: int, counter: Numbers) -> None:
    """Write the i-th counter block of a word: its name, then i, big-endian."""
    counter[0] = names[word, 0]
    counter[1] = names[word, 1]
    counter[2] = names[word, 2]
    counter[3] = (i & 0xff) << 24 | (i & 0xff00) << 8 | (i >> 8) & 0xff00 | i >> 24


@compiled
def name_blocks(names: Numbers, lengths: Ints, each: int, counters: Numbers) -> None:
    """
    Write the counter blocks (name of the word, number of the block) of all words.

    names     (words, 3)     uint32
    lengths   (words,)       symbols of each word
    each                     symbols in a block
    counters  (blocks, 4)    uint32, is filled
    """
    block = 0
    for word in range(len(lengths)):
        for i in range((lengths[word] + each - 1) // each):
            _name_block(names, word, i, counters[block])
            block += 1


@compiled
def name_blocks_at(names: Numbers, offsets: Ints, each: int, places: Ints, counters: Numbers,
                   inside: Ints) -> None:
    """
    Write the counter block of each of some symbols, as `name_blocks`.

    offsets   (words + 1,)   where words begin
    places    (count,)       of the symbols, ascending
    counters  (count, 4)     uint32, is filled
    inside    (count,)       is filled: the places in their blocks
    """
    word = 0
    for j in range(len(places)):
        while places[j] >= offsets[word + 1]:
            word += 1
        i = places[j] - offsets[word]
        _name_block(names, word, i // each, counters[j])
        inside[j] = i % each


@compiled
def close_up(drawn: Numbers, lengths: Ints, each: int) -> int:
    """Move what is drawn for each word to that of the word before it; return how much it is."""
    source = place = 0
    for length in lengths:
        if source > place:
            for i in range(length):
                drawn[place + i] = drawn[source + i]
        place += length
        source += (length + each - 1) // each * each
    return place
