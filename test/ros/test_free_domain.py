# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Claims on ROS domains; no ROS is needed for them."""
import os
import subprocess
import sys

import pytest
from symdp_ros.errors import ConfigurationError
from symdp_ros.ros.process import free_domain
from symdp_ros.ros.process.free_domain import FreeDomain


@pytest.fixture
def three(monkeypatch):
    """Three numbers that no domain has, and no other test."""
    domains = range(first := 1000 * os.getpid() + 1000, first + 3)
    monkeypatch.setattr(free_domain, '_DOMAINS', domains)
    return domains


def test_no_two_have_one_domain(three):
    held = [FreeDomain() for _ in three]
    assert {domain.number for domain in held} == set(three)
    with pytest.raises(ConfigurationError, match='all ROS domains from .* are taken'):
        FreeDomain()
    held[1].close()
    with FreeDomain() as again:
        assert again.number == held[1].number
    for domain in held:
        domain.close()


def test_other_processes_are_seen(three):
    code = ('from symdp_ros.ros.process import free_domain\n'
            f'free_domain._DOMAINS = range({three.start}, {three.stop})\n'
            'print(free_domain.FreeDomain().number)')
    with FreeDomain() as one, FreeDomain() as other:
        output = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                                check=True).stdout
        assert {int(output)} == set(three) - {one.number, other.number}


def test_domains_whose_ports_are_free():
    with FreeDomain() as domain:
        assert 1 <= domain.number <= 101
