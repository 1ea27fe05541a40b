# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of real processes: `privatizer` against a bare relay in its place (`nodes`)."""
from statistics import median

from bench import nodes
from bench.measure import Figure, medians, NotMeasured, quartiles_of, ratios, Row

_STARTS = 15  # of each, as some of them take seconds longer, whichever it is


def _figure(goal, seconds, name='privatizer'):
    """Return a contestant against the relay, and what the machine makes of equal things."""
    found, control = (ratios(seconds[one], seconds['relay']) for one in (name, 'control'))
    lower, upper = quartiles_of(control)
    return Figure(found, medians(seconds), f'Bare against bare: {median(control):.3g}× '
                  f'({lower:.3g}× to {upper:.3g}×).', goal=goal)


def _round_trip(effort):
    yield _figure('node-round-trip',
                  nodes.round_trip(effort.rounds, effort.either(200, 2_000)))


def _service(effort):
    duration = effort.either(0.1, 1.0)
    seconds, lost, rates = nodes.service(effort.rounds, duration)
    yield _figure('node-service-time', seconds)
    if median(rates) < nodes.RATE:
        raise NotMeasured(f'the sender reached {median(rates):,.0f} messages a second')
    yield Figure([lost['privatizer']], goal='node-loss', note=(
        f'Of {effort.rounds * round(nodes.RATE * duration):,} messages. '
        f'Of {len(rates)} bursts the slowest had {rates[0]:,.0f} messages a second, half of them '
        f'{median(rates):,.0f} or more. With a state file {lost["privatizer with a state file"]} '
        f'were lost; the bare relay lost {lost["relay"]}, its twin {lost["control"]}.'))


def _later(effort):
    lost, sent = nodes.lost_later(effort.either(1.0, 60.0))
    yield Figure([lost], note=f'{sent:,} messages were sent.', goal='node-loss-later')


def _start(effort):
    seconds, processor, memory = nodes.start(_STARTS)
    relay, control = (median(seconds[name]) for name in ('relay', 'control'))
    slow = {name: sum(one > 2 * relay for one in taken) for name, taken in seconds.items()}
    yield Figure([one / relay for one in seconds['privatizer']], medians(seconds), (
        f'Bare against bare: {control / relay:.3g}×. More than twice as long as the median of the '
        f'relay took {slow["privatizer"]} of {_STARTS} starts of `privatizer`, {slow["relay"]} of '
        f'the relay and {slow["control"]} of its twin.'), goal='node-start')
    for goal, found in (('node-start-processor', processor), ('node-memory', memory)):
        yield _figure(goal, found, 'privatizer, policy auto')


ROWS = (
    Row('round-trip', _round_trip,
        'One message at a time goes from a third process through the node and back. The relay is '
        'rclpy alone, with the QoS, the executor and the loop of `privatizer`; it makes a message '
        'of what it receives, and bytes of that, which `privatizer` spares itself. Its policy is '
        'guided. It takes each message twice, by a reliable and by a best-effort subscription, as '
        'it does not know which publishers may come; where `qos_overrides` say that they are '
        'reliable, once. A second relay, the control, shows what equal things make of each '
        'other.',
        ('node-round-trip',)),
    Row('service', _service,
        'Bursts of 16,000 messages a second through each. Service time is the processor time of '
        "the node's process for each message, all its threads together; messages that do not "
        'come back are counted. On this map `auto` takes adaptive.',
        ('node-service-time', 'node-loss')),
    Row('later', _later,
        'A message of 100 states each millisecond; policy auto takes adaptive.',
        ('node-loss-later',)),
    Row('start', _start,
        'From the start of the process to the first message that comes out, while regions are '
        "published every 5 ms; each start of `privatizer` against the median of the relay's. With "
        'policy auto the map has 100 states. Memory is what is resident then, in MB.',
        ('node-start', 'node-start-processor', 'node-memory'), slow=True),
)
