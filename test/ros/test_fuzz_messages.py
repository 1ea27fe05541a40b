# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that are sent anything at all: they live, they answer each message, they say little."""
from math import inf, nan
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import (Point, PointStamped, Pose, PoseStamped, PoseWithCovariance,
                               PoseWithCovarianceStamped, Transform, TransformStamped, Vector3)
from harness import wait_until
from long_runs import fuzz
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import (Header, Int8MultiArray, MultiArrayDimension, MultiArrayLayout, String,
                          UInt8MultiArray)
from symdp_ros import Chain
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.ros.region_messages import pose_reader, region_reader

_MOST_MEMORY = 1 << 20  # kB; a node takes a tenth of it
_MESSAGES_A_CASE = 50
_HEADERS = (b'\0\1\0\0', b'\0\0\0\0', b'\0\3\0\0', b'\0\7\0\0', b'\7\7\7\7', b'\0')


def text(random):
    """Return a state, or text that is hard to print, or long."""
    kind = random.randrange(5)
    if kind == 0:
        return random.choice('abcd')
    if kind == 1:
        return random.choice('abcd') * random.choice([2, 1000, 100_000])
    if kind == 2:
        return '\x1b[31m\n\r\u202e\u2028' * random.randrange(9)
    alphabet = 'ab\t\n\x1b\u202e\u00e4\u65e5\U0001f916'
    return ''.join(random.choices(alphabet, k=random.randrange(30)))


def labels(random):
    return Int8MultiArray(layout=MultiArrayLayout(dim=[
        MultiArrayDimension(label=text(random)) for _ in range(random.randrange(4))]))


def statuses(random):
    return DiagnosticArray(header=Header(frame_id=text(random)), status=[
        DiagnosticStatus(name=text(random), values=[
            KeyValue(key=text(random), value=text(random)) for _ in range(random.randrange(3))])
        for _ in range(random.randrange(3))])


def numbers(random):
    return UInt8MultiArray(data=random.randbytes(random.choice([0, 1, 2, 1000])))


def poses(random):
    """Return a message with a position, which may be in another frame, or be none."""
    def header():
        made = Header(frame_id=random.choice(['map', 'map', '/map', 'odom', '', 'm\u00e4p' * 9]))
        made.stamp.sec = random.randrange(2**31)
        return made

    point = Point(x=random.choice([1.5, -0.0, 1e300, nan, inf]), y=random.gauss(0.0, 9.0))
    pose = Pose(position=point)
    child = 'x' * random.randrange(9)
    return random.choice([
        PoseStamped(header=header(), pose=pose), PointStamped(header=header(), point=point),
        PoseWithCovarianceStamped(header=header(), pose=PoseWithCovariance(pose=pose)),
        Odometry(header=header(), child_frame_id=child, pose=PoseWithCovariance(pose=pose)),
        TransformStamped(header=header(), child_frame_id=child, transform=Transform(
            translation=Vector3(x=point.x, y=point.y))), pose, point])


#: name of a privatizer → its message type and field, and what makes such messages.
INPUTS = {
    'texts': (String, 'data', lambda random: String(data=text(random))),
    'numbers': (UInt8MultiArray, 'data[1]', numbers),
    'labels': (Int8MultiArray, 'layout.dim[1].label', labels),
}


def damaged(random, data):
    """Return the bytes of a message after some harm was done to them."""
    data = bytearray(data)
    for _ in range(random.randrange(4)):
        place = random.randrange(len(data) + 1)
        kind = random.randrange(4)
        if kind == 0:
            del data[place:]
        elif kind == 1:
            data[place:place] = random.randbytes(random.randrange(20))
        elif kind == 2:  # where the length of a text or a list may stand
            length = random.choice([0, 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1])
            data[place & ~3:(place & ~3) + 4] = length.to_bytes(4, 'little')
        elif place < len(data):
            data[place] ^= 1 << random.randrange(8)
    return bytes(data)


def anything(random, make):
    """Return bytes to publish: a message, a damaged one, or anything else."""
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(_HEADERS) + random.randbytes(random.randrange(200))
    data = serialize_message(make(random))
    # After an empty message Fast DDS delivers no other of the same publisher.
    return data if kind == 1 else damaged(random, data) or b'\0'


def memory(run):
    """Return how many kB a process takes."""
    [line] = [line for line in Path(f'/proc/{run.process.pid}/status').read_text().splitlines()
              if line.startswith('VmRSS:')]
    return int(line.split()[1])


def check(run):
    """Check that a node lives, and what it has said."""
    assert run.process.poll() is None, f'ended with {run.process.returncode}:\n{run.log[-5000:]}'
    assert memory(run) < _MOST_MEMORY
    log = run.log
    assert 'Traceback' not in log and '\x1b' not in log
    assert max(map(len, log.splitlines())) < 1000


def test_privatizers(world, chain_file):
    runs, publishers, words, sent = {}, {}, {}, dict.fromkeys(INPUTS, 0)
    for name, (kind, field, _) in INPUTS.items():
        map_ = "['1=a','2=b','3=c','4=d']" if name == 'numbers' else "['dock=a']"
        runs[name] = world.privatizer(
            '-r', f'__ns:=/{name}', chain_file=chain_file, epsilon=1.0, field=field,
            symbol_map=map_, message_type=f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}')
        words[name] = world.listen(f'/{name}/private_region')
        publishers[name] = world.publisher(f'/{name}/region', kind)

    def case(random):
        name = random.choice(list(INPUTS))
        for _ in range(_MESSAGES_A_CASE):
            publishers[name].publish(anything(random, INPUTS[name][2]))
            sent[name] += 1
        # Each is answered, also what is no message: it names no region.
        wait_until(lambda: len(words[name]) >= sent[name] or runs[name].process.poll() is not None,
                   'an answer to each message', world.spin)
        check(runs[name])

    fuzz(case)
    chain = Chain.from_yaml(chain_file)
    for name, word in words.items():
        assert len(word) == sent[name] and chain.is_feasible(word)
        assert runs[name].stop() == 0


def test_selected_messages_from_any_bytes():
    """What is read of bytes is what is read of the message in them; nothing is raised."""
    readers = [region_reader(DiagnosticArray, InputSettings(field=path, where=where), 'abcd')
               for path, where in (
        ('status[name=a].values[key=b].value', ()), ('status[name=a].values[1].value', ()),
        ('header.frame_id', ('status[level=0].name=a',)))]

    def case(random):
        data = anything(random, statuses)
        try:
            message = deserialize_message(data, DiagnosticArray)
        except Exception:  # it is no message
            message = None
        for read, read_serialized in readers:
            assert read_serialized(data) == (None if message is None else read(message))

    fuzz(case)


class Everywhere:
    """A locator that names where it was asked for."""

    @staticmethod
    def locate(x, y, level=None):
        return f'{x} {y} {level}'


def test_positions_from_any_bytes():
    """What is read of bytes is what is read of the message in them; nothing is raised."""
    readers = {}

    def case(random):
        message = poses(random)
        kind = type(message)
        if kind not in readers:
            readers[kind] = pose_reader(kind, InputSettings('pose'), Everywhere)
        read, read_serialized = readers[kind]
        whole = serialize_message(message)
        assert read_serialized(whole) == read(message)
        assert read_serialized(whole + bytes(random.randrange(9))) == read(message)
        for data in (damaged(random, whole), anything(random, lambda random: message)):
            try:
                expected = read(deserialize_message(data, kind))
            except Exception:  # it is no message
                expected = None
            read_here = read_serialized(data)
            # The last two bits of the header may count bytes to leave out at the end. Fast CDR of
            # Kilted heeds them, so that a message may be cut there that is whole here.
            if expected is not None or not data[3:4] or not data[3] & 3:
                assert read_here == expected

    fuzz(case)
