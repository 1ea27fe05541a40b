#!/bin/bash
# Test with colcon what ci/build.sh built. Arguments go to pytest.
set -eo pipefail
. install/setup.bash
colcon test --packages-select symdp_ros --event-handlers console_direct+ \
    --pytest-args -n 4 --dist worksteal "$@"
colcon test-result --verbose
