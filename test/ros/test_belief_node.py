# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node `belief` in a process of its own, behind a privatizer and alone."""
import signal

from diagnostic_msgs.msg import DiagnosticStatus
from harness import RECONFIGURE, ROOT, send
from lifecycle_msgs.msg import Transition
import pytest
from strategies import grid
from studies.belief import structured
from symdp_ros import Chain, OnlineMechanism, Privacy
from symdp_ros.analysis.belief import Filter
from symdp_ros.options import PARAMETERS
import yaml


def believe(world, *arguments, **parameters):
    """Start a belief node, behind a privatizer that is guided; return it once it is active."""
    run = world.start('belief', *arguments, **{'policy': 'guided', **parameters})
    run.wait_for('active')
    return run


def listen_to_beliefs(world, topic='region_belief') -> list:
    return world.listen_whole(topic, DiagnosticStatus)


def tell(world, publisher, regions, statuses):
    """
    Publish private regions, each once the belief of the one before has come.

    For a reader that is found late, the node keeps the latest belief alone.
    """
    for count, region in enumerate(regions, len(statuses) + 1):
        send(publisher, region)
        world.wait_until(lambda n=count: len(statuses) == n, f'belief {count}')


def followed(chain_file, outputs, *, epsilon, policy='guided', adjacency=1):
    """Return the filter after a feasible word, and the most probable region at each position."""
    mechanism = OnlineMechanism(Chain.from_yaml(chain_file), Privacy(epsilon, adjacency),
                                policy=policy)
    tracker, best = Filter(mechanism), []
    for output in outputs:
        tracker.update(output)
        best.append(tracker.best)
    return tracker, best


def shown(tracker, chain_file):
    """Return what region_belief holds: (region, probability), most probable first."""
    states = Chain.from_yaml(chain_file).states
    pairs = zip(states, tracker.beliefs, strict=True)
    return [(state, f'{chance:.6g}') for state, chance in sorted(pairs, key=lambda p: -p[1])]


def values_of(status):
    return [(pair.key, pair.value) for pair in status.values]


def test_behind_a_privatizer_it_errs_less(world, tmp_path):
    """
    A patrol of 800 regions, seeded; the privatizer's draws are not.

    Simulated over draws, the errors are 0.675 and 0.471, and their difference has the standard
    deviation 0.029: that it is below 0.05 has a probability under 10⁻⁶.
    """
    chain = structured(grid(4))
    file = tmp_path / 'patrol.chain.yaml'
    file.write_text(yaml.safe_dump({
        'initial_state': chain.initial_state,
        'transitions': {state: chain.probabilities(state) for state in chain.states}},
        sort_keys=False))
    world.privatizer(chain_file=file, epsilon=1.5, policy='guided')
    believe(world, chain_file=file, epsilon=1.5)
    heard = [world.listen(topic) for topic in ('region', 'private_region', 'believed_region')]
    world.start('patrol', chain_file=file, period=0.003, count=800, seed=7,
                wait_for_subscribers=2)
    world.wait_until(lambda: [len(word) for word in heard] == [800] * 3, '800 of each region')
    true, private, believed = heard
    assert chain.is_feasible(true) and chain.is_feasible(private)
    assert believed == followed(file, private, epsilon=1.5)[1]
    errors = [sum(a != b for a, b in zip(true, word, strict=True)) / 800
              for word in (private, believed)]
    print(errors)
    assert errors[1] + 0.05 <= errors[0]


@pytest.mark.parametrize('parameters', [
    {'epsilon': 2.0, 'policy': 'planned'}, {'epsilon': 3.0, 'adjacency': 2}, *(
        pytest.param(more, marks=pytest.mark.thorough)
        for more in ({'epsilon': 1.0}, {'epsilon': 1.0, 'policy': 'paper'}))],
    ids=str)
def test_the_belief_is_the_filters(world, chain_file, parameters):
    believe(world, chain_file=chain_file, **parameters)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    word = 'abdddabca'
    tell(world, world.publisher('private_region'), word, statuses)
    world.wait_until(lambda: len(believed) == 9, 'nine regions')
    tracker, best = followed(chain_file, word, **parameters)
    assert believed == best
    assert values_of(statuses[-1]) == shown(tracker, chain_file)
    assert [status.message for status in statuses] == list(word)
    assert statuses[-1].name == '/private_region'
    assert sum(float(value) for _, value in values_of(statuses[-1])) == pytest.approx(1, abs=1e-5)


def test_only_the_most_probable_regions(world, chain_file):
    believe(world, chain_file=chain_file, epsilon=1.0, top=2)
    statuses = listen_to_beliefs(world)
    send(world.publisher('private_region'), 'b')
    world.wait_until(lambda: statuses, 'a belief')
    assert values_of(statuses[0]) == shown(followed(chain_file, 'b', epsilon=1.0)[0],
                                           chain_file)[:2]


def test_who_comes_late_gets_the_word_so_far(world, chain_file):
    """The node, of the private word; and a listener, of the node's."""
    world.privatizer(chain_file=chain_file, epsilon=1.0, policy='guided')
    private = world.listen()
    send(world.publisher(), *'abcaabd')
    world.wait_until(lambda: len(private) == 7, 'seven private symbols')
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    tracker, best = followed(chain_file, private, epsilon=1.0)
    believed = world.listen('believed_region')
    world.wait_until(lambda: believed == best, 'seven beliefs')
    late, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    world.wait_until(lambda: late == best and len(statuses) == 1, 'the same, and the latest')
    assert values_of(statuses[0]) == shown(tracker, chain_file)
    assert 'cannot follow' not in run.log


def test_a_region_that_cannot_follow_begins_the_belief_anew(world, chain_file):
    """No d can follow c, and no b can follow d: as after a restart, or lost messages."""
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    believed, statuses = world.listen('believed_region'), listen_to_beliefs(world)
    publisher = world.publisher('private_region')
    tell(world, publisher, 'bcddb', statuses)
    world.wait_until(lambda: len(believed) == 5, 'five regions')
    tracker, best = followed(chain_file, 'bc', epsilon=1.0)
    assert believed[:2] == best
    for take_in, output, status in zip((tracker.resume, tracker.update, tracker.resume), 'ddb',
                                       statuses[2:], strict=True):
        take_in(output)
        assert values_of(status) == shown(tracker, chain_file)
    run.wait_for("'d' cannot follow 'c': ")
    tell(world, publisher, 'dc' * 20 + 'c', statuses)
    assert run.log.count('cannot follow') < 10, 'it must not be noisy'


def test_a_privatizer_that_keeps_no_word_starts_again(world, chain_file):
    """The second word begins with b, which cannot follow the d that ended the first."""
    believe(world, chain_file=chain_file, epsilon=1000.0)
    believed = world.listen('believed_region')
    for _ in range(2):
        run = world.privatizer(chain_file=chain_file, epsilon=1000.0, policy='guided',
                               state_file='none')
        publisher, known = world.publisher(), len(believed)
        send(publisher, 'b', 'd', 'd')
        world.wait_until(lambda n=known: len(believed) == n + 3, 'three more beliefs')
        assert believed[-3:] == ['b', 'd', 'd']
        assert run.stop() == 0
        world.node.destroy_publisher(publisher)


def test_a_region_that_is_shown_again_after_a_restart_is_not_counted(world, tmp_path):
    """From s1 there is no staying: counted again, it would be a gap."""
    ring = tmp_path / 'ring.chain.yaml'
    ring.write_text('initial_state: s0\ntransitions: {s0: [s1], s1: [s2], s2: [s0]}\n')
    given = {'chain_file': ring, 'epsilon': 1.0, 'policy': 'guided'}
    belief = believe(world, chain_file=ring, epsilon=1.0)
    believed, private = world.listen('believed_region'), world.listen()
    run = world.privatizer(**given)
    publisher = world.publisher()
    send(publisher, 'anything')
    world.wait_until(lambda: believed == private == ['s1'], 'the first belief')
    for count in (2, 3):
        assert run.stop() == 0
        run = world.privatizer(**given)
        world.wait_until(lambda n=count: private == ['s1'] * n, 'the region to be shown again')
    late = world.listen()
    world.wait_until(lambda: late == ['s1'], 'what a late reader sees')
    world.node.destroy_publisher(publisher)
    send(world.publisher(), 'anything')
    world.wait_until(lambda: len(believed) > 1, 'the next belief')
    assert believed == ['s1', 's2'] and 'cannot follow' not in belief.log


def test_joining_a_word_late_is_no_gap(world, chain_file):
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    believed = world.listen('believed_region')
    send(world.publisher('private_region'), 'c', 'a')
    world.wait_until(lambda: len(believed) == 2, 'two beliefs')
    assert 'is joined late' in run.log and 'cannot follow' not in run.log


def test_what_is_no_region_is_ignored_and_said(world, chain_file):
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    believed = world.listen('believed_region')
    send(world.publisher('private_region'), 'b', 'cellar', 'b')
    world.wait_until(lambda: len(believed) == 2, 'two beliefs')
    assert believed == followed(chain_file, 'bb', epsilon=1.0)[1]
    run.wait_for("'cellar' is no region of the chain")


def test_remote_text_is_quoted_in_one_short_line(world, chain_file):
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    believed = world.listen('believed_region')
    send(world.publisher('private_region'), 'b', '\x1b[2J\n[FATAL] \u202e' + 'x' * 1_000_000, 'b')
    world.wait_until(lambda: len(believed) == 2, 'two beliefs')
    run.wait_for(r"'\x1b[2J\n[FATAL] \u202exxx")
    assert '\x1b' not in run.log and '\u202e' not in run.log
    assert max(map(len, run.log.splitlines())) < 1000


@pytest.mark.parametrize('data', [b'\0\1\0\0\xff\xff\xff\xff', b'\0'])
def test_bytes_that_are_no_message_are_ignored(world, chain_file, data):
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    believed = world.listen('believed_region')
    publisher = world.publisher('private_region')
    publisher.publish(data)
    send(publisher, 'b')
    world.wait_until(lambda: believed == ['b'], 'the belief')
    assert 'a message that cannot be read is ignored' in run.log and 'Traceback' not in run.log


def test_the_sample_parameters_of_the_privatizer_serve_the_belief(world, tmp_path):
    """As README types it; and with every parameter of the privatizer set in the file."""
    sample = ROOT / 'config' / 'privatizer.yaml'
    content = yaml.safe_load(sample.read_text())
    for option in PARAMETERS['privatizer']:
        if option.default not in (None, []):
            content['/**']['ros__parameters'].setdefault(option.name, option.default)
    full = tmp_path / 'privatizer.yaml'
    full.write_text(yaml.safe_dump(content))
    for number, file in enumerate((sample, full)):
        run = believe(world, '--params-file', str(file), '-r', f'__ns:=/robot_{number}')
        assert 'chain warehouse.chain.yaml' in run.log and 'there is no parameter' not in run.log
    assert run.log.count('parameters of other nodes of this package, without effect here') == 1


def test_remapping_and_namespace(world, chain_file):
    believe(world, '-r', '__ns:=/fleet/r1', '-r', 'private_region:=/shared/r1',
            '-r', 'region_belief:=belief', chain_file=chain_file, epsilon=1000.0)
    believed = world.listen('/fleet/r1/believed_region')
    statuses = listen_to_beliefs(world, '/fleet/r1/belief')
    tell(world, world.publisher('/shared/r1'), 'bd', statuses)
    world.wait_until(lambda: believed == ['b', 'd'], 'two regions')
    assert statuses[0].name == '/shared/r1'


@pytest.mark.parametrize('parameters, sentence', [
    ({'trust': 1.5}, 'trust is 1.5: it must be at most 1'),
    ({'epsilon': None}, 'epsilon is not set'),
    ({'chain_file': None}, 'chain_file is not set'),
    ({'epsilon': '.nan'}, 'epsilon is nan: it must be a finite number'),
    ({'adjacency': 0}, 'adjacency is 0: it must be at least 1'),
    ({'policy': 'best'}, "policy is 'best': it must be one of paper, guided"),
    ({'top': -1}, 'top is -1: it must be at least 0'),
    ({'top': 1.5}, 'top is 1.5: it must be an integer'),
    ({'chain_file': 'no-such-file.yaml'}, 'no-such-file.yaml: the file cannot be read'),
    ({'initial_state': 'cellar'}, "the initial state 'cellar' is not a state"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_a_wrong_parameter_ends_the_start_with_a_sentence(starter, chain_file, parameters,
                                                          sentence):
    given = {'chain_file': chain_file, 'epsilon': 1.0, 'policy': 'guided', **parameters}
    assert sentence in starter.refused(
        'belief', **{k: v for k, v in given.items() if v is not None})


def test_lifecycle(world, chain_file):
    def change(*transitions):
        return world.change('belief', *transitions)

    run = world.start('belief', chain_file=chain_file, epsilon=1.0, policy='guided',
                      autostart='false')
    assert world.state_of('belief') == 'unconfigured'
    assert not change(Transition.TRANSITION_ACTIVATE), 'it is not configured'
    assert change(Transition.TRANSITION_CONFIGURE) and world.state_of('belief') == 'inactive'
    assert world.node.count_subscribers('private_region') == 0, 'an inactive node must not listen'
    believed = world.listen('believed_region')
    send(world.publisher('private_region', subscribers=0), 'b', 'b')
    assert change(Transition.TRANSITION_ACTIVATE)
    best = followed(chain_file, 'bb', epsilon=1.0)[1]
    world.wait_until(lambda: believed == best, 'the latched word')
    assert change(Transition.TRANSITION_DEACTIVATE)
    world.wait_until(lambda: world.node.count_subscribers('private_region') == 0, 'silence')
    assert change(Transition.TRANSITION_ACTIVATE)
    world.wait_until(lambda: believed == best * 2, 'the latched word again, from its beginning')
    assert change(*RECONFIGURE)
    world.wait_until(lambda: believed == best * 3, 'and again')
    assert change(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert world.state_of('belief') == 'finalized'
    assert run.stop() == 0


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_with_status_0(world, chain_file, number):
    run = believe(world, chain_file=chain_file, epsilon=1.0)
    assert run.stop(number) == 0
    assert 'Traceback' not in run.log
