# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calling a service of a node, for an operator's terminal."""
from time import monotonic

from lifecycle_msgs.srv import ChangeState
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger
from symdp_ros.errors import ConfigurationError, printable, raising
from symdp_ros.ros.graph.joining import joined
from type_description_interfaces.srv import GetTypeDescription

_LOOK = 0.5    # seconds between looks whether the service is still there
_AGAIN = 0.2   # and from one question that may be repeated to the next
_BESIDE = 1.0  # for which the service that answers it is waited for, where there may be none
#: A question to `get_type_description` that a node answers without a word in its log: it has no
#: type of this hash.
HARMLESS = GetTypeDescription.Request(type_hash=f'RIHS01_{0:064}')


def call(domain: int, name: str, transition: str, seconds: float) -> tuple[bool, str]:
    """
    Call a service of type std_srvs/Trigger, or change the state of a lifecycle node.

    :param name: of the service: absolute, or below /.
    :param transition: its label, such as 'deactivate'; '': it is a Trigger.
    :param seconds: how long the service is waited for; the answer: as long as it is there.
    :return: whether it succeeded, and its message ('' where it has none).
    :raises ConfigurationError: the domain cannot be joined, `name` is no name of a service, nobody
        offers it with this type, or the node ended before it answered.
    """
    service = ChangeState if transition else Trigger
    request = service.Request()
    if transition:
        request.transition.label = transition
    with joined(domain, 'symdp_call') as node:
        with raising(ConfigurationError, f'{printable(name)} cannot be called',
                     (RuntimeError, NameValidationException)):
            client = node.create_client(service, f'/{name.removeprefix("/")}')
            executor = SingleThreadedExecutor(context=node.context)
            executor.add_node(node)
            if not client.wait_for_service(seconds):
                raise ConfigurationError(
                    f'nobody offers {printable(client.srv_name)} in ROS domain {domain}: symdp '
                    'topics lists what there is; give the number of another --domain, or more '
                    '--seconds')
            _wait_until_known(node, executor, client.srv_name, seconds)
            answer = client.call_async(request)
            last = monotonic()
            while not answer.done():
                executor.spin_until_future_complete(answer, _LOOK)
                if client.service_is_ready():
                    last = monotonic()
                elif monotonic() - last > seconds:
                    raise ConfigurationError(
                        f'{printable(client.srv_name)} ended before it answered')
            executor.shutdown()
    response = answer.result()
    return response.success, getattr(response, 'message', '')


def _wait_until_known(node: Node, executor: SingleThreadedExecutor, name: str,
                      seconds: float) -> None:
    """
    Wait, but not for long, until the node of a service knows the clients that were made so far.

    A node that does not know a client yet drops its answer, and the client would wait for ever. A
    node learns of clients in turn. So one more is made, of a service that most nodes have beside
    their own and that may be asked again; it is asked until there is an answer.
    """
    beside = name.rpartition('/')[0]
    if not beside:  # its name does not tell the node
        return
    last = node.create_client(GetTypeDescription, f'{beside}/get_type_description')
    if last.wait_for_service(_BESIDE):
        until = monotonic() + seconds
        answers: list[Future] = []
        while monotonic() < until and not any(answer.done() for answer in answers):
            answers.append(last.call_async(HARMLESS))
            executor.spin_until_future_complete(answers[-1], _AGAIN)
    node.destroy_client(last)
