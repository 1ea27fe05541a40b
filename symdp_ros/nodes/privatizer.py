"""The node `privatizer`: a robot's region comes in, a private one goes out."""
import json
import sys

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from symdp_ros.core.errors import ConfigurationError
from symdp_ros.ros.adaptive_subscription import (OVERRIDABLE, AdaptiveSubscription,
                                                check_qos_overrides)
from symdp_ros.ros.lifecycle import ManagedNode
from symdp_ros.ros.messages import full_name, message_class, region_reader, region_writer
from symdp_ros.ros.parameters import Setting
from symdp_ros.ros.publishing import destroy_when_delivered
from symdp_ros.ros.resources import resolve_path
from symdp_ros.ros.settings import (CHAIN, INPUT, POLICY, PRIVACY, SUBJECT_BUDGET, chain_of,
                                    privacy_of, unknown_symbol)
from symdp_ros.ros.spinning import run
from symdp_ros.ros.state_file import StateFile, settings_digest
from symdp_ros.ros.topic_claim import TopicClaim
from symdp_ros.ros.watch import other_subscribers

_Type = Parameter.Type

SETTINGS = (
    *CHAIN, *PRIVACY, POLICY, *INPUT, unknown_symbol('uniform', 'drop'),
    Setting('output_type', _Type.STRING, 'std_msgs/msg/String',
            'type of the private topic: a string or integer in the field data'),
    Setting('state_file', _Type.STRING, '',
            'file that carries the word over a restart; empty: a restart begins a new word'),
    Setting('ledger_file', _Type.STRING, '',
            'ledger that every word is charged to, together with released logs; empty: none'),
    Setting('subject', _Type.STRING, '', 'with ledger_file: whose regions these are'),
    SUBJECT_BUDGET,
)

_PROTECTS = {
    'message': 'sampling: message: one symbol out for each message in. ε protects which regions '
               'they name, not how many messages there are nor when they come',
    'change': 'sampling: change: one symbol out for each change of region. ε protects which '
              'regions they are, not how many changes there are nor when: how long the robot '
              'stays is visible',
    'period': 'sampling: period: one symbol every {period:g} s, whatever comes in. The times tell '
              'nothing; one change of {period:g} s costs ε/k',
}
_INCOMING = 16_000  # messages that wait while one that was lost on the way is sent again
_QUEUE = 1000       # messages kept for a slow reader, or one that comes late


class Privatizer(ManagedNode):
    """
    Publishes, for each sensitive region, a private one that the chain allows.

    Subscribes: `region` (`message_type`); publishes: `private_region` (`output_type`), latched;
    `/diagnostics` at 1 Hz. Parameters: `SETTINGS`. The word goes on while the node is configured,
    over deactivation too, and with `state_file` over restarts. Nothing but `private_region`
    depends on what comes in.

    :param random: for tests, an object with `getrandbits`.
    """

    def __init__(self, *, random=None, **kwargs):
        super().__init__('privatizer', SETTINGS, **kwargs)
        self._random = random
        self._word_has_begun = False
        self._last_word = None, None  # the settings of the last word, and its last symbol
        self._claims = []
        self._state_file = self._ledger = None
        self._publisher = self._diagnostics = None
        self._subscription = self._tick_timer = self._diagnostics_timer = None

    def configure(self):
        # Not before the node exists: while this is imported, the others get to know of it.
        from symdp_ros.core.online import OnlineMechanism

        settings = self.settings
        chain, self._chain_name = chain_of(settings)
        privacy = privacy_of(settings)
        self._check_sampling(chain)
        self._message_type = message_class(settings['message_type'])
        reader = region_reader(self._message_type, settings['field'], chain.states,
                               settings['symbol_map'], settings['no_region'])
        self._reads_serialized = reader.read_serialized is not None
        self._read = reader.read_serialized or reader.read
        output_type = message_class(settings['output_type'])
        self._write = region_writer(output_type, chain.states, settings['symbol_map'])
        self._mechanism = OnlineMechanism(chain, privacy, policy=settings['policy'],
                                          random=self._random)
        check_qos_overrides(self, 'subscription', 'region')
        check_qos_overrides(self, 'publisher', 'private_region')
        self._claim_topics()
        self._tell(chain, privacy)
        self._open_ledger()
        self._open_state_file(chain, privacy)
        self._published = self._reported = 0
        self._warned = []
        self._publisher = self.create_publisher(
            output_type, 'private_region',
            QoSProfile(depth=_QUEUE, durability=DurabilityPolicy.TRANSIENT_LOCAL),
            qos_overriding_options=QoSOverridingOptions(OVERRIDABLE))
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._reported_at = steady.now()
        self._diagnostics_timer = self.create_timer(1.0, self._report, clock=steady)

    def activate(self):
        sampling = self.settings['sampling']
        # A word that goes on has had the symbols of what was published before: another draw for
        # the same region would tell more of it. (With a period, a tick draws once anyway.)
        latched = sampling == 'period' or not self._word_has_begun
        self._begin_word()
        self._region = self._region_at = None
        on_message = {'message': self._on_message, 'change': self._on_change,
                      'period': self._on_region}[sampling]
        if sampling == 'period':
            self._tick_timer = self.create_timer(self.settings['period'], self._tick)
        self._subscription = AdaptiveSubscription(self, self._message_type, 'region', on_message,
                                                  depth=_INCOMING, latched=latched,
                                                  serialized=self._reads_serialized)
        self.get_logger().info('active')

    def deactivate(self):
        if self._subscription is not None:
            self._subscription.destroy()
            self._subscription = None
        if self._tick_timer is not None:
            self.destroy_timer(self._tick_timer)
            self._tick_timer = None

    def cleanup(self):
        if self._word_has_begun:
            self._last_word = self._digest, self._mechanism.previous
        self._word_has_begun = False
        if self._diagnostics_timer is not None:
            self.destroy_timer(self._diagnostics_timer)
        for publisher in (self._publisher, self._diagnostics):
            if publisher is not None:
                destroy_when_delivered(self, publisher)
        for held in (self._state_file, self._ledger, *self._claims):
            if held is not None:
                held.close()
        self._state_file = self._ledger = None
        self._claims = []
        self._publisher = self._diagnostics = self._diagnostics_timer = None

    def _check_sampling(self, chain):
        settings = self.settings
        if settings['sampling'] != 'period':
            if settings['input_timeout'] > 0:
                raise ConfigurationError('input_timeout needs sampling: period')
            return
        if settings['unknown_symbol'] == 'drop':
            raise ConfigurationError('sampling: period and unknown_symbol: drop contradict each '
                                     'other: silence would tell that the region is unknown')
        stuck = chain.states_without_staying()
        if stuck:
            raise ConfigurationError(
                f'sampling: period needs a chain in which every state can follow itself, and '
                f'{len(stuck)} of its states cannot, such as {stuck[0]!r}: set self_loops: true')

    def _claim_topics(self):
        domain = self.context.get_domain_id()
        topics = [self.resolve_topic_name(name) for name in ('region', 'private_region')]
        if topics[0] == topics[1]:
            raise ConfigurationError(f'the region and the private region are both {topics[0]}: '
                                     'remap one of them')
        self._claims.append(TopicClaim(
            domain, f'onto {topics[1]}', f'another process of this machine already privatizes '
            f'onto {topics[1]}: stop it, or give this one a private topic of its own (remap '
            'private_region)'))
        try:
            self._claims.append(TopicClaim(
                domain, f'from {topics[0]}', f'another process of this machine privatizes '
                f'{topics[0]} too, onto another topic: for who reads both, their ε add up'))
        except ConfigurationError as error:
            self.get_logger().warning(str(error))

    def _open_ledger(self):
        settings = self.settings
        if not settings['ledger_file']:
            if settings['subject_budget'] > 0 or settings['subject']:
                raise ConfigurationError('subject and subject_budget need a ledger_file')
            return
        if not settings['subject']:
            raise ConfigurationError('ledger_file needs a subject: name whose regions these are')
        from symdp_ros.release.ledger import Ledger
        self._ledger = Ledger(resolve_path(settings['ledger_file']))
        for problem in self._ledger.problems():
            self.get_logger().error(f'ledger: {problem}')
        if settings['subject_budget'] == 0:
            self.get_logger().info('subject_budget: 0.0, no limit')

    def _open_state_file(self, chain, privacy):
        self._store = None
        self._changed_to = self  # no symbol yet: unlike every symbol, None included
        # A word that another ledger was charged for is another word.
        owner = (self._ledger.id, self.settings['subject']) if self._ledger is not None else ()
        self._digest = settings_digest(chain.digest(), privacy.epsilon, privacy.adjacency,
                                       self.settings['policy'], *owner)
        if not self.settings['state_file']:
            settings, last = self._last_word
            if settings == self._digest:  # over cleanup and configure in one process
                self._word_has_begun = True
                self._mechanism.reset(last)
            return
        self._state_file = StateFile(resolve_path(self.settings['state_file']), self._digest,
                                     len(chain))
        self._store, self._positions = self._state_file.store, chain.state_index
        found, position = self._state_file.found, self._state_file.position
        if found == 'a word to carry on':
            self._word_has_begun = True
            self._mechanism.reset(None if position is None else chain.states[position])
            self.get_logger().info('state_file: the word of the last run is carried on')
        elif found != 'no word':
            self.get_logger().warning(f'state_file: it held {found}: a new word begins; for who '
                                      'has seen both words, their losses add up')

    def _begin_word(self):
        """Charge for a new word, before anything of it is drawn; one that goes on costs nothing."""
        if self._word_has_begun:
            self.get_logger().info('the word goes on')
            return
        self.get_logger().info('a new word begins' + (
            '' if self._state_file is not None else ' (no state_file: a restart begins another)'))
        if self._ledger is not None:
            privacy, subject = self._mechanism.privacy, self.settings['subject']
            self._ledger.charge(
                subject, privacy.epsilon, settings=self._digest.hex(),
                subject_budget=self.settings['subject_budget'], description=json.dumps({
                    'chain': self._mechanism.chain.digest(), 'epsilon': privacy.epsilon,
                    'adjacency': privacy.adjacency, 'mechanism': 'live',
                    'policy': self._mechanism.policy}))
            self.get_logger().info(f'ledger: a new word of {subject!r}, charged with '
                                   f'ε = {privacy.epsilon:g}')
        if self._state_file is not None:
            self._state_file.begin()
        self._word_has_begun = True

    def _tell(self, chain, privacy):
        log = self.get_logger().info
        log(f'chain {self._chain_name}: {len(chain)} states, {chain.edge_count} moves; '
            f'ε = {privacy.epsilon:g}, k = {privacy.adjacency}, policy {self.settings["policy"]}: '
            f'words that differ in j symbols are kept apart by no more than '
            f'e^(j·{float(privacy.epsilon_per_symbol):g})')
        targets = self._mechanism.targets
        if targets is not None:
            within = '' if targets.radius is None else f', within {targets.radius} moves'
            log(f'{self._mechanism.policy} targets: {targets.nbytes / 1e3:,.0f} kB{within}')
        log(_PROTECTS[self.settings['sampling']].format(period=self.settings['period']) + (
            '; unknown_symbol: drop: silence tells that the region is unknown'
            if self.settings['unknown_symbol'] == 'drop' else ''))

    def _on_message(self, message):
        symbol = self._read(message)
        if symbol is None and self.settings['unknown_symbol'] == 'drop':
            return
        self._publish(symbol)

    def _on_change(self, message):
        symbol = self._read(message)
        if symbol is None and self.settings['unknown_symbol'] == 'drop':
            return
        if symbol != self._changed_to:
            self._changed_to = symbol
            self._publish(symbol)

    def _on_region(self, message):
        self._region, self._region_at = self._read(message), self.get_clock().now()

    def _tick(self):
        timeout = self.settings['input_timeout']
        if timeout > 0 and self._region_at is not None:
            if (self.get_clock().now() - self._region_at).nanoseconds > timeout * 1e9:
                self._region = self._region_at = None
        self._publish(self._region)

    def _publish(self, symbol):
        output = self._mechanism.step(symbol)
        # Stored first: a crash between the two may lose a symbol, but never contradicts one.
        if self._store is not None:
            self._store(self._positions[output])
        self._publisher.publish(self._write(output))
        self._published += 1

    def _report(self):
        # Everything here is the operator's, the graph's, or a count of what was published.
        now = self._diagnostics_timer.clock.now()
        seconds = (now - self._reported_at).nanoseconds / 1e9
        rate = (self._published - self._reported) / seconds if seconds > 0 else 0.0
        self._reported, self._reported_at = self._published, now
        topic = self.resolve_topic_name('region')
        own = self._subscription.count if self._subscription is not None else 0
        others = other_subscribers(self, topic, own)
        publishers = self.get_publishers_info_by_topic(topic)
        warnings = []
        if others:
            nodes = 'node reads' if len(others) == 1 else 'nodes read'
            warnings.append(
                f'{len(others)} other {nodes} the raw topic {topic}: {", ".join(others)}')
        types = {info.topic_type for info in publishers} - {full_name(self._message_type)}
        if types:
            warnings.append(f'{topic} is published as {", ".join(sorted(types))}, which is not '
                            'message_type: nothing is received from there')
        if self.get_clock().ros_time_is_active and self.get_clock().now().nanoseconds == 0:
            warnings.append('use_sim_time is set, and there is no time on /clock')
        level = DiagnosticStatus.WARN if warnings else DiagnosticStatus.OK
        message = '; '.join(warnings) or 'nobody else subscribes to the raw topic'
        if warnings != self._warned:
            self._warned = warnings
            for warning in warnings:
                self.get_logger().warning(warning)
        privacy = self._mechanism.privacy
        values = {
            'chain': self._chain_name,
            'states': len(self._mechanism.chain),
            'epsilon': privacy.epsilon,
            'adjacency': privacy.adjacency,
            'policy': self._mechanism.policy,
            'sampling': self.settings['sampling'],
            'active': self._subscription is not None,
            'published': self._published,
            'published per second': f'{rate:.1f}',
            'publishers of the raw topic': len(publishers),
            'other subscribers of the raw topic': len(others),
        }
        status = DiagnosticStatus(
            level=level, name=f'{self.get_fully_qualified_name()}: private region',
            message=message, hardware_id=self.get_fully_qualified_name(),
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)


def main(arguments=None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    return run(Privatizer, arguments)


if __name__ == '__main__':
    sys.exit(main())
