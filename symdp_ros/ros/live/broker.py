# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The MQTT broker where a robot publishes its states (VDA 5050), and a node its private ones."""
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

from symdp_ros.errors import ChainError, ConfigurationError, printable
from symdp_ros.files.resources import resolve_path
from symdp_ros.files.text_file import read_map_text
from symdp_ros.messages.input_settings import InputSettings
from symdp_ros.messages.vda5050 import StateTopic

_PORTS = {'mqtt': 1883, 'mqtts': 8883}
_MOST_READ = 1000      # states that wait for the node
_MOST_WAITING = 10_000  # private states that wait for the broker
_KEEP_ALIVE = 15       # seconds
_RETRIES = 1, 10       # seconds between attempts to connect: the first, the longest
_PATIENCE = 0.5        # seconds, at the end


class Broker:
    """
    A connection to a broker, which is made again whenever it ends.

    It subscribes as VDA 5050 publishes, at most once (QoS 0): no state comes twice. A state that
    the broker has kept is taken once after each `listen`, if that asks for it and nothing else
    came before. Private states leave in order, at least once (QoS 1), and the broker keeps the
    last. While there is no connection they wait; of more than 10,000, the oldest are dropped. Each
    has a number, by which readers see what is missing or came twice.

    The client runs in a thread of its own; all else happens in the thread of the node's executor.

    :param node: a `GuardedNode`.
    :raises ConfigurationError: a setting is not valid; paho-mqtt is not found.

    `topic` has the names of both topics; `is_connected`, `waiting` and `dropped` are public: they
    depend on the broker, and on how many private states there were.
    """

    def __init__(self, node, settings: InputSettings):
        self.topic = StateTopic.of(settings.state_topic)
        self.is_connected, self.dropped = False, 0
        self._node, self._name, self._read_topic = node, settings.broker, settings.state_topic
        self._listener: Callable[[bytes], None] | None = None
        self._takes_kept = self._closed = self._is_refused = False
        self._read: deque[bytes] = deque(maxlen=_MOST_READ)
        self._waiting: deque[bytes] = deque()
        self._number, self._in_flight = 0, -1  # −1: the client has none
        self._acknowledged: set[int] = set()
        self._guarded_take, self._guarded_send = node.guarded(self._take), node.guarded(self._send)
        self._client = _client(settings)
        self._client.on_connect, self._client.on_disconnect = self._connected, self._disconnected
        self._client.on_message, self._client.on_publish = self._came, self._left
        self._client.on_subscribe = self._subscribed
        self._client.loop_start()

    @property
    def waiting(self) -> int:
        """Return how many private states the broker has not acknowledged."""
        return len(self._waiting)

    @property
    def problem(self) -> str:
        """Return what is wrong with the connection; '' if nothing is."""
        if not self.is_connected:
            return (f'there is no connection to the broker {self._name}: no states come in, and '
                    'private ones wait. Is it running, and are broker and broker_login right?')
        return '' if not self._is_refused or self._listener is None else (
            f'the broker {self._name} refuses a subscription of {self._read_topic}: no states '
            'come in. Does it let this node read them?')

    def listen(self, listener: Callable[[bytes], None], *, latched: bool) -> 'Broker':
        """
        Begin to pass on states; return what `destroy` ends.

        :param latched: whether to take a state that the broker has kept.
        """
        self._takes_kept, self._listener = latched, listener
        self._client.subscribe(self._read_topic)  # without a connection, it is done with the next
        return self

    def destroy(self) -> None:
        """Stop passing on states."""
        self._listener = None
        self._read.clear()
        self._client.unsubscribe(self._read_topic)

    def publish(self, region: str, nanoseconds: int) -> None:
        """Publish a private state, as soon as there is a connection."""
        self._waiting.append(self.topic.private_state(self._number, nanoseconds, region))
        self._number += 1
        if len(self._waiting) > _MOST_WAITING:
            del self._waiting[1]  # the first may be on its way
            self.dropped += 1
        self._send()

    def close(self) -> None:
        """Leave the broker, once it has all private states, or after half a second."""
        until = monotonic() + _PATIENCE
        while self._waiting and self.is_connected and monotonic() < until:
            sleep(0.005)
            self._send()
        self._closed, was_connected = True, self.is_connected
        self._client.disconnect()
        if was_connected:  # else its thread may still try to connect; it ends by itself
            self._client.loop_stop()
        if self._waiting:
            self._node.get_logger().warning(
                f'{len(self._waiting)} private states did not reach the broker {self._name}')

    def _send(self) -> None:
        """Give the client the next private state, once it has none: so their order stays."""
        if self._in_flight in self._acknowledged:
            self._acknowledged.remove(self._in_flight)
            self._waiting.popleft()
            self._in_flight = -1
        if self._waiting and self._in_flight < 0 and not self._closed:
            # The client sends it again after the connection was lost.
            self._in_flight = self._client.publish(
                self.topic.private, self._waiting[0], qos=1, retain=True).mid

    def _take(self) -> None:
        """Pass on one state; others come later: what else the node has to do is not held up."""
        if self._read:
            payload = self._read.popleft()
            if self._listener is not None:
                self._listener(payload)
        if self._read:
            self._post(self._guarded_take)

    # In the client's thread:

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, *_: Any) -> None:
        if self._closed:
            client.disconnect()
        elif reason == 0:
            self.is_connected = True
            if self._listener is not None:
                client.subscribe(self._read_topic)

    def _disconnected(self, *_: Any) -> None:
        self.is_connected = False

    def _subscribed(self, client: Any, data: Any, number: int, codes: Any, *_: Any) -> None:
        # Version 1 of the library has integers; from 128 on it was refused.
        self._is_refused = any(getattr(code, 'value', code) >= 128 for code in codes)

    def _came(self, client: Any, data: Any, message: Any) -> None:
        if self._listener is None or message.retain and not self._takes_kept:
            return
        self._takes_kept = False
        self._read.append(message.payload)
        if len(self._read) == 1:  # else one more is taken after those before it
            self._post(self._guarded_take)

    def _left(self, client: Any, data: Any, number: int, *_: Any) -> None:
        self._acknowledged.add(number)
        self._post(self._guarded_send)

    def _post(self, work: Callable[[], None]) -> None:
        if not self._closed and (executor := self._node.executor) is not None:
            executor.create_task(work)


def _address(name: str) -> tuple[str, int]:
    """
    Return host and port of a broker.

    :raises ConfigurationError: it is no address.
    """
    try:
        url = urlsplit(name)
        port = url.port or _PORTS[url.scheme]
        (url.hostname or '').encode('idna')  # else this error would end the client's thread
    except (KeyError, ValueError):
        url, port = urlsplit(''), 0
    if not url.hostname or url.path.strip('/') or url.query or url.fragment or (
            '@' in url.netloc):
        # Not quoted: it may hold a password.
        raise ConfigurationError('broker must be mqtt://HOST:PORT or, with TLS, mqtts://HOST:'
                                 'PORT; name and password stand in the file broker_login',
                                 setting='broker')
    return url.hostname, port


def _login(path: Path) -> tuple[str, str]:
    """
    Return the name and password in a file.

    :raises ConfigurationError: it cannot be read, others may read it, or it has not two lines.
    """
    problem = 'it must have two lines: the name and the password'
    try:
        if path.stat().st_mode & 0o077:
            problem = 'others may read it: chmod 600'
        elif len(lines := read_map_text(path).splitlines()) == 2 and all(lines):
            return lines[0], lines[1]
    except OSError as error:
        problem = f'it cannot be read: {error.strerror}'
    except ChainError as error:
        problem = error.reason
    raise ConfigurationError(f'broker_login {printable(path)}: {problem}', setting='broker_login')


def _client(settings: InputSettings) -> Any:
    """
    Return a client of the MQTT library, which connects to the broker once its loop starts.

    :raises ConfigurationError: the library is not found; the address is none; the login cannot
        be read.
    """
    try:
        from paho.mqtt import client as paho
    except ImportError:
        raise ConfigurationError('broker needs paho-mqtt, which is not found: pip install '
                                 "'symdp_ros[mqtt]', or apt install python3-paho-mqtt",
                                 setting='broker') from None
    host, port = _address(settings.broker)
    # Version 1 of the library has one kind of callbacks.
    versions = getattr(paho, 'CallbackAPIVersion', None)
    client = paho.Client(**({} if versions is None else {
        'callback_api_version': versions.VERSION2}))
    client.suppress_exceptions = True  # an error would end its thread
    client.reconnect_delay_set(*_RETRIES)
    if settings.broker_login:
        client.username_pw_set(*_login(resolve_path(settings.broker_login)))
    if urlsplit(settings.broker).scheme == 'mqtts':
        client.tls_set()  # by the certificates of the system, or SSL_CERT_FILE
    client.connect_async(host, port, _KEEP_ALIVE)
    return client
