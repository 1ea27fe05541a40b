# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calling a service of a node, for an operator's terminal."""
from time import monotonic

from lifecycle_msgs.srv import ChangeState
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger
from symdp_ros.errors import ConfigurationError, printable, raising
from symdp_ros.ros.graph.joining import joined

_LOOK = 0.5  # seconds between looks whether the service is still there


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
