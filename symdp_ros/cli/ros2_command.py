# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`ros2 symdp …`: the same commands and options, in ROS's command line (ros2cli finds this)."""
from ros2cli.command import CommandExtension


class SymdpCommand(CommandExtension):
    """Private regions of robots: maps, choice of ε, logs, ledgers."""

    def add_arguments(self, parser, cli_name, **_) -> None:
        """Add what `symdp` has. Imported here: `ros2` makes every command to list them all."""
        from symdp_ros.cli.main import add_commands

        add_commands(parser)

    def main(self, *, parser, args) -> int:
        """Run it; return the exit status of `symdp`."""
        from symdp_ros.cli.main import run

        return run(args)
