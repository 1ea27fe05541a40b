#!/bin/bash
# Build with colcon in a workspace with src/symdp_ros. A sourced ROS 2 is needed, or one in
# /opt/ros.
set -eo pipefail
[ -n "$AMENT_PREFIX_PATH" ] || . "/opt/ros/$ROS_DISTRO/setup.bash"
colcon build --packages-up-to symdp_ros
. install/setup.bash
