# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Text from outside (file names, messages of others) as it can be shown in one line."""


def printable(text: object, most: int = 200) -> str:
    r"""
    Return a text as it can be printed, logged or answered.

    Control characters, separators of lines and paragraphs, marks that turn the direction of
    writing, all else that cannot be seen, and surrogates become escapes such as `\n`, `\x1b` and
    `\u202e`; a byte of a file name that is not UTF-8 becomes `\xff`. A backslash stays as it is.
    A longer text is cut, and its length is added at the end.

    :param text: a string, or anything with one, such as a path.
    :param most: the most characters of the result, without the mark of a cut, > 0.
    """
    text = str(text)
    pieces, size = [], 0
    for character in text[:most]:
        piece = character if character.isprintable() else _escaped(character)
        size += len(piece)
        if size > most:
            break
        pieces.append(piece)
    shown = ''.join(pieces)
    return shown if len(pieces) == len(text) else f'{shown}… (cut: {len(text):,} characters)'


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xdc80 <= code <= 0xdcff:  # how Python keeps a byte that is not UTF-8
        return f'\\x{code - 0xdc00:02x}'
    return ascii(character)[1:-1]
