# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
How many messages and calls may wait for a node: the depth of its subscriptions and services.

Both are at least 5,000, the most that Fast DDS keeps for a reader (`max_samples`). At a smaller
depth a reader can become deaf. A full reader drops its oldest message for a newer one. A message
that was lost on the way, and is sent again, is by then older than all that wait, and is dropped,
too; but Fast DDS (2.14.5 was tested; the source of 3.6 is the same) never takes back its place in
memory. When 5,000 − depth places are gone, a reader full of messages that wait for a lost one has
no place for the lost one. It delivers nothing more, from any publisher, until the publisher of
those messages is gone. At 5,000 or more at most one place is lost, and one is kept free for what
is sent again.

Within one process Fast DDS sends nothing again: a reader whose depth is above 5,000 is deaf once
5,001 messages wait, if their publisher keeps more than 5,000
(`findings/keep_all_goes_deaf_in_one_process.sh`). None of this package keeps so many, and robots
publish from other processes.

(`DataReaderHistory::received_change_keep_last` returns true for what it drops; its callers release
only what it returned false for.)
"""

#: More than Fast DDS keeps: 2.14.5 then drops nothing, but has it sent again later.
MESSAGES = 16_000
#: Not more: the answers to clients that do not take theirs would make a service wait.
CALLS = 5000
