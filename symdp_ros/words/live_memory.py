# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
What live nodes remember as long as their process lives, however often they start again.

A robot's stay in a region is drawn once. So the word, the last region and the position that led to
it outlive every transition of the node, its failure, its end and its start under other settings.
"""
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from symdp_ros.maps.positions import Locator
from symdp_ros.words.live_sampling import Sampling
from symdp_ros.words.live_word import LiveWord


@dataclass(eq=False)
class LiveMemory:
    """
    The memory of one node under one set of settings.

    :ivar settings: all settings of its node.
    :ivar word: the word that was configured last; at first that of the node's former memory.
    :ivar sampling: None before the first configuration; so is `locator`, which is for poses alone.
    :ivar waits: whether a region was read before, by this node or from the same input.
    :ivar others: memories of other nodes with the same input, which had read nothing when this
        one was made.
    """

    settings: Mapping[str, Any]
    word: LiveWord | None = None
    sampling: Sampling | None = None
    locator: Locator | None = None
    waits: bool = False
    others: 'tuple[LiveMemory, ...]' = ()

    @property
    def has_read(self) -> bool:
        """Whether the next region may be one that was drawn before."""
        return (self.waits or self.sampling is not None and self.sampling.has_read
                or any(other.has_read for other in self.others))


class LiveMemories:
    """The memories of the nodes of a process, by the name of the node and by what it reads."""

    def __init__(self) -> None:
        self._of_nodes: dict[str, LiveMemory] = {}
        self._of_sources: dict[Hashable, LiveMemory] = {}

    def of(self, name: str, source: Hashable, settings: Mapping[str, Any]) -> LiveMemory:
        """
        Return the memory of a node: what it had if its settings are the same, else another.

        :param name: of the node, with its namespace.
        :param source: what it reads, and in which ROS domain.
        :param settings: all that it goes by.
        """
        memory, reader = self._of_nodes.get(name), self._of_sources.get(source)
        if memory is None or memory.settings != settings:
            former = [one for one in (memory, reader) if one is not None]
            waits = any(one.has_read for one in former)
            # The node of `memory` has ended: it will read nothing more.
            others = dict.fromkeys(other for one in former for other in (
                *one.others, *([] if one is memory else [one])))
            memory = LiveMemory(settings, None if memory is None else memory.word, waits=waits,
                                others=() if waits else tuple(others))
        self._of_nodes[name] = self._of_sources[source] = memory
        return memory
