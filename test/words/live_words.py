# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live words for tests: a place with a state file and a ledger, and chains."""
from contextlib import contextmanager
from functools import cache

from symdp_ros import Chain, Privacy
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.ledger.charging import Charging
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.live_account import LiveAccount
from symdp_ros.words.live_word import LiveWord
from symdp_ros.words.sampling_settings import SamplingSettings

CHAIN = Chain({'a': ['a', 'b'], 'b': ['b', 'c'], 'c': ['c', 'a']}, 'a')
LIKELY = Chain({'a': {'a': 0.9, 'b': 0.1}, 'b': ['b', 'c'], 'c': {'c': 0.5, 'a': 0.5}}, 'a')
LIVE = MechanismSettings('live', policy='guided')
LATE = MechanismSettings('live', policy='adaptive', delay=2)


class Log(list):
    """A logger that keeps its lines."""

    def info(self, line):
        self.append(line)

    warning = info


@cache
def made(chain, epsilon, how):
    return how.online(chain, Privacy(epsilon))


class Place:
    """A directory with a state file and a ledger, and the words that are made there."""

    def __init__(self, directory, *, state_file=True, ledger=True, budget=0.0):
        self.state_file = directory / 'word' if state_file else None
        self.ledger_file = directory / 'ledger' if ledger else None
        self.budget = budget
        self.log = Log()

    def word(self, chain=CHAIN, *, former=None, epsilon=1.0, sampling=SamplingSettings(),
             how=LIVE, **given):
        account = self.ledger_file and LiveAccount(
            self.ledger_file, Charging('r1', subject_budget=self.budget))
        mechanism = made(chain, epsilon, how).another()
        described = how.described(chain, mechanism.privacy) | sampling.symbols()
        try:
            return LiveWord(mechanism, described=described, state_file=self.state_file,
                            account=account, former=former, logger=self.log, **given)
        except BaseException:
            if account:
                account.close()
            raise

    @contextmanager
    def begun(self, **given):
        """Give a word that has begun; close it at the end."""
        word = self.word(**given)
        word.begin()
        yield word
        word.close()

    def charges(self):
        """Return the names of the words that were charged."""
        with Ledger(self.ledger_file) as ledger:
            return [charge.content for charge in ledger.charges()]
