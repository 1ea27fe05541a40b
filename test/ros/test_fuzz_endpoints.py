# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every service and every topic of every node is sent values of its type: the node goes on."""
from importlib import import_module
from math import inf, nan

from long_runs import fuzz
import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from symdp_ros.messages.fields import INTEGERS, message_class, own_fields
from test_fleet import fleet_file
from test_fuzz_messages import check, damaged
from test_log_release import given

_TEXTS = ('', 'a', 'use_sim_time', 'epsilon', 'configure', 'transition_error', 'x' * 100_000,
          '\x1b[31m', 'line\nline', '\u202e\U0001f916', 'std_msgs/msg/String',
          f'RIHS01_{0:064}', 'RIHS01_', 'qos_overrides./clock.subscription.depth', '.', 'a..b')
_FLOATS = (0.0, -0.0, 1.5, 1e300, -1e300, inf, -inf, nan)
_ANSWERS = 10  # of a case
#: A best-effort reader takes from it, and a reliable one.
_RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


def value(random, kind):
    """Return a value of a type (`FieldType`), often an extreme one."""
    if kind.is_list:
        count = kind.size
        if count is None:
            count = random.randrange(min(kind.most or 3, 3) + 1)
        return [value(random, kind._replace(size=None, sequence=False)) for _ in range(count)]
    if kind.is_message:
        return filled(random, message_class(kind.name))
    if kind.name in INTEGERS:
        least, most = INTEGERS[kind.name]
        return random.choice([least, most, 0, 1, max(least, -1), random.randint(least, most),
                              random.randrange(16)])
    return {'boolean': lambda: random.randrange(2) == 1,
            'octet': lambda: random.randbytes(1),
            'float': lambda: random.choice([0.0, 1.5, inf, -inf, nan]),
            'double': lambda: random.choice(_FLOATS),
            'string': lambda: random.choice(_TEXTS)}[kind.name]()


def filled(random, message_type):
    """Return a message, or a request, of a type."""
    made = message_type()
    for name, kind in own_fields(message_type).items():
        setattr(made, name, value(random, kind))
    return made


class Endpoints:
    """All services and subscriptions of a node that runs, as the graph has them."""

    def __init__(self, world, run, name, namespace='/'):
        self.world, self.run = world, run
        full = namespace.rstrip('/') + '/' + name
        world.wait_until(lambda: (name, namespace) in world.node.get_node_names_and_namespaces(),
                         f'the node {full}')
        world.wait_until(lambda: f'{full}/get_parameters' in self._services(name, namespace),
                         f'the services of {full}')
        self.services = []
        for service, type_name in self._services(name, namespace).items():
            package, _, kind = type_name.split('/')
            service_type = getattr(import_module(f'{package}.srv'), kind)
            self.services.append((service_type, service))
            world.call(service_type, service, service_type.Request())
        self.publishers = [
            world.publisher(topic, message_class(type_name), _RELIABLE)
            for topic, [type_name] in world.node.get_subscriber_names_and_types_by_node(
                name, namespace)]

    def _services(self, name, namespace):
        return {service: type_name for service, [type_name]
                in self.world.node.get_service_names_and_types_by_node(name, namespace)}

    def case(self, random):
        """Send some messages and requests; each request is answered."""
        for _ in range(_ANSWERS):
            for publisher in self.publishers:
                data = serialize_message(filled(random, publisher.msg_type))
                if random.randrange(2):  # Fast DDS sends nothing longer than a type of fixed size
                    data = damaged(random, data)[:len(data)] or b'\0'
                publisher.publish(data)
            service_type, name = random.choice(self.services)
            request = filled(random, service_type.Request)
            answer = self.world.client(service_type, name).call_async(request)
            self.world.wait_until(
                lambda answer=answer: answer.done() or self.run.process.poll() is not None,
                f'the answer of {name} to {str(request)[:1000]}')
            check(self.run)


@pytest.mark.parametrize('node', ['privatizer', 'timed', 'log_release', 'patrol', 'fleet'])
def test_each_endpoint(world, chain_file, tmp_path, node):
    simulated = {'use_sim_time': 'true'}
    if node == 'privatizer':
        run = world.privatizer(chain_file=chain_file, epsilon=1.0)
    elif node == 'timed':
        node = 'privatizer'
        run = world.privatizer(chain_file=chain_file, epsilon=1.0, sampling='period', period=1.0,
                               **simulated)
    elif node == 'log_release':
        for name in 'logs', 'releases':
            (tmp_path / name).mkdir()
        run = world.start(node, **given(tmp_path, chain_file, **simulated))
    elif node == 'patrol':
        run = world.start(node, chain_file=chain_file, period=0.5, **simulated)
    else:
        run = world.start(node, fleet=fleet_file(
            tmp_path, chain_file, {'tb1': {'parameter_services': True}, 'tb2': {}}), **simulated)
        run.wait_for('robots started')
    here = [Endpoints(world, run, node)]
    if node == 'fleet':
        here.append(Endpoints(world, run, 'privatizer', '/tb1'))
    fuzz(lambda random: random.choice(here).case(random))
    for endpoints in here:  # each of them is still answered
        for service_type, name in endpoints.services:
            world.call(service_type, name, service_type.Request())
    assert run.stop() == 0
