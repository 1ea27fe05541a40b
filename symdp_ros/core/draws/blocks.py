# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The loops of the random bits of many words: import only where they are about to run."""
from symdp_ros.core.annotations import Ints, Numbers
from symdp_ros.core.compiled.compiling import compiled


@compiled
def number_blocks(names: Numbers, lengths: Ints, each: int, counters: Numbers) -> None:
    """
    Put the name of each word and 0, 1, … into the blocks of its symbols.

    names     (words, 3)     uint32
    lengths   (words,)       symbols of each word
    each                     symbols in a block
    counters  (blocks, 4)    uint32; the number comes last, its bytes in the order of networks
    """
    block = 0
    for word in range(len(lengths)):
        for i in range((lengths[word] + each - 1) // each):
            counters[block, 0] = names[word, 0]
            counters[block, 1] = names[word, 1]
            counters[block, 2] = names[word, 2]
            counters[block, 3] = ((i & 0xff) << 24 | (i & 0xff00) << 8 | (i >> 8) & 0xff00
                                  | i >> 24)
            block += 1


@compiled
def close_up(drawn: Numbers, lengths: Ints, each: int) -> int:
    """Move what is drawn for each word to that of the word before it; return how much it is."""
    source = place = 0
    for length in lengths:
        for i in range(length):
            drawn[place + i] = drawn[source + i]
        place += length
        source += (length + each - 1) // each * each
    return place
