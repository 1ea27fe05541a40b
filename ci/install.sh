#!/bin/bash
# Install what package.xml asks for. DEPENDENCIES='build exec': not what only tests need.
set -eo pipefail
apt-get update
rosdep update --rosdistro "$ROS_DISTRO"
rosdep install --from-paths src --ignore-src -y ${DEPENDENCIES:+-t ${DEPENDENCIES// / -t }}
