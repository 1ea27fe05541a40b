#!/bin/bash
# What the image runs: a node or command of the package by its name, else the command as it is.
. /workspace/install/setup.bash
case "$1" in
    privatizer | log_release | fleet | patrol | symdp) exec ros2 run symdp_ros "$@" ;;
    *) exec "$@" ;;
esac
