# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Asking for the facts that an error carries, instead of its words."""
from contextlib import contextmanager
import os

import pytest


@contextmanager
def refused(kind, said='', **facts):
    """
    Expect an error of this kind with these facts, such as `line=3` or `setting='period'`.

    :param said: what the reason has in it, where it is a matter of the words.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    found = {name: getattr(error, name) for name in facts}
    for known in (found, facts):
        if known.get('path') is not None:
            known['path'] = os.fspath(known['path'])
    assert found == facts, error
    assert said in error.reason
