"""Start `privatizer` for one robot."""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

ARGUMENTS = {
    'namespace': ('', 'namespace of the node and its topics, such as robot_1'),
    'params_file': ('', 'YAML file with parameters; the arguments below go before it'),
    'log_level': ('info', 'debug, info, warn, error or fatal'),
    'region': ('region', 'topic with the sensitive region'),
    'private_region': ('private_region', 'topic with the private region'),
}
PARAMETERS = {
    'use_sim_time': (bool, 'take the time from /clock'),
    'autostart': (bool, 'configure and activate at once; false: wait for a lifecycle manager'),
    'chain_file': (str, 'chain (.yaml) or Nav2 route graph (.geojson), or package://PACKAGE/PATH'),
    'initial_state': (str, 'the public state from which every word starts'),
    'self_loops': (bool, 'every state can also follow itself'),
    'epsilon': (float, 'ε, at least 0: smaller is more private'),
    'adjacency': (int, 'k, at least 1: how many symbols may differ'),
    'policy': (str, 'paper or guided'),
    'sampling': (str, 'message, change or period'),
    'period': (float, 'seconds between symbols, for sampling:=period'),
    'state_file': (str, 'file that carries the word over a restart'),
}


def generate_launch_description():
    """Declare the arguments; those left empty leave the parameter to params_file."""
    return LaunchDescription([
        *(DeclareLaunchArgument(name, default_value=default, description=text)
          for name, (default, text) in ARGUMENTS.items()),
        *(DeclareLaunchArgument(name, default_value='', description=f'parameter {name}: {text}')
          for name, (_, text) in PARAMETERS.items()),
        OpaqueFunction(function=_node),
    ])


def _node(context):
    def given(name):
        return LaunchConfiguration(name).perform(context)

    parameters = [ParameterFile(given('params_file'))] if given('params_file') else []
    parameters.append({
        name: ParameterValue(LaunchConfiguration(name), value_type=kind)
        for name, (kind, _) in PARAMETERS.items() if given(name)
    })
    return [Node(
        package='symdp_ros', executable='privatizer', name='privatizer',
        namespace=given('namespace'), output='screen', parameters=parameters,
        arguments=['--ros-args', '--log-level', given('log_level')],
        remappings=[(name, given(name)) for name in ('region', 'private_region')
                    if given(name) != name])]
