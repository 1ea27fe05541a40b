#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: services are reliable: a server that is busy answers later, and each call is
# answered in the end, or fails. What happens: the calls that wait are in a queue of ten. The
# eleventh replaces the oldest, whose client is never answered: no error, no event, no log; the
# future waits for ever. So it is with many calls of one client, and with one call each of many.
# The answers are in such a queue, too: one at each client, which gets the answers to all clients,
# and passes over those of others when it looks. So a client that has made a single call, and is
# busy while the server answers ten calls of another, never gets its answer: the server has done
# what it asked, and it cannot know. A deeper QoS profile at the server alone is not enough: the
# clients need one as deep as all that call at a time.
#
# Seen with ros-rclpy 7.1.6 (Jazzy) and 9.1.2 (Kilted), rmw_fastrtps_cpp, between two processes.
# Source: rmw/qos_profiles.h, rmw_qos_profile_services_default (reliable, but KEEP_LAST with depth
# 10; rclpy/qos.py, qos_profile_services_default); Fast DDS 2.14.5, src/cpp/fastdds/subscriber/
# history/DataReaderHistory.cpp, received_change_keep_last (removes the oldest, whoever sent it);
# all clients of a service read one topic of answers. Parameter services have depth 1,000.
# Who is hurt: whoever lets a fleet report to one service, or sends a list of calls with call_async
# and waits for all: what is lost may be a charge, a map update or a stop, and what is repeated
# for want of an answer is done twice. Set the depth on both sides, and give each wait an end.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-178}

cat > "$folder/look.py" <<'PYTHON'
import subprocess
import sys
from threading import Event, Thread
from time import monotonic, sleep

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger


def serve(depth, first):
    """Answer calls until the input ends, the first one after some seconds; say how many."""
    context, done = rclpy.Context(), []
    rclpy.init(args=['n'], context=context)
    node, executor = rclpy.create_node('server', context=context), SingleThreadedExecutor(
        context=context)
    executor.add_node(node)

    def answer(request, response):
        if not done:
            sleep(first)
        done.append(request)
        return response

    node.create_service(Trigger, 'report', answer, qos_profile=QoSProfile(depth=depth))
    ended = Event()
    Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
    while not ended.is_set():
        executor.spin_once(timeout_sec=0.1)
    print(len(done))


def answered(calls, server_depth, client_depth, first, away):
    """Return how many calls of each client are answered, and how many the server has done."""
    with subprocess.Popen([sys.executable, __file__, str(server_depth), str(first)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        context = rclpy.Context()
        rclpy.init(args=['n'], context=context)
        clients, executor = [], SingleThreadedExecutor(context=context)
        for number in range(len(calls)):
            node = rclpy.create_node(f'client_{number}', context=context)
            clients.append(node.create_client(Trigger, 'report',
                                              qos_profile=QoSProfile(depth=client_depth)))
            executor.add_node(node)
        assert all(client.wait_for_service(20.0) for client in clients)
        sleep(1.0)
        futures = [[client.call_async(Trigger.Request()) for _ in range(count)]
                   for client, count in zip(clients, calls)]
        sleep(away)
        end = monotonic() + 5.0
        while not all(future.done() for made in futures for future in made) and monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        done = int(server.communicate(timeout=20.0)[0])
        context.try_shutdown()
        return [sum(future.done() for future in made) for made in futures], done


if len(sys.argv) > 1:
    serve(int(sys.argv[1]), float(sys.argv[2]))
    sys.exit()
fine = True
for how, calls, server_depth, client_depth, first, away, all_done, all_answered in (
        ('one client calls 30 times', [30], 10, 10, 2.0, 0.0, False, False),
        ('30 clients call once', [1] * 30, 10, 10, 2.0, 0.0, False, False),
        ('the same', [1] * 30, 100, 10, 2.0, 0.0, True, False),
        ('the same', [1] * 30, 100, 100, 2.0, 0.0, True, True),
        ('one calls once, then another 15 times, and both look for answers after 4 s', [1, 15],
         100, 10, 0.0, 4.0, True, False)):
    got, done = answered(calls, server_depth, client_depth, first, away)
    print(f'  {how}; depth {server_depth} at the server, {client_depth} at clients: of '
          f'{sum(calls)} calls {done} are done, {sum(got)} answered', end='')
    print(f', that of the first client not: {got[0] == 0}' if len(calls) == 2 else '')
    fine &= (done == sum(calls)) == all_done and (got == calls) == all_answered
    fine &= len(calls) != 2 or got[0] == 0
sys.exit(0 if fine else 1)
PYTHON

status=0
for pinned in 'ros-rclpy[fastrtps]==7.1.6 ros-std-srvs==5.3.6' \
              'ros-rclpy[fastrtps]==9.1.2 ros-std-srvs==5.5.1'; do
    python3 -m venv "$folder/venv" || exit 2
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
        cat "$folder/pip.log" >&2; exit 2; }
    echo "$pinned"
    if ! "$folder/venv/bin/python" "$folder/look.py"; then
        echo '  this version behaves otherwise'
        status=1
    fi
    rm -rf "$folder/venv"
done
[ "$status" -ne 0 ] || echo 'Calls beyond the ten that wait are never answered.'
exit "$status"
