# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The choices, by name; the module of a choice is imported when it is first made."""
from numbers import Real

from symdp_ros.errors import ConfigurationError
from symdp_ros.settings import is_whole

POLICIES = ('paper', 'guided', 'adaptive')
DEFAULT_POLICY = 'guided'  # of the library; settings have 'auto'
DEFAULT_TRUST = 0.8        # the weight of the chain's P (`core.models`)
LEARNT = ('none', 'own')   # from signals (`core.online.adaptive.own_moves`)
DEFAULT_LEARN = 'none'
BASES = ('chain', 'counting')  # of the selection exponential (`core.models`)
DEFAULT_BASE = 'chain'     # of the library
#: Of settings, the value that leaves open what is taken (`core.choice`).
AUTO = 'auto'
MOST_REPORTS = 1_000  # for each symbol
LIVE = 'live'  # of settings, the selection that draws symbol by symbol
#: Those that earlier versions had, and what to take in their place.
GONE = {'planned': 'the policy adaptive, or guided where adaptive takes too long',
        'permute_and_flip': 'exponential'}

#: Every mechanism of whole words → the settings that it uses, of base, trust and policy. Its
#: module is `core.offline.NAME`, in which `law` makes its `core.law.Law`.
SELECTIONS: dict[str, tuple[str, ...]] = {
    'exponential': ('base', 'trust'),
    'causal': ('policy', 'trust', 'learn'),
}
#: Policies, and selections that use none, that know zones (`core.zones`).
IN_ZONES = ('adaptive', 'exponential')
#: What 'auto' stands for; 'paper' is taken only where it is named.
OPEN: dict[str, tuple[str, ...]] = {'base': BASES, 'policy': POLICIES[1:]}


def check_choice(setting: str, value: object, choices: tuple[str, ...]) -> None:
    """
    Refuse a value that is no choice of a setting.

    :raises ConfigurationError: it is none; of choices of earlier versions, it says what to take.
    """
    check_gone(setting, value)
    if value not in choices:
        raise ConfigurationError(f'{setting} must be one of {", ".join(choices)}, not {value!r}',
                                 setting=setting)


def check_gone(setting: str, value: object) -> None:
    """Refuse a policy or selection of earlier versions; errors as of `check_choice`."""
    if isinstance(value, str) and value in GONE:
        raise ConfigurationError(
            f'{setting} is {value}, which this version no longer has, since another choice is '
            f'as good: take {GONE[value]}. What was released with it stays as it is',
            setting=setting)


def check_trust(trust: object) -> None:
    """
    Refuse a weight of the chain's P that is none.

    :raises ConfigurationError: it is no number in [0, 1].
    """
    if isinstance(trust, bool) or not isinstance(trust, Real) or not (
            0 <= float(trust) <= 1):
        raise ConfigurationError(f'trust must be a number from 0 to 1, not {trust!r}',
                                 setting='trust')


def check_delay(policy: str, delay: int | None) -> None:
    """
    Refuse a delay that a policy does not have.

    :raises ConfigurationError: it is no number of symbols, or not 0 and the policy not adaptive.
    """
    if delay is not None and not is_whole(delay, 0):
        raise ConfigurationError(f'delay must be a number of symbols, 0 or more, not {delay!r}',
                                 setting='delay')
    if delay != 0 and policy not in ('adaptive', AUTO):
        raise ConfigurationError(f'delay is {delay}, which needs the policy adaptive: the policy '
                                 f'is {policy}', setting='delay')


def check_learn(policy: str, learn: str) -> None:
    """
    Refuse a `learn` that a policy does not have.

    :raises ConfigurationError: it is none of `LEARNT`, or not 'none' and the policy not adaptive.
    """
    check_choice('learn', learn, LEARNT)
    if learn != 'none' and policy not in ('adaptive', AUTO):
        raise ConfigurationError(f'learn is {learn}, which needs the policy adaptive (of logs: '
                                 f'mechanism causal), not {policy}', setting='learn')


def check_reports(policy: str, reports: int) -> None:
    """
    Refuse a number of reports for each symbol that a policy does not have.

    :raises ConfigurationError: it is no number ≥ 1, or not 1 and the policy not adaptive.
    """
    if not is_whole(reports, 1):
        raise ConfigurationError('reports must be a number of reports for each symbol, 1 or more, '
                                 f'not {reports!r}', setting='reports')
    if reports > 1 and policy not in ('adaptive', AUTO):
        raise ConfigurationError(f'{reports} reports for each symbol (report_period) need the '
                                 f'policy adaptive (of logs: mechanism causal), not {policy}',
                                 setting='reports')
    if reports > MOST_REPORTS:
        raise ConfigurationError(f'{reports:,} reports for each symbol (report_period): at most '
                                 f'{MOST_REPORTS:,} are possible', setting='reports')


def check_zones(policy: str, setting: str, zones: object) -> None:
    """
    Refuse zones with a policy, or a selection without one, that does not support them.

    :param setting: 'policy' or 'selection'.
    :param zones: of `core.privacy.Privacy`; None: there are none.
    :raises ConfigurationError: there are, and it does not.
    """
    if zones is not None and policy not in (*IN_ZONES, AUTO):
        raise ConfigurationError(f'with zones, the {setting} {policy} cannot be used: take the '
                                 'policy adaptive or, for whole words, the selection exponential',
                                 setting=setting)
