# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A real MQTT broker (mosquitto) of a test, and a client that writes and reads there."""
import shutil
import socket
import subprocess
from threading import Event

from harness import wait_until
import pytest

paho = pytest.importorskip('paho.mqtt.client', reason='paho-mqtt is not installed')
MOSQUITTO = shutil.which('mosquitto', path='/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin')


def client():
    """Return a client of either version of the library."""
    versions = getattr(paho, 'CallbackAPIVersion', None)
    return paho.Client(**({} if versions is None else {
        'callback_api_version': versions.VERSION2}))


class Mosquitto:
    """
    A broker on a port of its own of the loopback interface.

    :param settings: further lines of its configuration.
    """

    def __init__(self, directory, *settings):
        if MOSQUITTO is None:
            pytest.skip('mosquitto is not installed')
        with socket.socket() as found:
            found.bind(('127.0.0.1', 0))
            self.port = found.getsockname()[1]
        self.address = f'mqtt://127.0.0.1:{self.port}'
        self._file, self._log = directory / 'mosquitto.conf', directory / 'mosquitto.log'
        self._file.write_text('\n'.join([
            f'listener {self.port} 127.0.0.1', 'persistence false', 'log_dest stderr',
            'log_type error', 'log_type subscribe', 'log_type unsubscribe',
            *(settings or ['allow_anonymous true'])]) + '\n')
        self._process = None
        self.start()

    def start(self):
        """Start it, and wait until it listens."""
        with self._log.open('a') as log:
            self._process = subprocess.Popen([MOSQUITTO, '-c', self._file], stdout=log, stderr=log)
        wait_until(self._listens, lambda: f'a broker: {self._log.read_text()}')

    def _listens(self):
        assert self._process.poll() is None, self._log.read_text()
        try:
            socket.create_connection(('127.0.0.1', self.port), 1.0).close()
        except OSError:
            return False
        return True

    def count(self, topic) -> int:
        """Return how often a topic was subscribed to, and left, so far."""
        return sum(line.endswith(f' {topic}') for line in self._log.read_text().splitlines())

    def kill(self):
        """End it without warning, whatever it holds."""
        self._process.kill()
        self._process.wait()


class Station:
    """
    A client of a broker, as a robot or as a fleet control.

    :param topics: to read; `messages` has (topic, payload, whether the broker had kept it).
    """

    def __init__(self, broker, *topics, login=None):
        self.messages, self._ready = [], Event()
        self._client, self._topics = client(), topics
        self._client.reconnect_delay_set(1, 1)
        self._client.on_connect, self._client.on_message = self._connected, self._came
        self._client.on_subscribe = lambda *_: self._ready.set()
        if login:
            self._client.username_pw_set(*login)
        self._client.connect('127.0.0.1', broker.port)
        self._client.loop_start()
        self.wait_until_ready()

    def wait_until_ready(self):
        """Wait for the connection and for the topics."""
        wait_until(self._ready.is_set, 'a connection to the broker')

    def forget_connection(self):
        """Take note that the broker is gone: `wait_until_ready` waits for the next one."""
        wait_until(lambda: not self._client.is_connected(), 'the end of the connection')
        self._ready.clear()

    def _connected(self, *_):
        for topic in self._topics:
            # Not qos=1: of a broker that is killed while it has unread acknowledgements, the
            # kernel takes back what was on its way.
            self._client.subscribe(topic, qos=0)
        if not self._topics:
            self._ready.set()

    def _came(self, client, data, message):
        self.messages.append((message.topic, message.payload, bool(message.retain)))

    def send(self, topic, *payloads, retain=False):
        """Send messages, as a robot does its states, and wait until they are gone."""
        for payload in payloads:
            self._client.publish(topic, payload, qos=1, retain=retain).wait_for_publish()

    def close(self):
        self._client.disconnect()
        self._client.loop_stop()
