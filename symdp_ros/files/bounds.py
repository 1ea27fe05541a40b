# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How large a log may be: a larger one is refused before it fills the memory.

At one symbol a second, the logs of 115 days stay within all of them.
"""
from symdp_ros.errors import LogError

#: Symbols of a log: lines, messages of the topic, or periods.
MOST_SYMBOLS = 10_000_000
#: Bytes of a log that is text; bytes of all messages of the topic.
MOST_BYTES = 1 << 30
#: Bytes that one chunk or message of a recording may unpack to.
MOST_UNPACKED = 1 << 28
#: Bytes that a recording may unpack to: this, or so many times the size of its files if more.
MOST_UNPACKED_IN_ALL, MOST_TIMES = 1 << 30, 100
#: Bytes of metadata.yaml, and of the definition of a message type.
MOST_METADATA = 1 << 22
MOST_DEFINITION = 1 << 18


def check_count(count: int) -> None:
    """
    Check how many symbols a log holds.

    :raises LogError: more than `MOST_SYMBOLS`.
    """
    if count > MOST_SYMBOLS:
        raise LogError(f'it holds more than {MOST_SYMBOLS:,} symbols: split it')


def check_size(size: int) -> None:
    """
    Check the size of a log of text, or of the messages of a topic, in bytes.

    :raises LogError: more than `MOST_BYTES`.
    """
    if size > MOST_BYTES:
        raise LogError(f'it holds more than {MOST_BYTES >> 20} MiB of text or messages: split it')


def check_definition(text: str) -> None:
    """
    Check the length of the definition of a message type.

    :raises LogError: more than `MOST_DEFINITION` characters.
    """
    if len(text) > MOST_DEFINITION:
        raise LogError(f'a message type is defined by more than {MOST_DEFINITION >> 10} KiB of '
                       'text')
