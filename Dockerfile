# symdp_ros on a ROS 2 image, for amd64 and arm64. No image was built yet; ci/build.sh was run.
#
#     docker build -t symdp_ros .                              # or --build-arg ROS_DISTRO=lyrical
#     docker run --rm --net=host symdp_ros                    # the demo
#     docker run --rm --net=host -v symdp_words:/root/.ros -v /maps:/maps symdp_ros \
#         privatizer --ros-args -p chain_file:=/maps/warehouse.geojson -p "initial_state:='5'" \
#         -p protect:=30.0 -p epsilon:=2.0
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}-ros-base
ENV DEBIAN_FRONTEND=noninteractive

WORKDIR /workspace
COPY . src/symdp_ros
RUN DEPENDENCIES='build exec' src/symdp_ros/ci/install.sh && rm -rf /var/lib/apt/lists/*
RUN src/symdp_ros/ci/build.sh

ENTRYPOINT ["/workspace/src/symdp_ros/ci/entry.sh"]
CMD ["ros2", "launch", "symdp_ros", "demo.launch.py"]
