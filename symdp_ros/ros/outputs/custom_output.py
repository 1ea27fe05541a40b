# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A message of any type for each region: a coordinator's own."""
from random import SystemRandom

from rclpy.serialization import serialize_message
from symdp_ros.core.annotations import Floats
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.messages.fields import message_class
from symdp_ros.messages.symbols import parse_symbol_map
from symdp_ros.options import KEPT_REGIONS
from symdp_ros.ros.outputs.publication import latched, Publication
from symdp_ros.ros.outputs.templates import Symbol, template_filler


class Output:
    """
    Publishes a message of `output_type` for each region, filled by `output_template`.

    :raises ConfigurationError: the template does not fit the type, or some region does not fit
        the template. Every region is tried, so none fails later.
    """

    def __init__(self, wanted: Publication):
        self._node, self._random = wanted.node, SystemRandom()
        self._chain, self._places = wanted.chain, wanted.places
        settings = wanted.settings
        self._values = {state: value for value, state
                        in reversed(parse_symbol_map(settings['symbol_map']).items())}
        kind = message_class(settings['output_type'])
        self._fill = template_filler(settings['output_template'], kind, settings['map_frame'])
        for state in self._chain.states:
            self._serialized(state, state)
        self._publisher = self._node.create_publisher(kind, wanted.topic, latched(KEPT_REGIONS))
        self.publishers = [self._publisher]

    def publish(self, region: str, beliefs: Floats | None) -> None:
        """Publish the message of a region."""
        moves = self._chain.probabilities(region)
        following = self._random.choices(list(moves), list(moves.values()))[0]
        self._publisher.publish(self._serialized(region, following))

    def _serialized(self, region, following):
        message = self._fill(self._values_of(region, following))
        try:
            return serialize_message(message)
        except Exception as error:  # of the middleware, such as for a text that is too long
            raise ConfigurationError(f'output_template: {printable(error, 300)}') from None

    def _values_of(self, region, following):
        stamp = self._node.get_clock().now()
        values = {'region': Symbol(region, self._values.get(region)),
                  'next': Symbol(following, self._values.get(following)),
                  'stamp': stamp.to_msg(), 'seconds': stamp.nanoseconds / 1e9}
        for name, state in (('', region), ('next_', following)):
            place = self._places.get(state)
            if place is not None:
                values[f'{name}x'], values[f'{name}y'] = place.x, place.y
        return values
