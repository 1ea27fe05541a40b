# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What `privatizer` reads: names of regions, poses, TF, or states of VDA 5050."""
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.maps.pose_report import metres
from symdp_ros.maps.positions import Locator
from symdp_ros.messages.field_paths import NOT_INPUT, NotInput
from symdp_ros.messages.fields import message_class, name_of_type
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.messages.vda5050 import NoStateError, state_reader
from symdp_ros.ros.graph.adaptive_subscription import AdaptiveSubscription
from symdp_ros.ros.live.broker import Broker
from symdp_ros.ros.region_messages import pose_reader, region_reader
from symdp_ros.words.sampling_settings import SamplingSettings

MINUTE = 60.0  # seconds


class LiveInput:
    """
    The input of a node, from its settings.

    `name` is that of the topic before remapping, `topic` after it; without a topic of ROS, what
    stands for both in messages. `message_type` is the class of its messages, None without a topic
    of ROS; `read` the region of a message as it came (`RegionReader.read_serialized`, or bytes of
    MQTT); `look` that of now, with TF, else None; `locator` finds those of poses; `shared` whether
    the topic may be that of several robots.

    :param locator: of poses: what finds their regions.
    :param sampling: TF needs a period.
    :param states: of the chain.
    :param broker: where states come in; None: they come by ROS.
    :param former: what found regions of poses before: the last one counts on. Otherwise
        `hysteresis` would not keep a robot that stands on a border from another region.
    :param warns: whether it warns where the first pose is in another frame than the map's, or most
        poses of the first minute are far from the map (`Locator.far`).
    :raises ConfigurationError: settings do not go together; as the readers.
    """

    def __init__(self, node, settings: InputSettings, locator: Locator | None,
                 sampling: SamplingSettings, states: Sequence[str], broker: Broker | None, *,
                 former: Locator | None = None, warns: bool = True):
        self._node, self._broker, self._transforms = node, broker, None
        self.look: Callable[[], str | None] | None = None
        self.locator = locator
        self._foreign_frame: str | None = None
        self._is_no_state = False
        self.read: Callable[[bytes], str | None | NotInput]
        self._read: Callable[[bytes], str | None | NotInput]
        self._warns = warns
        # When the next minute is over; None: the first one with a pose was judged.
        self._judged_at = monotonic() + MINUTE if warns and locator is not None else None
        self._far_away = False
        self._map_frame = settings.map_frame
        self.name = settings.topic
        settings.refuse_others('level_field', 'base_frame')
        if locator is not None and former is not None:
            locator.follow(former)
        if settings.elsewhere:
            self.message_type, self.shared, self.topic = None, False, settings.elsewhere
        if broker is not None:
            self.kind, self.description = 'VDA 5050 state', f'{self.topic} of {settings.broker}'
            self._region_of = state_reader(settings.table(states), locator, settings.level_field)
            self._read = self._read_state
            self.read = self._read_first if warns else self._read
            return
        if settings.base_frame:
            if not sampling.has_period:
                raise ConfigurationError('base_frame needs sampling: period: TF has no messages '
                                         'of its own')
            from symdp_ros.ros.live.transforms import Transforms

            self._transforms = Transforms(node, settings.map_frame, settings.base_frame,
                                          sampling.input_timeout)
            self.kind, self.look = 'TF', self._look
            self.description = f'{self.topic} in {self._map_frame}'
            return
        self.topic = node.resolve_topic_name(self.name)
        assert settings.message_type is not None  # a parameter with a default
        kind = self.message_type = message_class(settings.message_type)
        self.kind = name_of_type(kind)
        self.shared = settings.is_shared
        self.description = f'{self.topic} ({self.kind})'
        reader = (region_reader(kind, settings, states) if self.locator is None else
                  pose_reader(kind, settings, self.locator, self._on_foreign_frame))
        self._read = reader.read_serialized
        self.read = self._read_first if warns and settings.is_pose else self._read

    def close(self) -> None:
        """Stop listening to TF."""
        if self._transforms is not None:
            self._transforms.close()

    def subscribe(self, on_message: Callable[[bytes], None], *,
                  latched: bool) -> AdaptiveSubscription | Broker:
        """
        Begin to pass on messages; `destroy` of what is returned ends it.

        :param latched: whether to ask for what was published before.
        """
        if self._broker is not None:
            return self._broker.listen(on_message, latched=latched)
        return AdaptiveSubscription(self._node, self.message_type, self.name, on_message,
                                    latched=latched)

    def _look(self) -> str | None:
        """Return the region at the pose that TF has now; None where it is not known."""
        assert self._transforms is not None and self.locator is not None
        position = self._transforms.position()
        return None if position is None else self.locator.locate(*position)

    def warnings(self, values: dict[str, Any]) -> Iterator[str]:
        """
        Yield what is wrong with what comes in; report in `values` what is public of a broker.

        Of poses, that they are not in the coordinates of the map: nothing of those that are no
        farther from it than it is large. Minutes begin when this is made, whatever comes in.
        """
        if self._broker is not None:
            values['private states that wait for the broker'] = self._broker.waiting
            values['private states dropped'] = self._broker.dropped
            if self._broker.problem:
                yield self._broker.problem
        if self._is_no_state:
            yield (f'the first message on {self.topic} was no state of VDA 5050 (JSON with a '
                   'lastNodeId): the region of such messages is unknown')
        if self._judged_at is not None and monotonic() >= self._judged_at:
            assert self.locator is not None
            positions, far = self.locator.positions, self.locator.far
            self._far_away = 2 * far > positions
            self._judged_at = None if positions else self._judged_at + MINUTE
        if self._far_away:
            assert self.locator is not None
            yield (f'most poses of the first minute, from {self.topic}, lie farther from the map '
                   f'than it is large ({metres(self.locator.size)}): map and poses seem to be in '
                   'different coordinates. symdp check MAP --topic TOPIC --input pose shows how '
                   'far')
        if self._foreign_frame is not None:
            yield (f'poses on {self.topic} are in the frame '
                   f'{printable(repr(self._foreign_frame))}, not in map_frame '
                   f'{self._map_frame!r}: they are refused, and the region is unknown. '
                   'Publish poses in the frame of the map, or correct map_frame')

    def _read_first(self, data: bytes) -> str | None | NotInput:
        region = self._read(data)
        if region is not NOT_INPUT:
            self.read, self._warns = self._read, False
        return region

    def _read_state(self, payload: bytes) -> str | None:
        try:
            return self._region_of(payload)
        except NoStateError:
            # Of the first one alone, as below.
            self._is_no_state = self._is_no_state or self._warns
            return None

    def _on_foreign_frame(self, frame: str) -> None:
        # Of the first pose alone: a frame that comes later may tell where the robot is.
        if self._warns:
            self._foreign_frame = frame
