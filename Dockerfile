# symdp_ros on a ROS 2 image: untried, checked for syntax only.
#
#     docker build -t symdp_ros .                             # or --build-arg ROS_DISTRO=lyrical
#     docker run --rm --net=host --ipc=host symdp_ros         # the demo
#     docker run --rm --net=host --ipc=host -v /maps:/maps symdp_ros \
#         ros2 launch symdp_ros privatizer.launch.py chain_file:=/maps/warehouse.geojson \
#             initial_state:=5 epsilon:=2.0
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}-ros-base
ENV DEBIAN_FRONTEND=noninteractive
SHELL ["/bin/bash", "-o", "pipefail", "-c"]

WORKDIR /workspace
COPY . src/symdp_ros
RUN apt-get update \
    && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths src --ignore-src --dependency-types exec -y \
    && rm -rf /var/lib/apt/lists/*
RUN . "/opt/ros/$ROS_DISTRO/setup.bash" && colcon build
# Where there is numba: no first use has to wait until the inner loops are compiled.
RUN . install/setup.bash && ros2 symdp warm-up

ENTRYPOINT ["bash", "-c", ". /workspace/install/setup.bash && exec \"$@\"", "--"]
CMD ["ros2", "launch", "symdp_ros", "demo.launch.py"]
