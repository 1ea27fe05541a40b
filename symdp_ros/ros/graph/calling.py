# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calling a service of a node, for an operator's terminal."""
from time import monotonic

from lifecycle_msgs.srv import ChangeState
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger
from symdp_ros.errors import ConfigurationError, printable, raising
from symdp_ros.ros.graph.joining import joined
from type_description_interfaces.srv import GetTypeDescription

_LOOK = 0.5   # seconds between looks whether the service is still there
_AGAIN = 0.2  # seconds after which a probe without an answer is sent again
_FOUND = 1.0  # seconds for which the service for probes is waited for: not all nodes offer it
#: A request to `get_type_description` that changes nothing. No type has this hash: with a wrong
#: one, the node would log an error.
PROBE = GetTypeDescription.Request(type_hash=f'RIHS01_{0:064}')


def call(domain: int, name: str, transition: str, seconds: float,
         timeout: float) -> tuple[bool, str]:
    """
    Call a service of type std_srvs/Trigger, or change the state of a lifecycle node.

    :param name: of the service: absolute, or below /.
    :param transition: its label, such as 'deactivate'; '': it is a Trigger.
    :param seconds: how long the service is waited for.
    :param timeout: how long the answer is waited for, while the service is there, in seconds.
    :return: whether it succeeded, and its message ('' where it has none).
    :raises ConfigurationError: the domain cannot be joined, `name` is no name of a service, nobody
        offers it with this type, it did not answer in time, or the node ended before it answered.
    """
    service = ChangeState if transition else Trigger
    request = service.Request()
    if transition:
        request.transition.label = transition
    with joined(domain, 'symdp_call') as node:
        with raising(ConfigurationError, f'{printable(name)} cannot be called',
                     (RuntimeError, NameValidationException)):
            client = node.create_client(service, f'/{name.removeprefix("/")}')
            # It ends before its context, also where an error is raised: else rclpy may print one.
            with SingleThreadedExecutor(context=node.context) as executor:
                executor.add_node(node)
                if not client.wait_for_service(seconds):
                    raise ConfigurationError(
                        f'nobody offers {printable(client.srv_name)} in ROS domain {domain}: '
                        'symdp topics lists what there is; give the number of another --domain, '
                        'or more --seconds')
                _wait_until_known(node, executor, client.srv_name, seconds)
                answer = client.call_async(request)
                begin = last = monotonic()
                while not answer.done():
                    executor.spin_until_future_complete(answer, _LOOK)
                    if client.service_is_ready():
                        last = monotonic()
                    elif monotonic() - last > seconds:
                        raise ConfigurationError(
                            f'{printable(client.srv_name)} ended before it answered')
                    if not answer.done() and monotonic() - begin > timeout:
                        raise ConfigurationError(
                            f'{printable(client.srv_name)} has not answered within {timeout:g} '
                            's. What was asked for may still be done; give it more --timeout')
    response = answer.result()
    return response.success, getattr(response, 'message', '')


def _wait_until_known(node: Node, executor: Executor, name: str,
                      seconds: float) -> None:
    """
    Wait, at most some seconds, until the node of a service knows all clients made so far.

    A node that does not know a client yet drops its answer, and the client would wait for ever.
    Nodes learn of clients in the order in which they were made. So a last one is made, for a
    service that most nodes offer, and sends probes until one is answered.
    """
    node_name = name.rpartition('/')[0]
    if not node_name:  # the name of the service does not tell it
        return
    last = node.create_client(GetTypeDescription, f'{node_name}/get_type_description')
    if last.wait_for_service(_FOUND):
        until = monotonic() + seconds
        answers: list[Future] = []
        while monotonic() < until and not any(answer.done() for answer in answers):
            answers.append(last.call_async(PROBE))
            executor.spin_until_future_complete(answers[-1], _AGAIN)
    node.destroy_client(last)
