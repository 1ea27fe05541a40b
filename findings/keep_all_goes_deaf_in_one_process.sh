#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
#
# One would guess: a publisher and a subscription that are reliable and keep all (HistoryPolicy
# .KEEP_ALL) lose nothing while memory lasts; at worst publish() waits or fails. What happens under
# Fast DDS, where both are in one process: when 5,001 messages wait unread, the subscription gets
# the first 5,000, and nothing more, ever: neither the others nor what is sent after it has read
# all. No event of lost messages, nothing in the log; publish() raises only after some 5,000 more.
# With 5,000 unread there is no harm. A depth above 5,000 on both sides does the same. Between
# processes all arrive, and so they do within one where Fast DDS does not hand messages over
# directly. A subscription of small depth loses what is old, and goes on.
#
# Seen with ros-rclpy 7.1.6 (Jazzy, Fast DDS 2.14.5) and 9.1.2 (Kilted, Fast DDS 3.2.3).
# Source: Fast DDS, src/cpp/fastdds/subscriber/history/DataReaderHistory.cpp,
# received_change_keep_all (refuses what is above max_samples, 5,000 by default); src/cpp/rtps/
# writer/StatefulWriter.cpp, deliver_sample_to_intraprocesses (notes a refused one as not
# acknowledged, and starts no timer that would offer it again; later ones wait for it). ROS calls
# keep all `subject to resource limits`; it does not say that the end is silence.
# Who is hurt: whoever runs several nodes in one process, and lets them keep all so that nothing is
# lost: at 100 messages a second, one pause of a minute ends the topic for that node.
#
# Exit status: 0 if it is so, 1 if a version behaves otherwise, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-180}

cat > "$folder/indirect.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <library_settings><intraprocess_delivery>OFF</intraprocess_delivery></library_settings>
</dds>
XML

cat > "$folder/look.py" <<'PYTHON'
from importlib.metadata import version
import os
import sys
from time import monotonic, sleep

direct = len(sys.argv) == 1
if not direct:
    name = 'FASTRTPS' if version('ros-rclpy').startswith('7.') else 'FASTDDS'
    os.environ[f'{name}_DEFAULT_PROFILES_FILE'] = sys.argv[1]

import rclpy  # noqa: E402
from rclpy.event_handler import SubscriptionEventCallbacks  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import HistoryPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402

LATER = 50
PROFILES = {'keep all': QoSProfile(history=HistoryPolicy.KEEP_ALL),
            'depth 10000': QoSProfile(depth=10_000), 'depth 10': QoSProfile(depth=10)}


def heard(context, topic, publishing, reading, unread):
    """Return what is heard of a burst, and of messages that come later; and of events of loss."""
    robot, monitor = (rclpy.create_node(name, context=context) for name in ('robot', 'monitor'))
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(monitor)
    numbers, lost = [], []

    def spin(seconds, count=float('inf')):
        end = monotonic() + seconds
        while monotonic() < end and len(numbers) < count:
            executor.spin_once(timeout_sec=0.05)

    monitor.create_subscription(
        String, topic, lambda message: numbers.append(int(message.data)), PROFILES[reading],
        event_callbacks=SubscriptionEventCallbacks(message_lost=lost.append))
    publisher = robot.create_publisher(String, topic, PROFILES[publishing])
    end = monotonic() + 10.0
    while publisher.get_subscription_count() < 1 and monotonic() < end:
        sleep(0.02)
    assert publisher.get_subscription_count() == 1
    for number in range(unread):  # while the monitor is busy
        publisher.publish(String(data=str(number)))
    # what is sent again is sent every 3 s
    spin(7.0 if direct else 60.0, unread)
    early = len(numbers)
    for number in range(unread, unread + LATER):
        publisher.publish(String(data=str(number)))
        spin(0.02)
    spin(2.0 if direct else 30.0, unread + LATER)
    executor.shutdown()
    for node in (robot, monitor):
        node.destroy_node()
    return early, len(numbers) - early, len(lost)


context, seen = rclpy.Context(), []
rclpy.init(args=['n'], context=context)
cases = ((('keep all', 'keep all', 5000), (5000, LATER, 0)),
         (('keep all', 'keep all', 5001), (5000, 0, 0)),
         (('depth 10000', 'depth 10000', 5001), (5000, 0, 0)),
         (('keep all', 'depth 10', 5001), (10, LATER, 0)))
if not direct:
    cases = ((('keep all', 'keep all', 5001), (5001, LATER, 0)),)
for number, (case, guess) in enumerate(cases):
    found = heard(context, f't{number}', *case)
    print(f'  {"direct" if direct else "not direct"}; publisher: {case[0]}, subscription: '
          f'{case[1]}: of {case[2]} unread messages {found[0]} are heard, of {LATER} later ones '
          f'{found[1]}; {found[2]} events of loss')
    seen.append(found == guess)
context.try_shutdown()
sys.exit(0 if all(seen) else 1)
PYTHON

status=0
for pinned in 'ros-rclpy[fastrtps]==7.1.6 ros-std-msgs==5.3.6' \
              'ros-rclpy[fastrtps]==9.1.2 ros-std-msgs==5.5.1'; do
    python3 -m venv "$folder/venv" || exit 2
    # shellcheck disable=SC2086
    "$folder/venv/bin/pip" install -q --disable-pip-version-check $pinned 2>"$folder/pip.log" || {
        cat "$folder/pip.log" >&2; exit 2; }
    echo "$pinned"
    if ! "$folder/venv/bin/python" "$folder/look.py" ||
            ! "$folder/venv/bin/python" "$folder/look.py" "$folder/indirect.xml"; then
        echo '  this version behaves otherwise'
        status=1
    fi
    rm -rf "$folder/venv"
done
[ "$status" -ne 0 ] || echo 'Who keeps all, and is 5,001 behind, hears nothing more.'
exit "$status"
