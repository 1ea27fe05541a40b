# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `log_release`: logged patrols are released on a service call."""
if __name__ == '__main__':  # before the imports, which are slow
    from symdp_ros.nodes.program import run_program
    raise SystemExit(run_program('log_release'))

import os
from pathlib import Path
import threading
import time

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.qos import QoSProfile
from rclpy.task import Future
from std_srvs.srv import Trigger
from symdp_ros import __version__
from symdp_ros.errors import ConfigurationError, SymdpError
from symdp_ros.files.durable import make_directory
from symdp_ros.files.resources import resolve_kept, resolve_path
from symdp_ros.ledger.charging import Charging
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.live_account import log_account
from symdp_ros.maps.dead_ends import counted, unreached
from symdp_ros.maps.map_settings import MapSettings
from symdp_ros.maps.reports import protection
from symdp_ros.maps.zones import zones_sentences
from symdp_ros.messages.fields import full_type, message_class
from symdp_ros.release.answers import answer, release_answer, status_answer
from symdp_ros.release.mechanisms import Mechanisms
from symdp_ros.release.session import code_of, Releaser
from symdp_ros.release.settings import check_apart, check_directories_apart, ReleaseSettings
from symdp_ros.ros.graph.queues import CALLS
from symdp_ros.ros.lifecycle import ManagedNode
from symdp_ros.ros.live.shared_runs import SharedRuns
from symdp_ros.ros.process.spinning import run
from symdp_ros.ros.region_messages import pose_reader, region_reader

_BETWEEN_ANSWERS = 0.002  # seconds; each client receives all answers, and queues only ten


class _NextTurn:
    """Awaiting it lets the executor do other work first."""

    def __await__(self):
        yield


class LogRelease(ManagedNode):
    """
    Privatizes every log in `log_dir` that is not yet released, into `release_dir`.

    Services (std_srvs/srv/Trigger): `~/release`, which answers when all is done; `~/status`. Both
    answer in JSON: `release.answers`. Parameters: `options.PARAMETERS`. Releases run one after
    another on a thread of their own, so the node answers meanwhile; calls that come while one
    waits to start share its answer. They stop between logs when the node is deactivated or asked
    to end. Answers contain names, lengths and what was spent, and of what a log contains only
    that `allow_unknown` refuses it.

    :param random: for tests, an object with `getrandbits`.
    """

    def __init__(self, *, random=None, **kwargs):
        self._random = random
        super().__init__('log_release', **kwargs)
        self._stop = threading.Event()  # of this activation
        self._runs = self._ledger = None
        self._running = 0
        self._next_answer = 0.0
        self._active = False
        # Made once: a destroyed service could not answer pending calls.
        self.create_service(Trigger, '~/release', self._on_release,
                            qos_profile=QoSProfile(depth=CALLS),
                            callback_group=ReentrantCallbackGroup())
        self.create_service(Trigger, '~/status', self._on_status,
                            qos_profile=QoSProfile(depth=CALLS))

    def prepare(self):
        """Read the map, and make what draws, so that no release need wait for it."""
        settings = ReleaseSettings.of(MapSettings.of(self.settings).read(), self.settings)
        mechanisms = Mechanisms(settings, self._random, self.get_logger().info)
        try:
            mechanisms.prepare()
        except SymdpError as error:
            self.get_logger().error(str(error))
        except Exception as error:  # such as a full disk; a release tries again
            self.get_logger().error('releases were not prepared: an error of type '
                                    f'{type(error).__name__}')
        return settings, mechanisms

    def configure(self):
        settings, map_settings = self.settings, MapSettings.of(self.settings)
        self._release_settings, self._mechanisms = self.prepared()
        self._charging = Charging.of(settings)
        self._log_dir, self._release_dir = (
            Path(os.path.realpath(resolve_path(settings[name])))
            for name in ('log_dir', 'release_dir'))
        if not os.path.isdir(self._log_dir):
            raise ConfigurationError(f'log_dir {self._log_dir} is not a directory: make it')
        check_directories_apart(self._log_dir, self._release_dir)
        ledger_file = resolve_kept('ledger_file', settings['ledger_file'],
                                   self.get_logger().warning)
        check_apart(ledger_file, self._release_dir)
        self._check_field()
        make_directory(self._release_dir)
        self._ledger = Ledger(ledger_file)
        self._charging.keep_in(self._ledger)
        # Made now, so that problems are reported at the start; this also finishes interrupted
        # releases.
        with self._releaser(self._ledger) as releaser:
            for problem in releaser.problems:
                self.get_logger().error(problem)
        for problem in self._ledger.problems():
            self.get_logger().error(f'ledger: {problem}')
        self._log_settings(map_settings.path.name)
        self._runs = SharedRuns('release')

    def activate(self):
        self._stop = threading.Event()
        self._active = True
        self.get_logger().info('active')

    def deactivate(self):
        self._active = False
        self._stop.set()

    def on_cleanup(self, state):
        if self._running:
            self.get_logger().error('a release is still running: deactivate the node, and clean '
                                    'up when ~/status says that none is')
            return TransitionCallbackReturn.FAILURE
        return super().on_cleanup(state)

    def cleanup(self):
        self._stop.set()
        if self._runs is not None:
            self._runs.close()  # at most one log is still being released
            self._runs = None
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _releaser(self, ledger):
        share = self.settings['allow_unknown']
        return Releaser(self._release_settings, self._release_dir, ledger=ledger,
                        program=f'symdp_ros {__version__}',
                        allow_unknown=share if share < 1 else None,
                        mechanisms=self._mechanisms, **self._charging.limits())

    def _check_field(self):
        """
        Refuse a type and field of recordings that the node privatizer would refuse, too.

        A type that is not installed here is not checked: recordings contain its definition.
        """
        settings, reading = self._release_settings, self._release_settings.input
        full_type(reading.message_type)
        try:
            message_type = message_class(reading.message_type)
        except ConfigurationError:
            return
        if settings.locator is None:
            region_reader(message_type, reading, settings.chain.states)
        else:
            pose_reader(message_type, reading, settings.locator)

    def _log_settings(self, chain_name):
        settings, log = self._release_settings, self.get_logger().info
        chain, privacy = settings.chain, settings.privacy
        log(f'chain {chain_name}: {len(chain)} states, {chain.edge_count} moves; '
            f'{settings.privacy_text}; {settings.mechanism.text(chain)}')
        for warning in filter(None, (unreached(chain), settings.pose_text)):
            self.get_logger().warning(warning)
        if privacy.zones is not None:
            told, warning = zones_sentences(privacy.zones)
            log(told)
            if warning:
                self.get_logger().warning(warning)
        if settings.sampling.protect:
            log(protection(settings.sampling.protect, privacy))
        if self._charging.budget == 0:
            log('budget: 0.0, no limit')
        log_account(self._ledger, self._charging.subject, self.get_logger())
        keep = settings.writing.keep
        if keep.topics:
            log(f'kept topics: {", ".join(keep.topics)}: ε does not cover them. Their timing may '
                'show what the robot does; a topic that a log does not hold, or whose type shows '
                'where the robot is, is left out')
        log('the names and lengths of logs are public. The time that a release takes may reveal '
            'something of its log: call ~/release on a schedule')

    async def _on_release(self, request, response):
        self._running += 1  # no cleanup meanwhile
        try:
            response.success, response.message = await self._answer()
        finally:
            self._running -= 1
        return response

    async def _answer(self):
        """Release all logs; return success and message."""
        if not self._active:
            return False, answer('not_active', 'the node is not active: activate it first')
        done, stop = Future(executor=self.executor), self._stop
        # All calls in one activation ask for the same.
        self._runs.ask(stop, lambda: self._release_all(stop), done.set_result)
        answered = await done
        while time.monotonic() < self._next_answer:
            await _NextTurn()
        self._next_answer = time.monotonic() + _BETWEEN_ANSWERS
        return answered

    def _release_all(self, stop):
        """Release all logs, on the thread of the runs; return success and message."""
        try:
            with Ledger(self._ledger.path) as ledger, self._releaser(ledger) as releaser:
                report = releaser.release_directory(self._log_dir, stop.is_set, self._log_outcome)
                message = release_answer(
                    report, ledger, subject=self._charging.subject,
                    settings=self._release_settings.digest(), budget=self._charging.budget,
                    directory=self._release_dir)
            for problem in report.problems:
                self.get_logger().error(problem)
            return report.ok, message
        except SymdpError as error:
            return False, answer(code_of(error), str(error))
        except Exception as error:  # its text might quote a log
            sentence = f'the release ended with an error of type {type(error).__name__}'
            self.get_logger().error(sentence)
            return False, answer(code_of(error), sentence)

    def _log_outcome(self, outcome):
        if outcome.reason:
            self.get_logger().warning(f'{outcome.log_id}: {outcome.kind}: {outcome.reason}')
        elif outcome.kind == 'released':
            self.get_logger().info(
                f'{outcome.log_id}: {counted(outcome.length, "symbol")} released')

    def _on_status(self, request, response):
        if self._ledger is None:
            response.message = answer('not_configured', 'the node is not configured')
            return response
        try:
            account = self._ledger.account(self._charging.subject)
        except SymdpError as error:
            response.message = answer(code_of(error), str(error))
            return response
        response.success = True
        response.message = status_answer(account, self._running > 0)
        return response


def main(arguments=None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit status."""
    return run(LogRelease, arguments, coroutines=True)
