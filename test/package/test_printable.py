# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Text from outside in one line that shows what it holds."""
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
import pytest
from symdp_ros.errors import printable


@pytest.mark.parametrize('text, shown', [
    ('', ''),
    ('büro 3 "a" \'b\' 仓库 🤖', 'büro 3 "a" \'b\' 仓库 🤖'),
    ('a\nb\r\tc\0', r'a\nb\r\tc\x00'),
    ('\x1b[31mred\x9b', r'\x1b[31mred\x9b'),
    ('\u202egnp\u200f\u2066', r'\u202egnp\u200f\u2066'),
    ('a\u2028b\u2029c\x85', r'a\u2028b\u2029c\x85'),
    ('\ufeffa\u200bb\U000e0041', r'\ufeffa\u200bb\U000e0041'),
    (r'C:\new', r'C:\new'),
    ('\ud800', r'\ud800'),
    (os.fsdecode(b'log\xff\xfe.csv'), r'log\xff\xfe.csv'),
    (Path('/a\nb'), r'/a\nb'),
    (None, 'None'),
])
def test_what_is_shown(text, shown):
    assert printable(text) == shown


def test_a_long_text_is_cut_and_says_how_long_it_was():
    assert printable('a' * 200) == 'a' * 200
    assert printable('a' * 10_000_000) == 'a' * 200 + '… (cut: 10,000,000 characters)'
    assert printable('abcdef', 3) == 'abc… (cut: 6 characters)'
    assert printable('a\nbc', 2) == 'a… (cut: 4 characters)'  # no half of an escape


@given(st.text(st.characters()), st.integers(1, 50))
def test_one_bounded_line_that_can_be_encoded(text, most):
    shown = printable(text, most)
    shown.encode()
    assert shown.isprintable() and len(shown) <= most + len('… (cut: 100 characters)')
    if text.isprintable() and len(text) <= most:
        assert shown == text
