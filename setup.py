# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Installation by colcon (with ROS 2) and by pip (with ROS 2 from wheels, or without any)."""
from glob import glob
from pathlib import Path
import re

from setuptools import Extension, find_packages, setup

NAME = 'symdp_ros'
VERSION = re.search(r"__version__ = '(.+)'", Path(NAME, '__init__.py').read_text()).group(1)

# ROS 2 itself comes from the system, or from wheels of one distro, never mixed.
_MESSAGES = 'std', 'diagnostic', 'geometry', 'nav', 'visualization'
JAZZY = ['ros-rclpy[fastrtps]~=7.1.6', 'ros-std-srvs~=5.3.6',
         *(f'ros-{kind}-msgs~=5.3.6' for kind in _MESSAGES)]
KILTED = ['ros-rclpy[fastrtps]~=9.1.2', 'ros-std-srvs~=5.5.1',
          *(f'ros-{kind}-msgs~=5.5.1' for kind in _MESSAGES)]

# Recordings, where there is no rosbag2_py.
BAGS = ['rosbags>=0.11.9,<0.12', 'mcap>=1.2,<2', 'zstandard>=0.20,<1', 'lz4>=4,<5']
MQTT = ['paho-mqtt>=1.6,<3']  # states of VDA 5050, which go by MQTT
GEO = ['pyproj>=3.3,<4']  # Open-RMF buildings in degrees (wgs84): PROJ knows the projections
PARQUET = ['pyarrow>=15,<27']
DASK = ['dask[distributed]>=2024.2,<2027', *PARQUET]
# What ROS packages are checked with, and types. (flake8-docstrings would check for flake8 a part
# of what ament_pep257 checks.)
LINT = ['ros-ament-flake8>=0.17,<0.20', 'ros-ament-pep257>=0.17,<0.20', 'flake8>=6,<8',
        'flake8-builtins', 'flake8-comprehensions', 'flake8-import-order', 'flake8-quotes',
        'mypy>=1.15,<3', 'pydocstyle>=6.3,<7']

#: The inner loops, in C: of each module, all sources in its folder. Where no compiler is, they are
#: left out, and NumPy does the same. Floats are added in the order of the text: every machine
#: draws the same words from the same bits.
LOOPS = [Extension(f'{NAME}.core.{module}',
                   sorted(glob(f'{NAME}/core/{module.rpartition(".")[0].replace(".", "/")}/*.c')),
                   include_dirs=[f'{NAME}/core'],
                   depends=glob(f'{NAME}/core/**/*.h', recursive=True),
                   extra_compile_args=['-std=c11', '-O3', '-fno-fast-math', '-ffp-contract=off',
                                       '-fvisibility=hidden'],
                   optional=True) for module in (
                       '_loops', 'offline.passes._passes', 'online._online')]

setup(
    name=NAME,
    version=VERSION,
    description='Word differential privacy for the regions and modes of robots',
    license='Apache-2.0',
    url='https://symdp.example.org/symdp_ros',
    author='The symdp_ros authors',
    author_email='maintainers@symdp.example.org',
    maintainer='The symdp_ros maintainers',
    maintainer_email='maintainers@symdp.example.org',
    python_requires='>=3.10',
    # This makes an editable installation work in the folder that holds the clone, too: with the
    # folder `symdp_ros` there, Python would else take the clone itself for the package.
    package_dir={'': '.'},
    package_data={NAME: ['py.typed', '**/*.pyi', 'figures/*.html']},
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    ext_modules=LOOPS,
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'share/{NAME}/launch', glob('launch/*.launch.py')),
        (f'share/{NAME}/launch/examples', glob('launch/examples/*')),
        (f'share/{NAME}/config', [file for file in glob('config/*') if Path(file).is_file()]),
        *((f'share/{NAME}/config/{part}', glob(f'config/{part}/*'))
          for part in ('presets', 'rviz', 'foxglove')),
    ],
    install_requires=['setuptools', 'numpy>=1.26,<3', 'scipy>=1.11,<2',
                      'shapely>=2.0,<3',  # polygons: are they valid, do they touch
                      'PyYAML>=6.0,<7', 'rich>=13.0,<16', 'cryptography>=41',
                      'argcomplete>=2,<4'],
    extras_require={
        'jazzy': JAZZY,
        'kilted': KILTED,
        'bags': BAGS,
        'plot': ['matplotlib>=3.6,<4'],
        'geo': GEO,
        'mqtt': MQTT,
        'parquet': PARQUET,
        'dask': DASK,
        'ray': ['ray>=2.9,<3', *PARQUET],
        'spark': ['pyspark>=3.5,<5', *PARQUET],
        # diffprivlib 0.6 does not load with a newer scikit-learn.
        'bench': ['opendp>=0.12,<1', 'diffprivlib>=0.6.6,<0.7', 'scikit-learn<1.7',
                  'dynamax>=1.0,<2', 'pynini>=2.1.6,<3', *PARQUET],
        # The site: Sphinx, Markdown for it, and a theme for phones, in dark and light.
        'docs': ['sphinx>=7.2,<10', 'myst-parser>=2,<6', 'furo>=2024.1.29'],
        # For actions; rclpy's version determines which one.
        'test': ['ros-test-msgs>=2.0.3,<3', 'pytest>=7.4,<8.4', 'pytest-xdist>=3.4,<4',
                 'hypothesis>=6.98,<7', 'catkin_pkg>=1,<2', 'coverage>=7.10,<8',
                 # A DDS participant that is no ROS node, and announces what rclpy would refuse.
                 'cyclonedds>=11,<12; platform_machine == "x86_64"',
                 # The page of `symdp explore`, in a Chromium that comes from the system.
                 'selenium>=4.10,<5',
                 # VDA 5050: its schemas, and a client; the broker, mosquitto, is the system's.
                 'jsonschema>=4.18,<5', *MQTT, *BAGS, *DASK, *GEO, *LINT],
    },
    zip_safe=False,
    entry_points={
        'console_scripts': [
            f'privatizer = {NAME}.nodes.program:privatizer',
            f'log_release = {NAME}.nodes.program:log_release',
            f'patrol = {NAME}.nodes.program:patrol',
            f'fleet = {NAME}.nodes.program:fleet',
            f'symdp = {NAME}.cli.program:symdp',
        ],
        # `ros2 symdp …`
        'ros2cli.command': [f'symdp = {NAME}.cli.ros2_command:SymdpCommand'],
    },
)
