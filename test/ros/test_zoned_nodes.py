# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Zones through the real nodes: what is told, what is refused, restarts, and that no more is."""
from pathlib import Path

from harness import send, values_of
import pytest
from symdp_ros import Chain
from test_sampling import SimulatedTime
from visualization_msgs.msg import MarkerArray

CLINIC = Path(__file__).resolve().parents[2] / 'config' / 'clinic.regions.yaml'
GIVEN = {'sampling': 'period', 'period': 1.0, 'use_sim_time': 'true'}


def zone_of(state):
    return 'west' if state in 'ab' else 'east'


def tick_until(world, time, zones, zone):
    """Let ticks go by until a zone is told: the message may come long after the instant of one."""
    def is_told():
        time.tick(zones)
        return zones[-1] == zone

    world.wait_until(is_told, f'zone {zone}')


def test_the_zone_is_told_at_once_and_the_region_is_in_it(world, corridor):
    run = world.privatizer(**corridor, **GIVEN, epsilon=0.0)
    private, zones = world.listen(), world.listen('private_zone')
    statuses, time, publisher = world.diagnostics(), SimulatedTime(world), world.publisher()
    assert 'zones: 2, of 2 regions each. Which zone the robot is in is told exactly' in run.log
    assert 'publishes /private_region (std_msgs/msg/String), /private_zone (std_msgs/msg/String)' \
        in run.log
    time.tick(private)
    world.wait_until(lambda: publisher.get_subscription_count() > 0, 'the node')
    for region in 'cadb':
        send(publisher, region)
        tick_until(world, time, zones, zone_of(region))
        world.wait_until(lambda: len(private) == len(zones), 'all regions')
        time.tick(private, 3)  # to the door, and through it
        world.wait_until(lambda: len(zones) == len(private), 'all zones')
        assert zone_of(private[-1]) == zones[-1] == zone_of(region)
    assert Chain.from_yaml(corridor['chain_file']).is_feasible(private)
    world.wait_until(lambda: statuses, 'a report')
    assert values_of(statuses[-1])['zones'] == '2'


def test_zones_go_out_before_a_delayed_region(world, corridor):
    world.privatizer(**corridor, **GIVEN, epsilon=1000.0, delay=3)
    private, zones, time = world.listen(), world.listen('private_zone'), SimulatedTime(world)
    time.tick(zones, 3)
    assert not private and zones == ['west'] * 3
    send(world.publisher(), 'c')
    tick_until(world, time, zones, 'east')
    time.tick(zones, 3)
    assert zones[-4:] == ['east'] * 4 and private


def test_a_restart_goes_on_in_the_zone_told_last(world, corridor, tmp_path):
    given = {**corridor, **GIVEN, 'epsilon': 1.0, 'state_file': tmp_path / 'word'}
    run, private, zones = world.privatizer(**given), world.listen(), world.listen('private_zone')
    time, publisher = SimulatedTime(world), world.publisher()
    time.tick(private)
    send(publisher, 'c')
    tick_until(world, time, zones, 'east')
    run.kill()
    world.privatizer(**given)
    count = len(zones)
    world.wait_until(lambda: len(zones) == count + 1, 'the zone, shown again')
    assert zones[-1] == 'east'
    time.tick(private)  # nothing was read: an unknown region counts as lying there
    assert zones[-1] == 'east'


@pytest.mark.parametrize('given, said', [
    ({'sampling': 'change'}, 'do not go together'),
    ({'policy': 'guided'}, 'the policy guided cannot be used'),
    ({'zones_file': 'levels'}, 'the map has no floors'),
    ({'zones_file': '/nowhere.yaml'}, '/nowhere.yaml')])
def test_what_does_not_go_with_zones(starter, corridor, given, said):
    assert said in starter.refused('privatizer', **corridor | {
        'sampling': 'period', 'period': 1.0, 'epsilon': 1.0} | given)


def test_what_is_warned_of(world, corridor):
    corridor['zones_file'].write_text('zones:\n  west: [a, b, c]\n  east: [d]\n')
    run = world.privatizer(**corridor, epsilon=1.0)
    assert 'nothing is hidden in a zone of one region: d' in run.log
    assert 'zones with sampling: message' in run.log


def test_markers_show_zones(world):
    world.privatizer(chain_file=CLINIC, zones_file=CLINIC, self_loops='true', epsilon=1.0,
                     outputs='[markers]', sampling='period', period=1.0)
    pictures = world.listen_whole('private_markers', MarkerArray)
    world.wait_until(lambda: any(marker.ns == 'zones' for picture in pictures
                                 for marker in picture.markers), 'the map')
    # A picture of a region may have come before it: it has another publisher.
    [drawn] = [picture for picture in pictures if any(m.ns == 'zones' for m in picture.markers)]
    zones, legend = ([marker for marker in drawn.markers if marker.ns == name]
                     for name in ('zones', 'legend'))
    assert [marker.text for marker in zones if marker.text] == ['hall', 'east_ward', 'west_ward']
    assert [len(marker.points) for marker in zones if marker.points] == [4, 10, 10]
    assert len({marker.id for marker in zones}) == 6
    assert [marker.text for marker in legend] == [
        'private: the region now, and the ten before', 'ε = 1: hides any region, inside the zone']
