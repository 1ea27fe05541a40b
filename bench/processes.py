# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of real processes: `privatizer` against a bare relay in its place (`nodes`)."""
from importlib.util import find_spec
from statistics import median

from bench import nodes
from bench.measure import Figure, medians, NotMeasured, Row

_STARTS = 15  # of each, as some of them take seconds longer, whichever it is


def _check():
    # Only looked for: the wheels of rclpy start the process anew when it is imported.
    if find_spec('rclpy') is None:
        raise NotMeasured('needs ROS 2 (rclpy)')


def _control(measured):
    """Return what the machine makes of equal things, for a note."""
    control = Figure('', tuple(measured.ratios('control')))
    lower, upper = control.quartiles
    return f'Bare against bare: {control.median:.3g}× ({lower:.3g}× to {upper:.3g}×).'


def _round_trip(effort):
    _check()
    measured = nodes.round_trip(effort.rounds, effort.either(200, 2_000))
    yield Figure('node-round-trip', tuple(measured.ratios()), medians(measured.seconds),
                 _control(measured))


def _service(effort):
    _check()
    measured, lost, rates = nodes.service(effort.rounds, effort.either(0.1, 1.0))
    yield Figure('node-service-time', tuple(measured.ratios()), medians(measured.seconds),
                 _control(measured))
    if median(rates) < nodes.RATE:
        raise NotMeasured(f'the sender reached {median(rates):,.0f} messages a second')
    yield Figure('node-loss', (lost['privatizer'],), {},
                 f'Of {len(rates)} bursts the slowest had {rates[0]:,.0f} messages a second, half '
                 f'of them {median(rates):,.0f} or more. With a state file '
                 f'{lost["privatizer with a state file"]} were lost; the bare relay lost '
                 f'{lost["relay"]}, its twin {lost["control"]}.')


def _later(effort):
    _check()
    lost, sent = nodes.lost_later(effort.either(1.0, 60.0))
    yield Figure('node-loss-later', (lost,), {}, f'{sent:,} messages were sent.')


def _start(effort):
    _check()
    effort.only_full()
    measured, processor, memory = nodes.start(_STARTS)
    relay, control = measured.median('relay'), measured.median('control')
    slow = {name: sum(one > 2 * relay for one in seconds)
            for name, seconds in measured.seconds.items()}
    yield Figure('node-start', tuple(one / relay for one in measured.seconds['privatizer']),
                 medians(measured.seconds),
                 f'Bare against bare: {control / relay:.3g}×. More than twice as long as the '
                 f'median of the relay took {slow["privatizer"]} of {_STARTS} starts of '
                 f'`privatizer`, {slow["relay"]} of the relay and {slow["control"]} of its twin.')
    auto = 'privatizer, policy auto'
    yield Figure('node-start-processor', tuple(processor.ratios(auto)),
                 medians(processor.seconds), _control(processor))
    yield Figure('node-memory', tuple(memory.ratios(auto)), {
        name: value / 1e6 for name, value in medians(memory.seconds).items()}, _control(memory))


ROWS = (
    Row('round-trip', ('node-round-trip',), _round_trip,
        'One message at a time goes from a third process through the node and back. The relay is '
        'rclpy alone, with the QoS, the executor and the loop of `privatizer`; it makes a message '
        'of what it receives, and bytes of that, which `privatizer` spares itself. Its policy is '
        'guided. It takes each message twice, by a reliable and by a best-effort subscription, as '
        'it does not know which publishers may come; where `qos_overrides` say that they are '
        'reliable, once. A second relay, the control, shows what equal things make of each '
        'other.'),
    Row('service', ('node-service-time', 'node-loss'), _service,
        'Bursts of 16,000 messages a second through each. Service time is the processor time of '
        "the node's process for each message, all its threads together; messages that do not "
        'come back are counted. On this map `auto` takes adaptive.'),
    Row('later', ('node-loss-later',), _later,
        'A message of 100 states each millisecond; policy auto takes adaptive.'),
    Row('start', ('node-start', 'node-start-processor', 'node-memory'), _start,
        'From the start of the process to the first message that comes out, while regions are '
        "published every 5 ms; each start of `privatizer` against the median of the relay's. With "
        'policy auto the map has 100 states. Memory is what is resident then, in MB.'),
)
