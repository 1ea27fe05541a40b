# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which ROS types show where a robot is: by their names, and by their fields."""
from collections.abc import Mapping
import re
from typing import Any, NamedTuple

from symdp_ros.messages.fields import FieldType, interfaces, own_fields

_AREA = 'the cells around the robot'
_DIRECTION = 'a direction, a speed or a way, which can add up to where the robot is'
_FLEET = 'where each robot of a fleet is'
_STEERING = 'how the robot is steered, which adds up to where it is'
_FRAMES = 'where frames are, also that of the robot'
_MOVEMENT = 'speeds, which add up to where the robot is'
_PICTURE = 'a picture for operators, which can show the pose'
_PLACE = 'a position'
_ROUTE = 'where the robot goes'
_SATELLITES = 'the position from satellites'
_SENSOR = 'what the robot senses: the place can be recognised'

#: What is shown → package → types.
_TYPES = {
    _AREA: {
        'map_msgs': 'OccupancyGridUpdate PointCloud2Update ProjectedMap ProjectedMapInfo',
        'nav2_msgs': 'Costmap CostmapFilterInfo CostmapMetaData CostmapUpdate VoxelGrid '
                     'GetCostmap GetCostmaps',
        'nav_msgs': 'GridCells OccupancyGrid', 'grid_map_msgs': 'GridMap',
        'octomap_msgs': 'Octomap OctomapWithPose', 'costmap_msgs': 'Costmap'},
    _DIRECTION: {'geometry_msgs': 'Quaternion QuaternionStamped Vector3 Vector3Stamped'},
    _STEERING: {
        'ackermann_msgs': 'AckermannDrive AckermannDriveStamped', 'sensor_msgs': 'Joy'},
    _FLEET: {
        'rmf_fleet_msgs': 'DestinationRequest FleetState Location PathRequest RobotState',
        'rmf_traffic_msgs': 'ItinerarySet ItineraryExtend Participant Trajectory',
        'vda5050_msgs': 'AGVPosition Order OrderState State Visualization'},
    _FRAMES: {
        'geometry_msgs': 'Transform TransformStamped', 'tf2_msgs': 'TFMessage LookupTransform'},
    _MOVEMENT: {
        'geometry_msgs': 'Accel AccelStamped AccelWithCovariance AccelWithCovarianceStamped Twist '
                         'TwistStamped TwistWithCovariance TwistWithCovarianceStamped '
                         'VelocityStamped',
        'sensor_msgs': 'Imu JointState MultiDOFJointState'},
    _PICTURE: {
        'visualization_msgs': 'ImageMarker InteractiveMarker InteractiveMarkerFeedback '
                              'InteractiveMarkerInit InteractiveMarkerPose '
                              'InteractiveMarkerUpdate Marker MarkerArray MeshFile',
        'foxglove_msgs': 'SceneUpdate'},
    _PLACE: {
        'geometry_msgs': 'Point Point32 PointStamped Polygon PolygonInstance '
                         'PolygonInstanceStamped PolygonStamped Pose Pose2D PoseArray PoseStamped '
                         'PoseWithCovariance PoseWithCovarianceStamped',
        'nav_msgs': 'Odometry', 'nav2_msgs': 'ParticleCloud',
        'px4_msgs': 'VehicleGlobalPosition VehicleLocalPosition VehicleOdometry',
        'turtlesim': 'Pose', 'turtlesim_msgs': 'Pose'},
    _ROUTE: {
        'nav_msgs': 'Goals GetPlan Path Trajectory TrajectoryPoint',
        'nav2_msgs': 'AssistedTeleop BackUp ComputeAndTrackRoute ComputePathThroughPoses '
                     'ComputePathToPose ComputeRoute DockRobot DriveOnHeading DummyBehavior '
                     'FollowGPSWaypoints FollowPath FollowWaypoints NavigateThroughPoses '
                     'NavigateToPose Route SmoothPath Spin UndockRobot Trajectory'},
    _SATELLITES: {
        'sensor_msgs': 'NavSatFix', 'gps_msgs': 'GPSFix', 'nmea_msgs': 'Gpgga Gprmc Sentence',
        'geographic_msgs': 'BoundingBox GeoPath GeoPoint GeoPointStamped GeoPose GeoPoseStamped '
                           'GeoPoseWithCovariance GeoPoseWithCovarianceStamped',
        'px4_msgs': 'SensorGps'},
    _SENSOR: {
        'sensor_msgs': 'CompressedImage FluidPressure Image LaserEcho LaserScan MagneticField '
                       'MultiEchoLaserScan PointCloud PointCloud2 Range',
        'stereo_msgs': 'DisparityImage', 'theora_image_transport': 'Packet',
        'ffmpeg_image_transport_msgs': 'FFMPEGPacket', 'velodyne_msgs': 'VelodyneScan',
        'apriltag_msgs': 'AprilTagDetectionArray', 'vision_msgs': 'Detection3DArray'},
}
_SHOWN = {f'{package}/{name}': shown for shown, packages in _TYPES.items()
          for package, names in packages.items() for name in names.split()}
#: For types whose package is not installed here: parts of their names.
_NAMES = re.compile(
    'camera|cloud|costmap|destination|detection|drive|fleet|follow|geopo|gnss|gps|image|itinerary|'
    'landmark|laser|lidar|localiz|location|marker|navig|navsat|odom|path|pose|position|radar|'
    'robotstate|route|scan|trajector|transform|waypoint', re.IGNORECASE)
#: Types, and whole packages, that name no place.
_HARMLESS = re.compile(
    r'(action_msgs/CancelGoal|bond/.*|builtin_interfaces/.*|composition_interfaces/.*|'
    r'lifecycle_msgs/.*|rosbag2_interfaces/.*|rosgraph_msgs/Clock|'
    r'service_msgs/.*|statistics_msgs/.*|std_msgs/(ColorRGBA|Empty|Header)|std_srvs/.*|'
    r'type_description_interfaces/.*|unique_identifier_msgs/.*)')
_NAME = re.compile(r'(?P<package>[a-z][a-z0-9_]*)(/(?P<kind>msg|srv|action))?/(?P<type>\w+)',
                   re.ASCII)
#: Suffix of the topics and services of an action → which part of the action they carry.
_OF_ACTIONS = {'_FeedbackMessage': 'Feedback', '_SendGoal': 'Goal', '_GetResult': 'Result'}
#: Fields that make a position.
_POSITIONS = ({'x', 'y'}, {'latitude', 'longitude'}, {'lat', 'lon'}, {'lat', 'lng'})
_DEEPEST = 12  # messages within messages; ROS types do not contain themselves


class Shown(NamedTuple):
    """
    What a type shows of where a robot is.

    :ivar certain: it does show where the robot is; otherwise it may.
    :ivar what: in words.
    :ivar field: the dotted path to what shows it; '' if the type as a whole does.
    """

    certain: bool
    what: str
    field: str = ''


def shown_by(type_name: str, known: Mapping[str, Mapping[str, FieldType]] = {},
             depth: int = _DEEPEST) -> Shown | None:
    """
    Return what a message, service or action of a type shows of where a robot is.

    The type itself counts, and each type of its fields, at any depth. For that, only the package
    of the type is imported, if it is installed. None: the type names no place.

    :param type_name: such as nav_msgs/msg/Odometry, nav_msgs/srv/GetPlan, or
        nav2_msgs/action/NavigateToPose_FeedbackMessage.
    :param known: type, such as nav_msgs/Odometry → the types of its fields by name, where they are
        known from elsewhere.
    :param depth: so deep are messages within messages looked into.
    """
    match = _NAME.fullmatch(type_name)
    if not match:
        return Shown(False, 'unknown: no type of ROS')
    package, kind, name = match['package'], match['kind'] or 'msg', match['type']
    part = ''
    for suffix, carried in _OF_ACTIONS.items() if kind == 'action' else ():
        if name.endswith(suffix):
            name, part = name.removesuffix(suffix), carried
    short = f'{package}/{name}'
    if short in _SHOWN:
        return Shown(True, _SHOWN[short])
    # A type that is known from elsewhere may have a harmless name, and other fields.
    harmless = _HARMLESS.fullmatch(short) is not None
    fields = known.get(short) or (None if harmless else _fields(package, kind, name, part))
    if fields is None:
        if harmless:
            return None
        if _NAMES.search(name):
            return Shown(True, 'where the robot is, by the name of the type')
        return Shown(False, f'unknown: {package} is not installed here')
    if any(pair <= fields.keys() for pair in _POSITIONS):
        return Shown(True, _PLACE)
    for field, kind_of_field in fields.items():
        if '/' in kind_of_field.name and depth:
            inside = shown_by(kind_of_field.name, known, depth - 1)
            if inside and inside.certain:
                return Shown(True, inside.what, '.'.join(filter(None, (field, inside.field))))
    if harmless or not fields:
        return None
    return Shown(False, 'unknown: a text or a number can name a place')


def _fields(package: str, kind: str, name: str, part: str) -> Mapping[str, FieldType] | None:
    """Return the fields of a type; None where the package is not installed."""
    module = interfaces(package, kind)
    if module is None:
        return None
    kind_of_message: Any = getattr(module, name, None)
    if kind == 'msg':
        parts = [kind_of_message]
    else:
        parts = [getattr(kind_of_message, each, None) for each in (
            [part] if part else ['Request', 'Response'] if kind == 'srv'
            else ['Goal', 'Result', 'Feedback'])]
    fields: dict[str, FieldType] = {}
    for each in parts:
        if not hasattr(each, 'get_fields_and_field_types'):
            return None
        fields |= own_fields(each)
    fields.pop('structure_needs_at_least_one_member', None)
    return fields
