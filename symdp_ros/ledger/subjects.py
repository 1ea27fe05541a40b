# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of subjects: which are none, and which look like another one, whose ε is counted apart."""
from collections.abc import Iterable, Iterator
from decimal import Context, Decimal
import re
import unicodedata

from symdp_ros.errors import LedgerError, printable

_NUMBER = re.compile(r'[+-]?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d{1,4})?', re.ASCII)
_CONTROLS = ('Cc', 'Zl', 'Zp')  # Unicode categories: control characters, separators of lines
_TURNING = ('LRE', 'RLE', 'LRO', 'RLO', 'PDF', 'LRI', 'RLI', 'FSI', 'PDI')  # of writing
#: Characters that are not seen, and that are of no such category as 'Cf'.
_UNSEEN = {0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f, 0x2800,
           *range(0xfe00, 0xfe10), *range(0xe0100, 0xe01f0)}


def check_subject(subject: str) -> None:
    """
    Check that a name can be that of a subject.

    :raises LedgerError: it is empty or all white space, is not UTF-8, or holds control characters.
    """
    try:
        subject.encode()
    except UnicodeEncodeError:
        raise LedgerError(f'the name of the subject {subject!a} is not UTF-8: rename it') from None
    if not subject.strip():
        raise LedgerError('the name of the subject is empty: name whose regions these are')
    if any(unicodedata.category(character) in _CONTROLS
           or unicodedata.bidirectional(character) in _TURNING for character in subject):
        raise LedgerError(f"the name of the subject '{printable(subject)}' holds control "
                          'characters: give a plain name')


def look_alikes(subject: str, subjects: Iterable[str]) -> list[str]:
    """Return other subjects that a reader would take for this one, sorted."""
    seen = _as_seen(subject)
    return sorted(other for other in subjects if other != subject and _as_seen(other) == seen)


def look_alike_text(subject: str, subjects: Iterable[str]) -> str:
    """Return a warning that names other subjects that look like this one; '': there is none."""
    others = [ascii(other) for other in look_alikes(subject, subjects)]
    return '' if not others else (
        f'the subject {subject!a} looks like {" and ".join(others)}, and is another one: what '
        'they spend is counted apart. Give one robot one name')


def look_alike_texts(subjects: Iterable[str]) -> Iterator[str]:
    """Yield such a warning for each of some subjects that another one looks like."""
    alike: dict[str, list[str]] = {}
    for subject in subjects:
        alike.setdefault(_as_seen(subject), []).append(subject)
    for names in alike.values():
        for name in names if len(names) > 1 else ():
            yield look_alike_text(name, names)


def _as_seen(name: str) -> str:
    """
    Return what is seen of a name: without case, width, white space and unseen characters.

    A name that reads as a number is that number: 007, 7 and 7.0 are one to tools that read
    tables, or the names of partitions.
    """
    if name.isascii() and name.isprintable():
        name = name.lower().replace(' ', '')
    else:
        name = _without_unseen(name)
    number = _NUMBER.fullmatch(name)
    return name if number is None else str(Decimal(name.replace('_', '')).normalize(
        Context(prec=len(name))))


def _without_unseen(name: str) -> str:
    name = unicodedata.normalize('NFKC', name).casefold()
    name = ''.join(character for character in name if unicodedata.category(character) != 'Cf'
                   and ord(character) not in _UNSEEN and not character.isspace())
    return unicodedata.normalize('NFKC', name)
