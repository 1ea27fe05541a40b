"""Logs: patrols as recordings, CSV and JSON Lines; read, sampled into words, and written."""
from symdp_ros.core.errors import LogError
from symdp_ros.logs.files import (FORMATS, LogFile, LogListing, LogState, SkippedLog, list_logs,
                                  read_log, release_name, write_log)
from symdp_ros.logs.sampling import SAMPLING, UNKNOWN_SYMBOL, sample

__all__ = ['FORMATS', 'SAMPLING', 'UNKNOWN_SYMBOL', 'LogError', 'LogFile', 'LogListing',
           'LogState', 'SkippedLog', 'list_logs', 'read_log', 'release_name', 'sample', 'write_log']
