# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logs: patrols as recordings, CSV and JSON Lines; read, sampled into words, and written."""
from symdp_ros.errors import LogError
from symdp_ros.logs.kept_topics import Keep, KeptTopics, TopicOutcome
from symdp_ros.logs.log_files import (FORMATS, list_logs, LogFile, LogListing, LogState,
                                      read_input, read_log, release_name, SkippedLog, write_log,
                                      write_with_topics)
from symdp_ros.words.sampling import sample, sampled

__all__ = ['FORMATS', 'Keep', 'KeptTopics', 'LogError', 'LogFile', 'LogListing', 'LogState',
           'SkippedLog', 'TopicOutcome', 'list_logs', 'read_input', 'read_log', 'release_name',
           'sample', 'sampled', 'write_log', 'write_with_topics']
