"""What the nodes need of ROS: parameters, messages, QoS, lifecycle, the executor loop."""
