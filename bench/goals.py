# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The goals, all numbers in one place, and what it takes to meet them."""
from dataclasses import dataclass

AT_MOST, AT_LEAST = '≤', '≥'


@dataclass(frozen=True)
class Goal:
    """
    One goal.

    :param name: for rows, JSON and tests.
    :param what: what is measured.
    :param against: what it is measured against.
    :param limit: the number to be met, in the unit.
    :param sense: '≤': the value (what : against) is at most the limit; '≥': the value (against :
        what; how many times faster) is at least that.
    :param unit: '×' for ratios.
    """

    name: str
    what: str
    against: str
    limit: float
    sense: str = AT_MOST
    unit: str = '×'

    def is_met(self, value: float) -> bool:
        """Return whether the value meets the goal (NaN does not)."""
        return value <= self.limit if self.sense == AT_MOST else value >= self.limit

    def __str__(self):
        """Return such as '≤ 7×' or '≥ 250× faster'."""
        faster = ' faster' if self.sense == AT_LEAST else ''
        return f'{self.sense} {in_unit(self.limit, self.unit)}{faster}'


def in_unit(value: float, unit: str) -> str:
    """Return the value to three digits, with its unit; × stands close to the number."""
    if value == 0:
        number = '0'
    elif value < 1 / 10 and unit == '×':
        number = f'1/{1 / value:.3g}'
    elif abs(value) >= 1_000:
        digits = len(str(int(abs(value)))) - 3
        number = f'{round(value, -digits):,.0f}'
    else:
        number = f'{value:.3g}'
    return number + unit if unit == '×' else f'{number} {unit}'


_STEP = 'one online step, m = 43'
_ROUTE = 'one route, exponential, '
_AUTOMATON = "the package's exact automaton"
_DYNAMAX = 'dynamax `hmm_posterior_sample`, jitted'
_MATVECS = 'the n scipy sparse mat-vecs alone'
_RELEASE = '10⁶ routes × 50, Parquet to Parquet, '
_URANDOM = 'filling the buffer from `os.urandom`'
_NODE = '`privatizer` between two processes: '
_RELAY = 'a bare rclpy relay in its place'

GOALS = {goal.name: goal for goal in (
    Goal('step-empty', _STEP, 'an empty Python call', 7),
    Goal('step-tells',
         'how well the time of one online step tells whether the truth was published',
         'guessing', 0.52, unit='AUC'),
    Goal('step-opendp', _STEP, 'OpenDP `make_randomized_response`', 250, AT_LEAST),
    Goal('step-diffprivlib', _STEP, 'diffprivlib `ExponentialCategorical`', 70, AT_LEAST),
    Goal('state-memory', 'online state, 10,000 states', 'a state', 1_000, unit='bytes'),
    Goal('adaptive-100', 'one step, policy adaptive, 100 states', 'the clock', 1, unit='ms'),
    Goal('adaptive-100-later', 'one step, policy adaptive, delay 10, 100 states', 'the clock', 1,
         unit='ms'),
    Goal('adaptive-1000-later', 'one step, policy adaptive, delay 10, 1,000 states of degree 4',
         'the clock', 10, unit='ms'),
    Goal('adaptive-10000-later', 'one step, policy adaptive, delay 10, a grid of 100 × 100',
         'the clock', 5, unit='ms'),
    Goal('adaptive-log', 'a log of 10⁴ symbols, policy adaptive, 1,000 states', 'the clock', 3,
         unit='s'),
    Goal('adaptive-log-memory', 'the same log', 'memory', 200, unit='MB'),
    Goal('start-up', 'start-up of the online mechanism, 10,000 states of degree 4', 'the clock',
         50, unit='ms'),
    Goal('auto', 'what `auto` takes for a log, 100 states', 'the clock', 10, unit='ms'),
    Goal('prepared-200', 'choice, tables and first draw of a `privatizer`, 200 states',
         'processor time', 0.2, unit='s'),
    Goal('prepared-2000', 'choice, tables and first draw, 2,000 states', 'processor time', 1,
         unit='s'),
    Goal('calibrate-100', '`symdp calibrate --protect 30`, 100 states', 'the clock', 3, unit='s'),
    Goal('calibrate-743', '`symdp calibrate`, 743 states', 'the clock', 75, unit='s'),
    Goal('explore-100', '`symdp explore`, 100 states', 'the clock', 30, unit='s'),
    Goal('explore-743', '`symdp explore`, 743 states', 'the clock', 90, unit='s'),
    Goal('automaton-14', _ROUTE + '(43, 14)', _AUTOMATON, 500, AT_LEAST),
    Goal('automaton-100', _ROUTE + '(43, 100)', _AUTOMATON, 10_000, AT_LEAST),
    Goal('dynamax-43', _ROUTE + '(43, 1000)', _DYNAMAX, 5, AT_LEAST),
    Goal('dynamax-1000', _ROUTE + '(1000, 1000)', _DYNAMAX, 80, AT_LEAST),
    Goal('openfst', _ROUTE + '(43, 1000)', 'OpenFst (pynini): compose, push, sample', 100,
         AT_LEAST),
    Goal('matvecs-1000-1000', _ROUTE + '(1000, 1000), degree 4', _MATVECS, 0.7),
    Goal('matvecs-1000-10000', _ROUTE + '(1000, 10⁴), degree 4', _MATVECS, 0.8),
    Goal('matvecs-10000-10000', _ROUTE + '(10⁴, 10⁴), degree 4', _MATVECS, 1.0),
    Goal('base-chain-1000', _ROUTE + 'base: chain, (1000, 1000)', 'base: counting', 1.3),
    Goal('base-chain-10000', _ROUTE + 'base: chain, (1000, 10⁴)', 'base: counting', 1.3),
    Goal('models-1000', _ROUTE + 'six models, (1000, 1000)', 'one model', 3.5),
    Goal('models-10000', _ROUTE + 'six models, (1000, 10⁴)', 'one model', 3.5),
    Goal('memory', 'memory of a route, (10⁴, 10⁴)', 'storing every message', 1 / 25),
    Goal('map-size', 'n = 14 on 10⁵ states of a map-like graph', 'the same on 10³', 1.2),
    Goal('batch-online', 'batch of routes, online, |S| = 43, randomness included', _URANDOM, 0.75),
    Goal('batch-offline', 'batch of routes, offline, n = 100, randomness included', _URANDOM, 3),
    Goal('parquet-online', _RELEASE + 'online', 'copying the file', 1.5),
    Goal('parquet-offline', _RELEASE + 'offline', 'copying the file', 3),
    Goal('ledger-summary', '`symdp ledger` of 10⁵ subjects, all verified', 'the clock', 5,
         unit='s'),
    Goal('ledger-charge', 'one more charge to a ledger of 10⁵ subjects', 'the clock', 2,
         unit='s'),
    Goal('node-round-trip', _NODE + 'median round trip', _RELAY, 1.02),
    Goal('node-service-time', _NODE + 'service time', _RELAY, 1.10),
    Goal('node-loss', _NODE + 'messages lost at 16,000 a second', 'none', 0, unit='messages'),
    Goal('node-loss-later', '`privatizer`, policy auto, delay 3, 100 states: messages lost at '
         '1,000 a second', 'none', 0, unit='messages'),
    Goal('node-start', 'start of `privatizer` to its first private symbol',
         'start of the bare relay to its first message', 1.3),
    Goal('node-start-processor', 'processor time of the same start, policy auto, 100 states',
         'that of the relay', 2.0),
    Goal('node-memory', 'memory of `privatizer` then', 'that of the relay', 1.3),
)}
