# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `belief`: private regions come in, the most probable true ones go out."""
if __name__ == '__main__':  # before the imports, which are slow
    from symdp_ros.nodes.program import run_program
    raise SystemExit(run_program('belief'))

from dataclasses import replace

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.serialization import deserialize_message
from std_msgs.msg import String
from symdp_ros.analysis.belief import Filter
from symdp_ros.analysis.choice import choose
from symdp_ros.core.mechanism_settings import MechanismSettings
from symdp_ros.errors import ChainError, ConfigurationError, printable
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.messages.fields import message_class, name_of_type
from symdp_ros.messages.symbols import parse_symbol_map
from symdp_ros.options import message_type_of, output_topic
from symdp_ros.ros.graph.adaptive_subscription import AdaptiveSubscription
from symdp_ros.ros.graph.publishing import destroy_when_delivered
from symdp_ros.ros.graph.qos_overrides import check_qos_overrides
from symdp_ros.ros.lifecycle import ManagedNode
from symdp_ros.ros.live.live_diagnostics import LiveDiagnostics, public_settings
from symdp_ros.ros.outputs import check_topics, Outputs
from symdp_ros.ros.outputs.belief_output import belief_message
from symdp_ros.ros.outputs.publication import latched
from symdp_ros.ros.process.spinning import run
from symdp_ros.words.sampling_settings import SamplingSettings

_QUEUE = 1000  # as many as the privatizer keeps for late subscribers
_QUIET = 5.0   # seconds from one warning to the next of its kind


class Belief(ManagedNode):
    """
    Publishes, for each private region, what can be inferred of the true one from all so far.

    Subscribes: `private_region` (`output_type`). Publishes: `believed_region` (`output_type`), the
    most probable one, latched, one for each private one, and the other `outputs`
    (`ros.outputs`); `region_belief` (diagnostic_msgs/msg/DiagnosticStatus): its `values` are
    region and probability, most probable first, its `message` the private region that came last;
    the latest one is latched; `/diagnostics` at 1 Hz. Parameters: `options.PARAMETERS`. It needs
    nothing secret, and costs no privacy. The chain, ε, k and policy must be the privatizer's:
    otherwise the belief is wrong, and no message reports it.

    A private region that cannot follow the last one means that a new word has begun (a privatizer
    without state file was restarted), that messages were lost, or that the settings differ. The
    belief is then reset: the robot may be anywhere (`Filter.resume`). A new word whose first
    region could follow is not noticed; its belief corrects itself as regions come in.

    A privatizer that was restarted with its state file shows its last region once more. So what
    a publisher sends first is not counted if it is the region that was received last. (Behind a
    bridge, or a middleware that does not number messages, it is counted as one more region.)

    With `policy: adaptive` it is not needed: the privatizer publishes more than others could infer
    (`outputs: [belief]`), and it does not start. With `policy: auto` it takes what a privatizer
    takes whose settings it has: with a `delay`, a `report_period` or zones, adaptive.
    """

    def __init__(self, **kwargs):
        super().__init__('belief', **kwargs)
        self._subscription = self._outputs = self._belief = self._diagnostics = None

    def configure(self):
        place, sampling = MapSettings.of(self.settings), SamplingSettings.of(self.settings)
        given = replace(MechanismSettings.of(self.settings), reports=sampling.reports)
        given.check()
        chain, name = sampling.chain(place.read()), place.path.name
        privacy = sampling.privacy(self.settings['epsilon'], self.settings['adjacency'],
                                   place.zones())
        how, _ = choose(chain, privacy, given)
        if how.policy == 'adaptive':
            by_auto = '' if given.policy == how.policy else ', which auto takes here,'
            raise ConfigurationError(
                f'with policy: adaptive{by_auto} '
                'the node belief is not needed: the privatizer itself publishes what others may '
                'believe, with outputs: [belief]', setting='policy')
        self._topic = self.resolve_topic_name('private_region')
        outputs = dict.fromkeys(self.settings['outputs'])
        names = [*(output_topic('believed', output) for output in outputs), 'region_belief']
        check_topics([self.resolve_topic_name(name) for name in names], [self._topic])
        check_qos_overrides(self, 'subscription', 'private_region')
        self._chain = chain
        self._type = message_class(message_type_of('string', self.settings))
        # Names are written as they are; for integers, `symbol_map` gives the value of each.
        self._symbols = {} if self._type is String else parse_symbol_map(
            self.settings['symbol_map'])
        mechanism = how.online(chain, privacy)
        self._filter = Filter(mechanism)
        self.get_logger().info(
            f'chain {name}: {len(chain)} states, {chain.edge_count} moves, from '
            f'{chain.initial_state}; ε = {privacy.epsilon:g}, k = {privacy.adjacency}, '
            f'policy {how.policy}; how it moves: {chain.how_it_moves(how.trust)}: if '
            "one of these is not the privatizer's, the belief is wrong")
        self._diagnostics = LiveDiagnostics(
            self, self._topic, name_of_type(self._type),
            public_settings(name, mechanism, sampling), remapped='private_region',
            raw=False, regular=sampling.rule != 'change')

    def activate(self):
        # Reset, as a new subscription receives the private word so far once more.
        self._filter.reset()
        self._heard = 0
        self._outputs = Outputs(self, 'believed', self.settings, self._chain, depth=_QUEUE)
        self._belief = self.create_publisher(DiagnosticStatus, 'region_belief', latched(1))
        self._subscription = AdaptiveSubscription(
            self, self._type, self._topic, self._on_private_region, latched=True, with_info=True)
        self._diagnostics.activate(self._subscription)
        self.get_logger().info(
            f'active: reads {self._subscription.topic} ({name_of_type(self._type)}), publishes '
            f'{self._outputs.topics} and {self._belief.topic_name}'
            + ('; waits for a publisher' if self._subscription.waits else ''))

    def deactivate(self):
        if self._subscription is not None:
            self._subscription.destroy()
        if self._outputs is not None:
            self._outputs.destroy()
        if self._belief is not None:
            destroy_when_delivered(self, self._belief)
        if self._diagnostics is not None:
            self._diagnostics.deactivate()
        self._subscription = self._outputs = self._belief = None

    def cleanup(self):
        if self._diagnostics is not None:
            self._diagnostics.destroy()
        self._filter = self._diagnostics = None

    def _on_private_region(self, data, info):
        try:
            text = str(deserialize_message(data, self._type).data)
        except Exception:  # what is raised depends on the middleware
            self.get_logger().warning('a message that cannot be read is ignored',
                                      throttle_duration_sec=_QUIET)
            return
        output = self._symbols.get(text, text)
        first_of_publisher = info['publication_sequence_number'] == 1
        if first_of_publisher and self._heard and output == self._filter.previous:
            return  # shown again after a restart
        try:
            beliefs = self._filter.update(output)
        except ChainError:
            beliefs = self._after_gap(output)
        if beliefs is not None:
            self._show(output, beliefs)

    def _show(self, output, beliefs):
        self._heard += 1
        self._outputs.publish(self._filter.best, beliefs)
        self._diagnostics.published += 1
        self._belief.publish(belief_message(self._topic, output, self._chain.states, beliefs,
                                            self.settings['top']))

    def _after_gap(self, output):
        """Return the beliefs after a region that cannot follow; None if it is no state."""
        previous, warning = self._filter.previous, self.get_logger().warning
        try:
            beliefs = self._filter.resume(output)
        except ChainError:
            warning(f"'{printable(output)}' is no region of the chain, or no move leads to it, "
                    "and is ignored: are chain_file and the other settings the privatizer's?",
                    throttle_duration_sec=_QUIET)
            return None
        if not self._heard:
            self.get_logger().info(
                f"the word did not begin with '{printable(output)}': it is joined late")
            return beliefs
        warning(f"'{printable(output)}' cannot follow '{printable(previous)}': "
                'a new word has begun, messages were lost, or the settings are not the '
                "privatizer's; the belief begins anew", throttle_duration_sec=_QUIET)
        return beliefs


def main(arguments=None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    return run(Belief, arguments)
