# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files that parameters name: plain paths and package:// URLs."""
from collections.abc import Callable
from pathlib import Path
import sys

from symdp_ros.errors import ConfigurationError, printable

_PACKAGE = 'symdp_ros'


def resolve_path(name: str) -> Path:
    """
    Return the path that a parameter names.

    :param name: a path (~ is the home directory) or package://PACKAGE/PATH.

    :raises ConfigurationError: the package, or the user after ~, is not found; or it is a
        substitution of launch.
    """
    if name.startswith('$('):
        inside, _, rest = name[2:].partition(')')
        package = inside.removeprefix('find-pkg-share').strip()
        instead = f'package://{package}{rest}' if inside != package else 'the path itself'
        raise ConfigurationError(f'{printable(name)} is a substitution of launch, which only '
                                 f'launch files know: write {printable(instead)}')
    if not name.startswith('package://'):
        try:
            return Path(name).expanduser()
        except (RuntimeError, ValueError):  # ValueError: a zero byte
            raise ConfigurationError(f'{name}: there is no such user') from None
    package, _, rest = name.removeprefix('package://').partition('/')
    return share_directory(package) / rest


def resolve_kept(option: str, name: str, warn: Callable[[str], object]) -> Path:
    """
    Return the path of a file that must be the same at every start; warn where it is relative.

    :raises ConfigurationError: as `resolve_path`.
    """
    path = resolve_path(name)
    if not path.is_absolute():
        path = Path.cwd() / path
        warn(f'{option} {printable(name)} is relative to the folder that the node was started '
             f'in: it is {printable(path)}. Started elsewhere, the node makes another file, and '
             'begins anew: give an absolute path')
    return path


def share_directory(package: str) -> Path:
    """
    Return the share directory of a ROS package.

    This package is also found without an ament index, or without ROS: in the Python environment
    that it was installed into, or in its source tree.

    :raises ConfigurationError: the package is not found.
    """
    try:
        from ament_index_python.packages import get_package_share_directory
        return Path(get_package_share_directory(package))
    except (ImportError, LookupError, OSError, ValueError):  # ValueError: no name of a package
        if package == _PACKAGE:
            source = Path(__file__).resolve().parents[2]
            for place in (source, Path(sys.prefix) / 'share' / _PACKAGE):
                if (place / 'package.xml').is_file():
                    return place
    raise ConfigurationError(f"package '{printable(package)}' is not found: is its workspace "
                             'sourced?')
