"""`symdp`: one command with one module of this folder for each subcommand."""
import argparse
import os
import sys

from symdp_ros import SymdpError, __version__
from symdp_ros.cli import automaton, calibrate, check, demo, ledger, release
from symdp_ros.core.printable import printable

COMMANDS = (check, calibrate, demo, release, ledger, automaton)

_LONGEST_LINE = 2000  # characters of an error, which may quote what stands in a file


def main(arguments=None) -> int:
    """Run `symdp`; return the exit status (0 done, 1 a problem that is said, 2 wrong usage)."""
    parser = argparse.ArgumentParser(
        prog='symdp', description='Word differential privacy for the regions and modes of robots.')
    parser.add_argument('--version', action='version', version=f'symdp {__version__}')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for module in COMMANDS:
        module.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except SymdpError as error:
        text = '\n'.join(printable(line, _LONGEST_LINE) for line in str(error).split('\n'))
        print(f'symdp {options.command}: {text}', file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of a pipe is gone (`symdp check … | head`): nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    sys.exit(main())
