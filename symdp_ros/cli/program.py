# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The program `symdp`; the imports, which are slow, come last."""


def symdp() -> int:
    """Run `symdp` as `cli.main.main` does; Ctrl-C while it is imported ends it quietly, too."""
    try:
        from symdp_ros.cli.main import main
    except KeyboardInterrupt:
        return 130
    return main()
