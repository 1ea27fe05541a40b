# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`policy: adaptive`: when regions leave, what `delay` holds back, and `outputs: [belief]`."""
from random import Random

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseWithCovarianceStamped
from harness import REACTIVATE, RECONFIGURE, RELIABLE, ROOT, send, SURE, values_of
import numpy as np
import pytest
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.maps import read_chain, read_graph
from symdp_ros.maps.regions import read_places
from symdp_ros.ros.outputs.pose_output import moments
from test_sampling import SimulatedTime

DEPOT = ROOT / 'config' / 'depot.geojson'
LATE = {'policy': 'adaptive', 'delay': 3}
WORD = 'bcaabddab'  # feasible


@pytest.mark.parametrize('sampling', ['message', 'change'])
def test_each_region_leaves_so_many_messages_later(world, chain_file, sampling):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE, sampling=sampling, **LATE)
    private, statuses, publisher = world.listen(), world.diagnostics(), world.publisher()
    word, expected = WORD if sampling == 'message' else 'bcabdab', ''
    for count, region in enumerate(word, 1):
        send(publisher, region)
        expected = word[:max(0, count - 3)]
        world.wait_until(lambda n=len(expected): len(private) == n, 'the region of then')
    world.settle(0.3)
    assert ''.join(private) == expected
    statuses.clear()
    world.wait_until(lambda: statuses, 'a report')
    values = values_of(statuses[-1])
    assert values['published'] == str(len(expected))
    assert values['delay'] == ('3 messages' if sampling == 'message' else '3 changes')
    assert f'each private region leaves {values["delay"]} later' in run.log


def test_one_region_a_tick_once_the_delay_is_over(world, chain_file):
    run = world.privatizer(chain_file=chain_file, epsilon=SURE, sampling='period', period=0.5,
                           use_sim_time='true', **LATE | {'delay': 1.7})
    private, statuses = world.listen(), world.diagnostics()
    publisher, time = world.publisher(), SimulatedTime(world)
    send(publisher, 'b')
    passed = 0
    while len(private) < 3:  # a tick may be missed
        time.pass_quietly(0.5)
        passed += 1
        assert passed < 100
    assert passed >= 6, 'the last three ticks are held back'
    world.wait_until(lambda: any(values_of(status).get('delay') == '1.5 s'
                                 for status in statuses), 'a report')
    assert 'each private region leaves 1.5 s later' in run.log


def test_symbols_that_take_longer_than_the_period_go_on(world, chain_file, tmp_path):
    """Reports that are missed are not chosen: else there would soon be one in some seconds."""
    (tmp_path / 'zones.yaml').write_text('zones: {all: [a, b, c, d]}\n')
    world.privatizer(chain_file=chain_file, epsilon=1.0, sampling='period', period=0.001,
                     zones_file=tmp_path / 'zones.yaml', policy='adaptive', delay=0.2)
    private = world.listen()
    world.wait_until(lambda: len(private) >= 100, 'a hundred private regions')


def test_what_is_held_back_stays_so_until_the_word_goes_on(world, chain_file, tmp_path):
    given = {'chain_file': chain_file, 'epsilon': SURE, 'state_file': tmp_path / 'word', **LATE}
    run, private = world.privatizer(**given), world.listen()
    publisher, arrived = world.publisher(qos=RELIABLE), 0
    for part, transitions in (('bcaa', REACTIVATE), ('b', RECONFIGURE), ('dd', None),
                              ('ab', REACTIVATE)):
        send(publisher, *part)
        arrived += len(part)
        expected = WORD[:arrived - 3]
        world.wait_until(lambda n=len(expected): len(private) == n, 'what is due')
        assert ''.join(private) == expected
        if transitions is None:  # a restart
            assert run.stop() == 0
            world.node.destroy_publisher(publisher)
            run = world.privatizer(**given)
            world.wait_until(lambda n=len(expected): len(private) > n, 'the last region again')
            assert private.pop() == expected[-1]
            publisher = world.publisher(qos=RELIABLE)
        else:
            assert world.change('privatizer', *transitions)
            world.wait_until(publisher.get_subscription_count, 'the subscription')
        world.settle()
        assert ''.join(private) == expected, 'what was held back has left'
    assert ''.join(private) == WORD[:-3]


@pytest.mark.parametrize('delay, top', [(0, 0), (2, 0), (2, 3)])
def test_the_belief_is_the_posterior_of_the_mechanism(world, privatizer_here, delay, top):
    """As the library computes it from the same draws; the pose has its mean and covariance."""
    chain = read_chain(DEPOT, '1', self_loops=True)
    mechanism = OnlineMechanism(chain, Privacy(1.0), policy='adaptive', delay=delay,
                                random=Random(5))
    statuses = world.listen_whole('private_belief', DiagnosticStatus)
    poses = world.listen_whole('private_pose', PoseWithCovarianceStamped)
    private = world.listen()
    assert privatizer_here(
        random=Random(5), chain_file=str(DEPOT), initial_state='1', self_loops=True, epsilon=1.0,
        policy='adaptive', delay=delay, outputs=['string', 'belief', 'pose'], top=top).autostart()
    publisher, expected = world.publisher(), []
    for region in ['2', '3', 'nowhere', '4', '4', '5', '6', '2', '1', '1']:
        send(publisher, region)
        report = mechanism.step(region if region in chain.states else None)
        if report is not None:
            expected.append((report, mechanism.posterior.copy()))
        world.wait_until(lambda n=len(expected): len(statuses) == len(poses) == len(private) == n,
                         'what is due')
    late = world.listen_whole('private_belief', DiagnosticStatus)
    world.wait_until(lambda: late, 'the last belief, for who comes late')
    assert private == [report for report, _ in expected] and late == statuses[-1:]
    places = read_places(read_graph(DEPOT))
    places = [places[state] for state in chain.states]
    for (report, posterior), status, pose in zip(expected, statuses, poses, strict=True):
        shown = sorted(zip(chain.states, posterior, strict=True), key=lambda pair: -pair[1])
        assert [(pair.key, pair.value) for pair in status.values] == [
            (state, f'{chance:.6g}') for state, chance in shown[:top or None]]
        assert (status.name, status.message) == ('/private_region', report)
        mean, variance = moments(posterior, np.array([(p.x, p.y) for p in places]),
                                 np.array([p.variance for p in places]))
        assert (pose.pose.pose.position.x, pose.pose.pose.position.y) == pytest.approx(mean)
        covariance = pose.pose.covariance.reshape(6, 6)
        assert [covariance[0, 0], covariance[0, 1], covariance[1, 1]] == pytest.approx(variance)


def test_the_last_region_is_shown_after_a_restart_without_a_draw(world, chain_file, tmp_path):
    given = {'chain_file': chain_file, 'epsilon': 1.0, 'state_file': tmp_path / 'word',
             'outputs': '[string, belief]', **LATE}
    run, private = world.privatizer(**given), world.listen()
    publisher = world.publisher(qos=RELIABLE)
    send(publisher, *'bcabd')
    world.wait_until(lambda: len(private) == 2, 'two regions')
    assert run.stop() == 0
    statuses = world.listen_whole('private_belief', DiagnosticStatus)
    diagnostics = world.diagnostics()
    world.privatizer(**given)
    world.wait_until(lambda: len(private) == 3 and diagnostics, 'the last one again')
    assert private[2] == private[1] and not statuses, 'what was believed then is not stored'
    assert values_of(diagnostics[-1])['published'] == '0'
    world.node.destroy_publisher(publisher)
    publisher = world.publisher(qos=RELIABLE)
    send(publisher, 'a')
    world.wait_until(lambda: len(private) == 4 and statuses, 'the next one')
    chain = Chain.from_yaml(chain_file)
    assert chain.is_feasible([*private[:2], private[3]]) and statuses[0].message == private[3]


@pytest.mark.parametrize('given, sentence', [
    ({'delay': 3, 'policy': 'guided'}, 'delay is 3, which needs the policy '
     'adaptive: the policy is guided'),
    ({'delay': -1}, 'delay is -1.0: it must be at least 0'),
    ({'delay': 1001}, 'delay is 1001: it must be at most 1,000 symbols'),
    ({'delay': 1.5}, 'delay is 1.5: without times it is a number of symbols'),
    ({'delay': 0.5}, 'delay is 0.5: without times it is a number of symbols'),
    ({'delay': 4.5, 'protect': 4.0}, 'it gains nothing below the time from one symbol to the '
     'next, which is 5 s'),
    ({'delay': 5005.0, 'protect': 4.0}, 'it must be at most 5000 s (1,000 symbols)'),
    ({'outputs': '[string, belief]', 'policy': 'guided'}, 'outputs: belief needs '
     'policy: adaptive')])
def test_wrong_parameters(starter, chain_file, given, sentence):
    assert sentence in starter.refused('privatizer', chain_file=chain_file, epsilon=1.0, **given)
