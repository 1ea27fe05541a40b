"""
The word that a live node publishes: what draws it, what charges it, what carries it on.

Nothing here knows of ROS.
"""
import json
from pathlib import Path
from typing import TYPE_CHECKING

from symdp_ros.ros.state_file import StateFile, settings_digest

if TYPE_CHECKING:
    from symdp_ros.core.online import OnlineMechanism


class Account:
    """
    Where live words are charged: a subject in a ledger.

    :param path: of the ledger; made where it is absent.
    :param subject: whose regions the words are.
    :param subject_budget: what the subject may ever spend; 0.0: what the ledger stores.
    :param sampling, period: what a symbol of a word is.
    :raises LedgerError: the ledger cannot be used.
    :raises BudgetError: the ledger stores another budget.
    """

    def __init__(self, path: Path, subject: str, subject_budget: float, sampling: str,
                 period: float):
        from symdp_ros.release.ledger import Ledger  # only where there is one

        self.ledger = Ledger(path)
        self.subject, self.subject_budget = subject, subject_budget
        self._sampling, self._period = sampling, period
        try:
            self.ledger.keep_budget(subject, subject_budget)
        except BaseException:
            self.ledger.close()
            raise

    def charge(self, mechanism: 'OnlineMechanism', digest: bytes) -> None:
        """
        Charge a new word.

        :raises BudgetError, LedgerError: it is not charged.
        """
        from symdp_ros.release.units import Loss

        privacy = mechanism.privacy
        period = {'period': self._period} if self._sampling == 'period' else {}
        self.ledger.charge(
            self.subject, Loss.of(privacy, self._sampling, self._period), settings=digest.hex(),
            subject_budget=self.subject_budget, description=json.dumps({
                'chain': mechanism.chain.digest(), 'epsilon': privacy.epsilon,
                'adjacency': privacy.adjacency, 'mechanism': 'live',
                'policy': mechanism.policy, 'sampling': self._sampling, **period}))

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()


class LiveWord:
    """
    One word, symbol by symbol: drawn, stored, and charged when it begins.

    :param mechanism: what draws it.
    :param state_file: path of the file that carries it over a restart; None: none does.
    :param account: where it is charged; None: nowhere.
    :param former: the word that this process configured before; it is carried on where the
        settings are the same.
    :param logger: has the methods `info` and `warning`.
    :raises StateFileError: the file cannot be used.
    """

    def __init__(self, mechanism: 'OnlineMechanism', *, state_file: Path | None = None,
                 account: Account | None = None, former: 'LiveWord | None' = None, logger):
        self.mechanism, self.has_begun = mechanism, False
        self._account, self._logger = account, logger
        chain, privacy = mechanism.chain, mechanism.privacy
        # A word that another ledger was charged for is another word.
        owner = (account.ledger.id, account.subject) if account is not None else ()
        self._digest = settings_digest(chain.digest(), privacy.epsilon, privacy.adjacency,
                                       mechanism.policy, *owner)
        self._state_file = self._store = None
        if state_file is not None:
            self._open(state_file)
        elif former is not None and former.has_begun and former._digest == self._digest:
            self.has_begun = True
            mechanism.reset(former.mechanism.previous)

    def _open(self, path):
        chain = self.mechanism.chain
        self._state_file = StateFile(path, self._digest, len(chain))
        self._store, self._positions = self._state_file.store, chain.state_index
        found, position = self._state_file.found, self._state_file.position
        if found == 'a word to carry on':
            self.has_begun = True
            self.mechanism.reset(None if position is None else chain.states[position])
            self._logger.info('state_file: the word of the last run is carried on')
        elif found != 'no word':
            self._logger.warning(f'state_file: it held {found}: a new word begins; for who '
                                 'has seen both words, their losses add up')

    def begin(self) -> None:
        """
        Charge a new word, before anything of it is drawn; one that goes on costs nothing.

        :raises BudgetError, LedgerError: it cannot be charged.
        :raises StateFileError: the file cannot be written.
        """
        if self.has_begun:
            self._logger.info('the word goes on')
            return
        self._logger.info('a new word begins' + (
            '' if self._state_file is not None else ' (no state_file: a restart begins another)'))
        if self._account is not None:
            self._account.charge(self.mechanism, self._digest)
            self._logger.info(f'ledger: a new word of {self._account.subject!r}, charged with '
                              f'ε = {self.mechanism.privacy.epsilon:g}')
        if self._state_file is not None:
            self._state_file.begin()
        self.has_begun = True

    def draw(self, symbol: str | None) -> str:
        """Draw and store the private symbol of a region (None: unknown); then it may go out."""
        output = self.mechanism.step(symbol)
        # Stored first: a crash between the two may lose a symbol, but never contradicts one.
        if self._store is not None:
            self._store(self._positions[output])
        return output

    def close(self) -> None:
        """Release the files."""
        for held in (self._state_file, self._account):
            if held is not None:
                held.close()
        self._state_file = self._store = self._account = None
