# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`symdp isolate FLEET`: configurations of other tools that let out what is private alone."""
import argparse
from pathlib import Path

from symdp_ros.cli.arguments import add_arguments
from symdp_ros.errors import printable
from symdp_ros.files.durable import check_new, make_directory, write_new_file
from symdp_ros.fleet.fleet_file import Fleet, read_fleet
from symdp_ros.fleet.isolation import domain_bridges, sros2_policy, zenoh_bridges
from symdp_ros.options import ISOLATED_BY, ISOLATION, TO_DOMAIN

#: How files of each tool were checked when this version was made.
_CHECKED = {
    'sros2': "sros2's own code converted such a file to signed permissions; no node was started "
             'with them',
    'zenoh': 'zenoh itself read such a file; the section ros2dds was compared with the source of '
             'the bridge, and no bridge was run',
    'domain-bridge': "domain_bridge's own parser, compiled without ROS, read such a file; no "
                     'bridge was run',
}


def add_parser(commands) -> None:
    """Add the subcommand to the parser."""
    parser = commands.add_parser(
        'isolate', help='write configurations that let out nothing but private topics',
        description='Writes, for the robots of a fleet file, a policy of SROS 2, or '
                    'configurations of zenoh-bridge-ros2dds or domain_bridge: they allow the '
                    'private topics and nothing else. An existing file is never replaced.')
    parser.add_argument('file', metavar='FLEET', help='the fleet file')
    add_arguments(parser, [ISOLATED_BY, TO_DOMAIN, ISOLATION])
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the files; return 0."""
    tool = vars(options)['for']
    fleet, directory = read_fleet(options.file), Path(options.output)
    texts = (domain_bridges(fleet, options.to_domain) if tool == 'domain-bridge'
             else sros2_policy(fleet) if tool == 'sros2' else zenoh_bridges(fleet))
    make_directory(directory)
    for name in texts:
        check_new(directory / name)
    for name, text in texts.items():
        write_new_file(directory / name, text)
        print(printable(directory / name))
    private = [topic for robot in fleet.robots.values() for topic, _ in robot.private_topics]
    print('allowed:', ', '.join(dict.fromkeys(private)))
    if tool == 'sros2':
        _print_sros2(fleet, directory)
    print(f'How this was checked: {_CHECKED[tool]}.')
    return 0


def _print_sros2(fleet: Fleet, directory: Path):
    for robot in fleet.robots.values():
        domain = '' if robot.domain is None else f'ROS_DOMAIN_ID={robot.domain} '
        print(f'{domain}ros2 security create_enclave KEYSTORE {robot.namespace}/privatizer\n'
              f'{domain}ros2 security create_permission KEYSTORE {robot.namespace}/privatizer '
              f'{printable(directory / "policy.xml")}')
    both = [robot.name for robot in fleet.robots.values()
            if robot.output_domain != robot.domain]
    if both:
        print(f'Note: {", ".join(both)}: with output_domain (fleet_domain), a privatizer is in '
              'two ROS domains, and `ros2 security` writes permissions for one. Use SROS 2 where '
              'the fleet shares one domain.')
