"""The executables: one module for each node."""
import sys
from collections.abc import Set
from importlib import import_module
from pathlib import Path

NODES = ('privatizer', 'log_release', 'belief', 'patrol')


def parameter_names() -> Set[str]:
    """Return the names of the parameters of all nodes: they may share one parameter file."""
    from symdp_ros.ros.lifecycle import AUTOSTART

    return {AUTOSTART.name, *(setting.name for node in NODES for setting in import_module(
        f'{__name__}.{node}').SETTINGS)}


def _check_ros():
    """End a node that is started where there is no ROS with one sentence."""
    # Whoever else imports these modules gets the ImportError. `python -m` finds them under '-m'.
    program = Path(sys.argv[0]).name if sys.argv else ''
    if program != '-m' and program not in NODES:
        return
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        node = 'a node' if program == '-m' else program
        raise SystemExit(
            f'{node} needs ROS 2, and rclpy cannot be imported ({error}): source a ROS 2, such as '
            ". /opt/ros/jazzy/setup.sh, or install one with pip install 'symdp_ros[jazzy]'"
        ) from None


_check_ros()
