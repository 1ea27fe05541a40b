"""A simulated robot and its privatizer, on the sample warehouse."""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """Start `patrol` and `privatizer` in one namespace."""
    chain = {
        'chain_file': ParameterValue(LaunchConfiguration('chain_file'), value_type=str),
        'initial_state': ParameterValue(LaunchConfiguration('initial_state'), value_type=str),
    }
    epsilon = ParameterValue(LaunchConfiguration('epsilon'), value_type=float)
    period = ParameterValue(LaunchConfiguration('period'), value_type=float)
    namespace = LaunchConfiguration('namespace')
    return LaunchDescription([
        DeclareLaunchArgument('namespace', default_value='demo'),
        DeclareLaunchArgument('chain_file',
                              default_value='package://symdp_ros/config/warehouse.chain.yaml'),
        DeclareLaunchArgument('initial_state', default_value='',
                              description='needed where the file names none'),
        DeclareLaunchArgument('epsilon', default_value='2.0'),
        DeclareLaunchArgument('period', default_value='1.0',
                              description='seconds between regions of the robot'),
        Node(package='symdp_ros', executable='privatizer', namespace=namespace, output='screen',
             parameters=[{**chain, 'epsilon': epsilon}]),
        Node(package='symdp_ros', executable='patrol', namespace=namespace, output='screen',
             parameters=[{**chain, 'period': period, 'wait_for_subscribers': 1}]),
    ])
