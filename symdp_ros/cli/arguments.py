# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of `symdp`, made from options."""
import argparse
from collections.abc import Iterable
import sys

from symdp_ros.core.naming import alike, quoted
from symdp_ros.core.registry import check_gone
from symdp_ros.errors import ConfigurationError, printable
from symdp_ros.options import Option


class Parser(argparse.ArgumentParser):
    """
    A parser whose errors are one line that can be shown on a terminal.

    A value that `Option.check` refuses is wrong usage, too.
    """

    def _check_value(self, action, value):
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            try:
                check_gone(action.dest, value)
            except ConfigurationError as gone:
                raise argparse.ArgumentError(action, gone.reason) from None
            if close := alike(str(value), [*map(str, action.choices)]):
                raise argparse.ArgumentError(action, f'{error.message}; did you mean '
                                             f'{" or ".join(map(quoted, close))}?') from None
            raise

    def error(self, message):
        super().error(printable(message, 2000))

    def parse_known_args(self, args=None, namespace=None):
        self._check_names(sys.argv[1:] if args is None else args)
        options, rest = super().parse_known_args(args, namespace)
        for action in self._actions:
            value = getattr(options, action.dest, None)
            # For `--option=--`, Python before 3.13 makes an empty list.
            if value == [] != action.default or value == [[]]:
                self.error(f'argument {"/".join(action.option_strings)}: expected one argument')
            if value is not None and hasattr(action, 'declared'):
                try:
                    if value == '' and not action.required:
                        raise ConfigurationError(f'{action.dest} is empty: leave it out')
                    action.declared.check(value)
                except ConfigurationError as error:
                    self.exit(2, f'{self.prog}: {error}\n')
        return options, rest

    def _check_names(self, words):
        """Say which option was meant, before anything is said of those that are missing."""
        if self._subparsers is not None:  # the parser of the subcommand does
            return
        known = [name for name in self._option_string_actions if name.startswith('--')]
        for word in words:
            if word == '--':
                return
            name = word.partition('=')[0]
            if (word[:2] in self._option_string_actions or not name[:3].lstrip('-').isalpha()
                    or not name.startswith('-') or ' ' in name
                    or any(option.startswith(name) for option in known)):
                continue
            if close := alike('--' + name.lstrip('-').replace('_', '-'), known):
                self.error(f'unrecognized argument: {name}; did you mean {" or ".join(close)}?')


def add_arguments(parser: argparse._ActionsContainer, options: Iterable[Option]) -> None:
    """
    Add an argument for each option: `--its-name`, or also `-o` for `output`.

    An argument that is neither given nor has a default is None.
    """
    for option in options:
        flags = [*(['-o'] if option.name == 'output' else []),
                 f'--{option.name.replace("_", "-")}']
        if option.kind is bool:
            parser.add_argument(*flags, action='store_true', help=option.meaning)
            continue
        shown = '' if option.default in (None, '', []) else f'; default: {option.default}'
        several = {'action': 'append'} if option.kind is list else {}
        action = parser.add_argument(
            *flags, type=str if option.kind is list else option.kind,
            default=None if option.default == '' else option.default,
            required=option.default is None, choices=option.choices or None,
            metavar=None if option.choices or not option.unit else option.unit.upper(),
            help=option.meaning + ('; may be given several times' if several else '') + shown,
            **several)
        setattr(action, 'declared', option)
