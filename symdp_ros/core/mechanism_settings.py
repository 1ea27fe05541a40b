# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
The settings of what draws: live nodes, logs, archives and the belief in their outputs.

What computes is imported when a mechanism is made: nodes make it after others can discover them.
"""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TYPE_CHECKING

from symdp_ros.core.registry import (AUTO, BASES, check_choice, check_delay, check_learn,
                                     check_reports, check_trust, DEFAULT_BASE, DEFAULT_LEARN,
                                     DEFAULT_TRUST, IN_ZONES, LIVE, OPEN, POLICIES, SELECTIONS)
from symdp_ros.settings import settings_of

if TYPE_CHECKING:
    from symdp_ros.core.annotations import RandomBits
    from symdp_ros.core.chain import Chain
    from symdp_ros.core.offline import OfflineMechanism
    from symdp_ros.core.online import OnlineMechanism
    from symdp_ros.core.privacy import Privacy


@dataclass(frozen=True)
class MechanismSettings:
    """
    Which mechanism draws, and how: all but chain, ε and k.

    :param selection: of `OfflineMechanism`; 'live': the online mechanism, symbol by symbol.

    :param reports: of `OnlineMechanism`; with several, the policy is adaptive.

    The others are those of `OnlineMechanism` and `OfflineMechanism`. Selection, base and policy
    may be 'auto': `core.choice` then chooses them, from chain, ε, k and length alone.
    """

    selection: str = AUTO
    base: str = AUTO
    trust: float = DEFAULT_TRUST
    policy: str = AUTO
    delay: int = 0
    reports: int = 1
    learn: str = DEFAULT_LEARN

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> 'MechanismSettings':
        """Return those among the values of options; without the option `mechanism`, it is live."""
        return settings_of(cls, {'mechanism': LIVE, **values, 'reports': None},
                           selection='mechanism')

    def check(self) -> None:
        """
        Check what can be checked without a chain.

        :raises ConfigurationError: a setting is not valid.
        """
        check_choice('base', self.base, (*BASES, AUTO))
        check_trust(self.trust)
        check_choice('policy', self.policy, (*POLICIES, AUTO))
        check_choice('selection', self.selection, (*SELECTIONS, LIVE, AUTO))
        draws_by = self.policy if self.selection in (AUTO, 'causal', LIVE) else self.selection
        check_delay(draws_by, self.delay)
        check_reports(draws_by, self.reports)
        check_learn(draws_by, self.learn)

    def available(self, zones: object = None) -> dict[str, 'MechanismSettings']:
        """
        Return the settings that 'auto' may choose from, by name.

        With a delay, several reports, zones, or `learn`, the only policy is adaptive. The policy
        paper is there only if it is named.

        :param zones: of `core.privacy.Privacy`; None: there are none.
        """
        values = {name: values for name, values in OPEN.items() if getattr(self, name) == AUTO}
        if (self.delay or self.reports > 1 or zones is not None or self.learn != 'none') and (
                'policy' in values):
            values['policy'] = ('adaptive',)
        by_name = {}
        every = [name for name, uses in SELECTIONS.items()
                 if (self.reports == 1 or name == 'causal')
                 and (zones is None or name in IN_ZONES or 'policy' in uses)]
        for selection in every if self.selection == AUTO else (self.selection,):
            names = [name for name in values if name in _uses(selection)]
            for taken in product(*(values[name] for name in names)):
                given = dict[str, Any](zip(names, taken, strict=True))
                if 'learn' not in _uses(selection):
                    given['learn'] = 'none'
                settings = replace(self, selection=selection, **given)
                by_name[settings.name] = settings
        return by_name

    @property
    def name(self) -> str:
        """
        Return the name that people read, of settings without 'auto'.

        Such as 'live, adaptive, delay 3' and 'exponential, counting'.
        """
        taken = [value for value in self.opened.values() if value != DEFAULT_BASE]
        late = [f'delay {self.delay}'] if self.delay else []
        return ', '.join([self.selection, *taken, *late])

    @property
    def opened(self) -> dict[str, str]:
        """Return base or policy, by name: those that the selection uses of what 'auto' leaves."""
        return self._fields(name for name in OPEN if name in self._used())

    @property
    def knows_zones(self) -> bool:
        """Return whether it can be used with zones."""
        return self.selection in IN_ZONES or self.policy in IN_ZONES

    def made(self, chain: 'Chain', privacy: 'Privacy', random: 'RandomBits | None' = None
             ) -> 'OnlineMechanism | OfflineMechanism':
        """Return what draws, live or whole words, as these settings say."""
        return (self.online if self.selection == LIVE else self.offline)(chain, privacy, random)

    def online(self, chain: 'Chain', privacy: 'Privacy',
               random: 'RandomBits | None' = None) -> 'OnlineMechanism':
        """Return what draws live; parameters and errors as of `OnlineMechanism`."""
        from symdp_ros.core.online import OnlineMechanism

        return OnlineMechanism(chain, privacy, delay=self.delay, reports=self.reports,
                               random=random,
                               **self._fields(SELECTIONS['causal']))

    def offline(self, chain: 'Chain', privacy: 'Privacy',
                random: 'RandomBits | None' = None) -> 'OfflineMechanism':
        """Return what draws whole words; parameters and errors as of `OfflineMechanism`."""
        from symdp_ros.core.offline import OfflineMechanism

        return OfflineMechanism(chain, privacy, selection=self.selection, random=random,
                                reports=self.reports, **self._fields(_uses(self.selection)))

    def _fields(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def _used(self) -> Iterable[str]:
        """Return the names of the settings that the selection uses, of base, trust and policy."""
        if self.selection == AUTO:
            return dict.fromkeys(name for names in SELECTIONS.values() for name in names)
        return _uses(self.selection)

    def described(self, chain: 'Chain', privacy: 'Privacy') -> dict[str, Any]:
        """
        Return all that the distribution of a private word depends on, for people to read.

        It stands in ledgers; its digest says which releases, and which live words, are the same.
        """
        used = self._fields(self._used())
        if used.get('learn') == 'none':  # as before there was a choice
            del used['learn']
        if used.get('base') == 'counting':  # as published: there is nothing to say
            del used['base']
        if 'base' in used or used.get('policy') in ('adaptive', AUTO):
            used['models'] = str(chain.models(self.trust))
        else:
            used.pop('trust', None)  # nothing that is used trusts the chain
        single = {'tick_of': [chain.single.digest(), chain.ticks]} if (
            used.get('policy') == 'adaptive' and chain.ticks > 1) else {}
        return {'chain': chain.digest(), 'epsilon': privacy.epsilon,
                'adjacency': privacy.adjacency, 'mechanism': self.selection, **used,
                **({'delay': self.delay} if self.delay else {}),
                **({'reports': self.reports} if self.reports > 1 else {}), **single,
                **({} if privacy.zones is None else {'zones': privacy.zones.digest()})}

    def text(self, chain: 'Chain') -> str:
        """Return which mechanism draws, and how it takes the robot to move, for people to read."""
        uses = self._used()
        named = [] if self.selection == LIVE else [f'mechanism {self.selection}']
        named += [f'{name} {value}' for name, value in self.opened.items()
                  if (self.selection, value) != (AUTO, AUTO)]
        moving = ('base' in uses and self.base in ('chain', AUTO)) or (
            'policy' in uses and self.policy in ('adaptive', AUTO))
        return ', '.join(named) + (
            f'; how it moves: {chain.how_it_moves(self.trust)}' if moving else '') + (
            ', and as its own signals show'
            if 'learn' in uses and self.learn == 'own' and chain.stores_edges else '')


def _uses(selection: str) -> tuple[str, ...]:
    """Return the names of the settings that a selection uses."""
    return SELECTIONS.get('causal' if selection == LIVE else selection, ())


#: Every mechanism of whole words that 'auto' can take, by name.
CHOICES = MechanismSettings().available()
#: Those that look at the whole word: the others err as the online mechanism does.
WHOLE_WORD = {name: each for name, each in CHOICES.items()
              if each.selection != 'causal' or each.policy == 'adaptive'}
