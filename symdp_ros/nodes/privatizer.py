# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `privatizer`: a robot's region comes in, a private one goes out."""
if __name__ == '__main__':  # before the imports, which are slow
    from symdp_ros.nodes.program import run_program
    raise SystemExit(run_program('privatizer'))

from collections.abc import Hashable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, replace
import os
from pathlib import Path
from time import time_ns
from typing import Any, TYPE_CHECKING

from rclpy.clock import Clock, ClockType
from std_msgs.msg import String
from symdp_ros.core.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.core.registry import AUTO
from symdp_ros.errors import ConfigurationError, printable, SymdpError
from symdp_ros.files.resources import resolve_kept
from symdp_ros.ledger.charging import Charging
from symdp_ros.maps.dead_ends import counted, unreached
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.pose_report import never_found_text
from symdp_ros.maps.reports import certainty, hidden
from symdp_ros.maps.zones import zones_sentences
from symdp_ros.messages.field_paths import NOT_INPUT
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.options import (KEPT_REGIONS, NO_FILE, OUTPUT_DOMAIN, output_topic,
                               private_topics)
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.ros.graph.qos_overrides import check_qos_overrides
from symdp_ros.ros.graph.topic_claim import TopicClaim
from symdp_ros.ros.lifecycle import ManagedNode
from symdp_ros.ros.live.broker import Broker
from symdp_ros.ros.live.live_diagnostics import LiveDiagnostics, public_settings
from symdp_ros.ros.live.live_input import LiveInput
from symdp_ros.ros.live.remaining_report import RemainingReport
from symdp_ros.ros.live.ticks import SimulatedTicks, SteadyTicks
from symdp_ros.ros.outputs import check_topics, OfMap, Outputs, read_for_outputs
from symdp_ros.ros.outputs.publication import latched
from symdp_ros.ros.process.output_domain import OuterNode
from symdp_ros.ros.process.spinning import run
from symdp_ros.words.live_memory import LiveMemories
from symdp_ros.words.live_sampling import (EveryChange, EveryMessage, EveryPeriod, nobody_draws,
                                           nobody_goes_on, steady_clock_name)
from symdp_ros.words.live_word import HOUR, LiveWord, Start
from symdp_ros.words.rules import LIVE_UNKNOWN_SYMBOL
from symdp_ros.words.sampling_settings import SamplingSettings
from symdp_ros.words.visit_rule import settled

if TYPE_CHECKING:
    from symdp_ros.core.chain import Chain
    from symdp_ros.core.online import OnlineMechanism
    from symdp_ros.maps.positions import Locator

_PROTECTS = {
    'message': 'sampling: message: ε covers which regions the messages name, not how many there '
               'are nor when they come',
    'change': 'sampling: change: ε covers which regions are entered, not how many nor when: how '
              'long the robot stays is visible',
}
_ZONE_TOPIC = output_topic('zone')


@dataclass(frozen=True, eq=False)
class LiveChoice:
    """
    What draws live words.

    :param settings: of the mechanism; they leave nothing open.
    :param sampling: of its words, in the same way.
    :param taken: the name of what `auto` took; '': nothing was left open.
    """

    settings: MechanismSettings
    sampling: SamplingSettings
    taken: str
    mechanism: 'OnlineMechanism'


def live_choice_of(values: Mapping[str, Any],
                   chains: 'MutableMapping[Hashable, Chain] | None' = None) -> LiveChoice:
    """
    Return what draws, of the values of options: read the map, choose, make it.

    :param chains: those made before; the one of these values is taken from there, or put there.
    """
    map_settings = MapSettings.of(values)
    graph = map_settings.read()
    sampling, settings = settled(values, graph)
    if settings.policy == AUTO and 'belief' in values['outputs']:
        settings = replace(settings, policy='adaptive')
    settings.check()
    privacy = sampling.privacy(values['epsilon'], values['adjacency'], map_settings.zones())
    chain, known = sampling.chain(graph), {} if chains is None else chains
    chain = known.setdefault((chain.digest(), chain.single.digest(), chain.ticks), chain)
    sampling.check(chain, LIVE_UNKNOWN_SYMBOL)
    taken = choose(chain, privacy, settings)
    mechanism = taken.online(chain, privacy)
    mechanism.privatize([chain.initial_state] * 2)  # so that the first one is no slower
    return LiveChoice(taken, sampling, taken.name if len(
        settings.available(privacy.zones)) > 1 else '', mechanism)


class Privatizer(ManagedNode):
    """
    Publishes, for each sensitive region, a private one that the chain allows.

    Subscribes: `region`, or `pose` with `input: pose` (`message_type`), or with `broker` an MQTT
    topic of VDA 5050, where it publishes private states, too; publishes:
    `private_region` (`output_type`), latched, the other `outputs` (`ros.outputs`), and with
    `zones_file` `private_zone`, in `output_domain`, if that is set; `/diagnostics` at 1 Hz.
    Parameters: `options.PARAMETERS`. The word goes on over every transition and restart; none has
    a region drawn twice (`words.live_sampling`). After a restart the last private region is
    published once more, without a draw, so that late subscribers of the latched topic see it; with
    several regions for each symbol, the next comes. The word is kept in `state_file`; by default
    that is in the folder of ROS, named by ROS domain and node. With `delay`, the private region of
    a symbol leaves with a later one; what is held back when the node is deactivated leaves when it
    is active again. Nothing but the outputs depends on what comes in.

    :param memories: of all such nodes of the process: a node that takes the place of another goes
        on where that one was.
    :param random: for tests, an object with `getrandbits`.
    """

    #: Whether it has computed, and logs, what others still see.
    tells_what_remains = True

    def __init__(self, *, memories: LiveMemories | None = None, random=None, **kwargs):
        super().__init__('privatizer', **kwargs)
        self._random = random
        self._claims: list[TopicClaim] = []
        self._memories = LiveMemories() if memories is None else memories
        self._word = self._sampling = None  # kept over a cleanup
        self._input = self._outputs = self._diagnostics = self._zones = self._broker = None
        self._outer_node = self._subscription = self._ticks = self._remaining = None
        self._renewals = None

    def prepare(self) -> 'tuple[LiveChoice, Locator | None, OfMap]':
        """Read the map, choose what draws, and make it; find out where the regions are."""
        values = self.settings
        map_settings, given = MapSettings.of(values), InputSettings.of(values)
        locator = None if not given.is_pose else map_settings.locator(
            map_settings.read(), given.hysteresis, given.max_distance)
        return self.live_choice(), locator, read_for_outputs(values)

    def live_choice(self) -> LiveChoice:
        """Choose what draws, and make it."""
        return live_choice_of(self.settings)

    def configure(self):
        values = self.settings
        chosen, locator, of_map = self.prepared()
        self.map_settings, self.input_settings = MapSettings.of(values), InputSettings.of(values)
        self.sampling_settings = sampling = chosen.sampling
        self.mechanism_settings, mechanism = chosen.settings, chosen.mechanism.another(
            random=self._random)
        chain, privacy = mechanism.chain, mechanism.privacy
        memory = self._memories.of(self.get_fully_qualified_name(), self._source(),
                                   self._all_settings())
        self.input_settings.check_broker()
        if self.input_settings.broker:
            self._broker = Broker(self, self.input_settings)
        # Warn once per process: else repeated lifecycle calls would reveal state through the log.
        self._input = LiveInput(self, self.input_settings, locator, sampling,
                                chain.states, self._broker, former=memory.locator,
                                warns=memory.sampling is None)
        if chosen.taken:
            self.get_logger().info(f'auto takes "{chosen.taken}"')
        if locator is not None and (never := never_found_text(
                locator, self.input_settings.level_field)):
            self.get_logger().warning(never)
        if self._input.message_type is not None:
            check_qos_overrides(self, 'subscription', self._input.name)
        self._check_topics()
        self._claim_topics()
        self._log_promise(chain, privacy)
        # Not the system's clock: it may be set back or ahead.
        self._live_clock = self.get_clock() if self._simulated() else Clock(
            clock_type=ClockType.STEADY_TIME)
        if self._output_domain != self._domain:
            self._outer_node = OuterNode(self, self._output_domain)
        publishing = self._outer_node or self
        self._word = memory.word = self._open_word(mechanism, memory.word)
        self._sampling = memory.sampling = memory.sampling or self._make_sampling(
            memory.has_read, privacy.zones is not None)
        self._sampling.draw, memory.locator = self._draw, self._input.locator
        if sampling.has_period:
            self._sampling.go_on = self._go_on
        self._outputs = Outputs(publishing, values, chain, of_map)
        if privacy.zones is not None:
            self._zones = publishing.create_publisher(String, _ZONE_TOPIC, latched(KEPT_REGIONS))
        self._diagnostics = LiveDiagnostics(
            self, self._input,
            public_settings(self.map_settings.path.name, mechanism, sampling) | self._delay,
            regular=sampling.rule == 'message')

    def activate(self):
        now = self._live_clock.now().nanoseconds
        start = self._word.begin(now)
        if self.settings['renew']:  # before the ticks of symbols: of one instant, it comes first
            self._renewals = self._ticks_of(self._word.renew(now), self._word.renew,
                                            round(self.settings['renew'] * HOUR))
        first_tick = self._sampling.start(start, now, self._word.drawn_at)
        is_last = self._word.mechanism.stride == 1  # else others came after it, without a draw
        if start is Start.AFTER_RESTART and self._word.last is not None and is_last:
            # No draw: late subscribers see the region that the last process published.
            self._send(self._word.last)
            self._publish_zone()
        if first_tick is not None:
            self._ticks = self._ticks_of(first_tick, self._tick,
                                         round(self.sampling_settings.seconds * 1e9))
        if self._input.look is None:
            self._subscription = self._input.subscribe(
                self._on_message if first_tick is None else self._on_message_timed,
                latched=self._sampling.takes_latched)
        in_graph = self._subscription if self._input.message_type is not None else None
        self._diagnostics.activate(in_graph)
        self.get_logger().info(
            f'active: reads {self._input.description}, publishes {self._outputs.topics}'
            + ('' if self._zones is None else
               f', {self._zones.topic_name} (std_msgs/msg/String)')
            + ('' if self._outer_node is None else
               f' in ROS domain {self._output_domain}, and nothing else there')
            + ('' if self._broker is None else f', {self._broker.topic.private} (MQTT)')
            + ('; waits for a publisher' if in_graph is not None and in_graph.waits
               else '') + f' ({self._how()}){self._until_the_first()}. {self._to_check()}')
        if self.tells_what_remains and self.sampling_settings.protect and not self._remaining:
            with suppress(OSError):  # there is no room for another process
                self._remaining = RemainingReport(self, self.settings)

    def stop(self):
        super().stop()
        if self._remaining is not None:
            self._remaining.end()

    def _to_check(self):
        """Return how an operator sees whether the regions are those of the map."""
        if self._input.message_type is None:
            return 'symdp check shows the map'
        return f'symdp check MAP --topic {self._input.topic} ' + (
            'shows whether its names are regions' if self._input.locator is None else
            '--input pose shows how far its poses lie from regions')

    def deactivate(self):
        if self._subscription is not None:
            self._subscription.destroy()
            self._subscription = None
        if self._diagnostics is not None and self._diagnostics.active:
            self._diagnostics.deactivate()
            self.get_logger().info('inactive')
        for ticks in (self._ticks, self._renewals):
            if ticks is not None:
                ticks.destroy()
        self._ticks = self._renewals = None

    def cleanup(self):
        if self._diagnostics is not None:
            self._diagnostics.destroy()
        if self._input is not None:
            self._input.close()
        if self._outputs is not None:
            self._outputs.destroy()
        if self._zones is not None:
            destroy_when_delivered(self._outer_node or self, self._zones)
            self._zones = None
        if self._broker is not None:
            self._broker.close()
            self._broker = None
        if self._outer_node is not None:
            self._outer_node.leave()
            self._outer_node = None
        for closable in (self._word, *self._claims):
            if closable is not None:
                closable.close()
        if self._sampling is not None:
            # Nothing keeps this node that outlives it.
            self._sampling.draw, self._sampling.go_on = nobody_draws, nobody_goes_on
        self._claims = []
        self._input = self._outputs = self._diagnostics = None

    @property
    def _domain(self):
        return self.context.get_domain_id()

    @property
    def _output_domain(self):
        domain = self.settings['output_domain']
        return self._domain if domain == OUTPUT_DOMAIN.default else domain

    @property
    def _published(self):
        return [*map(self.resolve_topic_name, private_topics(self.settings)),
                *([] if self._broker is None else [self._broker.topic.private])]

    @property
    def _delay(self):
        """Return what is to be said of the delay: name → value, empty where there is none."""
        sampling, delay = self.sampling_settings, self.mechanism_settings.delay
        if not delay:
            return {}
        unit = {'message': 'messages', 'change': 'changes'}.get(sampling.rule)
        return {'delay': f'{delay} {unit}' if unit else f'{delay * sampling.period:g} s'}

    def _until_the_first(self):
        sampling = self.sampling_settings
        if not sampling.has_period or self._word.last is not None:
            return ''
        seconds = sampling.period * (1 + self.mechanism_settings.delay)
        return f'; the first private region comes in {seconds:g} s'

    def _source(self):
        """Return what is read, and where: who reads it next may meet a region that was drawn."""
        source = self.input_settings
        domain = None if source.broker else self._domain  # a broker is the same in all
        return (domain, source.elsewhere or self.resolve_topic_name(source.topic),
                source.field, str(source.where))

    def _all_settings(self):
        return {**self.settings, 'topics': [*self._source(), *self._published],
                'simulated': self._simulated()}

    def _check_topics(self):
        if self.settings['output_domain'] == self._domain:
            raise ConfigurationError(
                f'output_domain is {self._domain}, the ROS domain of this node, in which its '
                'region is, too: give the node another (ROS_DOMAIN_ID), or leave output_domain '
                'out')
        if 'belief' in self.settings['outputs'] and self.mechanism_settings.policy != 'adaptive':
            raise ConfigurationError(
                'outputs: belief needs policy: adaptive', setting='outputs')
        check_topics(self._published, [self._input.topic] if self._output_domain == self._domain
                     else [])

    def _claim_topics(self):
        at_broker = None if self._broker is None else self._broker.topic.private
        for topic in self._published:
            # A broker has one topic for all ROS domains.
            domain = 'MQTT' if topic == at_broker else self._output_domain
            claim = TopicClaim(
                domain, f'onto {topic}', 'another privatizer on this machine '
                f'already publishes {topic}: stop it, or give this one private topics of its own '
                '(remap them)')
            self._claims.append(claim)
            if claim.blocked_by:
                self.get_logger().warning(
                    f'{claim.blocked_by} holds the name by which privatizers onto {topic} on this '
                    'machine detect each other: if it is a privatizer, there are two')
        topic = self._input.topic
        # Of a topic that several robots share, each robot's part is claimed.
        source = self.input_settings
        part = f' {source.field} {list(source.where)}' if source.is_shared else ''
        try:
            self._claims.append(TopicClaim(
                self._domain, f'from {topic}{part}', 'another privatizer on this machine reads '
                f'{topic} too, and publishes on another topic: anyone who reads both gets the '
                'sum of their ε'))
        except ConfigurationError as error:
            self.get_logger().warning(str(error))

    def _open_account(self):
        path, charging = self.settings['ledger_file'], Charging.of(self.settings)
        if not path:
            if charging.subject or charging.is_limited:
                raise ConfigurationError('subject, subject_budget, accounting, delta and renew '
                                         'need a ledger_file')
            return None
        if not charging.subject:
            raise ConfigurationError('ledger_file needs a subject: name whose regions these are')
        from symdp_ros.ledger.live_account import LiveAccount, log_account  # where there is one

        account = LiveAccount(resolve_kept('ledger_file', path, self.get_logger().warning),
                              charging, self.sampling_settings)
        for problem in account.ledger.problems():
            self.get_logger().error(f'ledger: {problem}')
        log_account(account.ledger, account.subject, self.get_logger())
        return account

    def _state_file(self):
        """Return the path of the file that keeps the word; None: none does."""
        given, log = self.settings['state_file'], self.get_logger()
        if given:
            return None if given == NO_FILE else resolve_kept('state_file', given, log.warning)
        name = f'{self._domain}{self.get_fully_qualified_name().replace("/", ".")}.word'
        folder = Path(os.environ.get('ROS_HOME') or '~/.ros')
        try:
            folder = resolve_kept('ROS_HOME', str(folder), log.warning) / 'symdp_ros'
            folder.mkdir(0o700, parents=True, exist_ok=True)
            os.close(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600))
        except (OSError, ConfigurationError) as error:
            log.warning(
                f'nothing keeps the word over a restart: {printable(folder / name)} cannot be '
                f'written ({getattr(error, "strerror", error)}). What was published before the '
                'start is not drawn. Set ROS_HOME to a folder that this node may write, or '
                'state_file')
            return None
        return folder / name

    def _open_word(self, mechanism, former):
        account = self._open_account()
        read, published = self._input.topic, self.resolve_topic_name('private_region')
        domains = f'ROS domain {self._domain}' + (
            '' if self._outer_node is None else f', the private topic in {self._output_domain}')
        try:
            return LiveWord(
                mechanism, described=self._described(mechanism),
                topics=f'{read} and {published} ({domains})',
                clock='simulated time' if self._simulated() else steady_clock_name(),
                state_file=self._state_file(),
                account=account, renew=round(self.settings['renew'] * HOUR),
                calendar=self._calendar(), former=former, logger=self.get_logger())
        except SymdpError:
            if account is not None:
                account.close()
            raise

    def _calendar(self):
        """Return what makes times of the live clock times that hold after the next boot, too."""
        return 0 if self._simulated() else time_ns() - self._live_clock.now().nanoseconds

    def _ticks_of(self, wait, tick, period):
        """Return what calls `tick` by the live clock, in nanoseconds (`ros.live.ticks`)."""
        if self._simulated():
            return SimulatedTicks(self, self._live_clock, wait, tick)
        return SteadyTicks(self, self._live_clock, wait, tick, period)

    def _simulated(self):
        return self.get_clock().ros_time_is_active

    def _described(self, mechanism):
        sampling = self.sampling_settings
        simulated = sampling.has_period and self._simulated()
        return {**self.mechanism_settings.described(mechanism.chain, mechanism.privacy),
                **sampling.symbols(), **({'clock': 'simulated time'} if simulated else {})}

    def _make_sampling(self, waits, tells_zones):
        sampling = self.sampling_settings
        if sampling.has_period:
            # A zone is told with every report.
            period, reports = (sampling.seconds, 1) if tells_zones else (
                sampling.period, sampling.reports)
            return EveryPeriod(self._draw, period=round(period * 1e9),
                               timeout=round(sampling.input_timeout * 1e9), reports=reports)
        return {'message': EveryMessage, 'change': EveryChange}[sampling.rule](
            self._draw, drop_unknown=sampling.unknown_symbol == 'drop', waits=waits)

    def _log_promise(self, chain, privacy):
        """Log what is hidden, and warn of what hides little."""
        sampling, warn = self.sampling_settings, self.get_logger().warning
        told, of_zones = ('', '') if privacy.zones is None else zones_sentences(privacy.zones)
        self.get_logger().info(
            f'hidden: {hidden(sampling.protect, privacy)}, with ε = {privacy.epsilon:g}: '
            f'{certainty(privacy.epsilon)}' + (told and f'. {told}. {_ZONE_TOPIC} has the zone'))
        for warning in (unreached(chain), of_zones, _PROTECTS.get(sampling.rule, '')):
            if warning:
                warn(warning)
        if 0 < sampling.protect < 1:
            warn(f'protect: {sampling.protect:g}: no visit of a second is hidden')
        if privacy.zones is not None and not sampling.has_period:
            warn('zones with sampling: message: the number of messages since a zone was entered '
                 'can show which region it is; sampling: period does not')
        if sampling.unknown_symbol == 'drop':
            warn('unknown_symbol: drop: silence shows that the region is unknown')
        if self._input.locator is not None and not sampling.has_period:
            warn('input: pose without sampling: period: when a private region comes can show, by '
                 'some microseconds, that the robot is between two regions')

    def _how(self):
        """Return in a few words how private regions are made."""
        mechanism, sampling = self._word.mechanism, self.sampling_settings
        chain, privacy = mechanism.chain, mechanism.privacy
        targets = mechanism.targets or mechanism.tables
        return '; '.join([
            f'chain {self.map_settings.path.name}: {len(chain)} states, {chain.edge_count} moves',
            f'k = {privacy.adjacency}, {self.mechanism_settings.text(chain)}',
            *([f'targets within {targets.radius} moves, {targets.nbytes / 1e6:,.0f} MB']
              if targets is not None and targets.radius is not None else []),
            f'one symbol every {sampling.period:g} s' if sampling.has_period else
            f'one symbol for each {sampling.rule}',
            *([f'{sampling.reports} private regions for each symbol, one every '
               f'{sampling.seconds:g} s'] if sampling.reports > 1 else []),
            *([f'within {counted(sampling.moves, "move")} of the one before']
              if sampling.moves else []),
            *[f'each private region leaves {delay} later' for delay in self._delay.values()]])

    def _on_message(self, message):
        region = self._input.read(message)
        if region is not NOT_INPUT:
            self._sampling.read(region, -1)

    def _on_message_timed(self, message):
        region = self._input.read(message)
        if region is not NOT_INPUT:
            self._sampling.read(region, self._live_clock.now().nanoseconds)

    def _tick(self, now):
        return self._sampling.tick(now, self._input.look)

    def _draw(self, region, now):
        output = self._word.draw(region, now)
        self._publish_zone()
        self._publish(output)

    def _publish_zone(self):
        if self._zones is not None:
            self._zones.publish(String(data=self._word.mechanism.zone))

    def _go_on(self, reports, publishes):
        if self._word.mechanism.tables is None:
            return
        if publishes:
            self._publish(self._word.tick())
        else:
            self._word.skip(reports)

    def _publish(self, output):
        if output is not None:
            self._send(output)
            self._diagnostics.published += 1

    def _send(self, region):
        self._outputs.publish(region, self._word.mechanism.posterior)
        if self._broker is not None:
            self._broker.publish(region, self.get_clock().now().nanoseconds)


def main(arguments=None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    return run(Privatizer, arguments)
