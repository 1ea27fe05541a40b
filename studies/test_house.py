# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of the rooms is that of the code."""
from studies.house import direct, PAGE, picture, ROOT


def test_the_picture_is_that_of_the_code():
    assert picture(ROOT / 'symdp_ros') in PAGE.read_text(), 'run `make house`'


def test_an_arrow_that_a_longer_way_shows_is_left_out():
    assert direct({'a': {'b', 'c'}, 'b': {'c'}, 'c': set()}) == [('a', 'b'), ('b', 'c')]
