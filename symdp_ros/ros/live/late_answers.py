# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of a service that are sent after its callback has returned, with every executor."""
from typing import Any

from rclpy.service import Service


class LateAnswers:
    """
    Lets the callback of a service put its answer off.

    rclpy's EventsExecutor takes no coroutines, and sends what the callback returns at once: by
    `send_response` of the service, which is replaced here.
    """

    def __init__(self, service: Service):
        self._send = service.send_response
        self._headers: dict[int, Any] = {}  # by the identity of the answer, which the caller keeps
        setattr(service, 'send_response', self._send_or_keep)  # as executors look it up

    def put_off(self, response: object) -> None:
        """Say in the callback that what it returns is sent by `send`."""
        self._headers[id(response)] = None

    def send(self, response: object) -> None:
        """Send an answer that was put off."""
        self._send(response, self._headers.pop(id(response)))

    def _send_or_keep(self, response, header):
        if id(response) in self._headers:
            self._headers[id(response)] = header
        else:
            self._send(response, header)
