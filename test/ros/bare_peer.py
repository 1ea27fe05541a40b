# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
A DDS participant that is no ROS node, and announces whatever it likes.

It runs in a process of its own: `BarePeer(domain).announce(…)`. Python's Cyclone DDS is enough.
"""
from dataclasses import dataclass
import json
import os
import subprocess
import sys

import pytest

pytest.importorskip('cyclonedds', reason='cyclonedds is not installed: no peer but ROS nodes')

#: On this machine only, where Fast DDS looks with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST.
_HERE = """<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="lo"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>40</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery>
</Domain></CycloneDDS>"""


class BarePeer:
    """A peer in a ROS domain, until it is closed."""

    def __init__(self, domain: int):
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(domain)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, 'CYCLONEDDS_URI': _HERE})

    def announce(self, names=(b'peer',), *, namespace=b'/', topic='rt/region',
                 type_name='std_msgs::msg::dds_::String_', writers=0, readers=0, qos=(),
                 text=None):
        """
        Make endpoints, and announce that they belong to nodes with these names.

        The first node has them all.

        :param names: bytes; of none nothing is announced.
        :param qos: pairs of a policy and its arguments, such as ('Durability.Volatile', []).
        :param text: what each of the writers publishes, once.
        """
        self._process.stdin.write(json.dumps({
            'names': [name.decode('latin-1') for name in names], 'topic': topic,
            'namespace': namespace.decode('latin-1'), 'type_name': type_name,
            'writers': writers, 'readers': readers, 'qos': list(qos), 'text': text}) + '\n')
        self._process.stdin.flush()
        assert self._process.stdout.readline() == 'done\n'

    def close(self):
        self._process.kill()
        self._process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def main(domain):
    from cyclonedds.core import Policy, Qos
    from cyclonedds.domain import DomainParticipant
    from cyclonedds.idl import IdlStruct
    from cyclonedds.idl.types import array, sequence, uint8
    from cyclonedds.pub import DataWriter
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic

    # Of rmw_dds_common; texts are bytes here, as they may be no UTF-8.
    @dataclass
    class Gid(IdlStruct, typename='rmw_dds_common::msg::dds_::Gid_'):
        data: array[uint8, 16]

    @dataclass
    class Node(IdlStruct, typename='rmw_dds_common::msg::dds_::NodeEntitiesInfo_'):
        namespace: sequence[uint8]
        name: sequence[uint8]
        readers: sequence[Gid]
        writers: sequence[Gid]

    @dataclass
    class Participant(IdlStruct, typename='rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_'):
        gid: Gid
        nodes: sequence[Node]

    def text_type(name):
        class Text(IdlStruct, typename=name):
            data: str

        return dataclass(Text)

    def policy(name, *arguments):
        kind = Policy
        for part in name.split('.'):
            kind = getattr(kind, part)
        return kind(*arguments) if callable(kind) else kind

    def gid(entity):
        return Gid(list(entity.guid.bytes))

    def text(value):
        return [*value.encode('latin-1'), 0]

    reliable = [Policy.Reliability.Reliable(10**9), Policy.Durability.TransientLocal]
    peer = DomainParticipant(int(domain))
    announcer = DataWriter(peer, Topic(peer, 'ros_discovery_info', Participant),
                           Qos(*reliable, Policy.History.KeepLast(1)))
    nodes, kept = [], []
    for line in sys.stdin:
        order = json.loads(line)
        qos = Qos(*(policy(name, *arguments) for name, arguments in order['qos'])) \
            if order['qos'] else Qos(*reliable)
        kind = text_type(order['type_name'])
        topic = Topic(peer, order['topic'], kind)
        readers = [DataReader(peer, topic, qos) for _ in range(order['readers'])]
        writers = [DataWriter(peer, topic, qos) for _ in range(order['writers'])]
        kept += [topic, readers, writers]
        for number, name in enumerate(order['names']):
            nodes.append(Node(text(order['namespace']), text(name),
                              [] if number else [*map(gid, readers)],
                              [] if number else [*map(gid, writers)]))
        if nodes:
            announcer.write(Participant(gid(peer), nodes))
        for writer in writers if order['text'] is not None else ():
            writer.write(kind(order['text']))
        print('done', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
