# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
`kill -9` of a live privatizer at random moments, over and over, while regions keep coming.

What others saw over all its lives is one feasible word for each charge in the ledger, or fewer
words; the ledger verifies after every kill, and holds what its charges add up to.
"""
from bisect import bisect
from random import Random
import time

from harness import LATCHED, RELIABLE, wait_until
from long_runs import first_seed, KILL_ROUNDS, report
import pytest
from std_msgs.msg import String
from symdp_ros.ledger.ledger import Ledger

_STATES = 900
_MOST_LOST = 200  # symbols that were drawn, and had not arrived when the process was killed
EPSILON = 0.5


@pytest.fixture
def ring(tmp_path):
    """Each state leads one or two on: a word never comes back to where it was, but all round."""
    file = tmp_path / 'ring.chain.yaml'
    file.write_text('initial_state: s0\ntransitions:\n' + ''.join(
        f'  s{i}: [s{(i + 1) % _STATES}, s{(i + 2) % _STATES}]\n' for i in range(_STATES)))
    return file


def words_of(lives: list[list[tuple[int, int]]]) -> int:
    """
    Return how many words were begun, the fewest that these lives can be; fail where they are none.

    :param lives: what of each life arrived, never nothing: pairs (number of the message within its
        life, position on the ring). Messages in between may be lost.
    """
    words, last = 0, None
    for life in lives:
        number, position = life[0]
        ahead = None if last is None else (position - last) % _STATES
        # 0: the region that was published last is there again for anyone who comes late.
        if ahead is None or ahead > 2 * _MOST_LOST:
            # The first ones may have been lost with a process of which nothing arrived.
            assert 1 <= position <= 2 * _MOST_LOST, f'after {last}, a life begins with {position}'
            words += 1
        for (number, here), (next_number, there) in zip(life, life[1:], strict=False):
            moves, way = next_number - number, (there - here) % _STATES
            assert 0 < moves <= way <= 2 * moves, f'{moves} moves from {here} to {there}'
        last = life[-1][1]
    return words


def numbered(*positions):
    return list(enumerate(positions, 1))


@pytest.mark.parametrize('lives, words', [
    ([[1, 2, 4], [4, 5], [9], [2, 3]], 2), ([[1]], 1), ([[_STATES - 2, 0]], None),
    ([[1, 1]], None), ([[1, 4]], None), ([[2, 4], [3, 7]], None), ([[1, 3], [800]], None),
    ([[500]], None),
])
def test_words_are_told_apart(lives, words):
    lives = [numbered(*life) for life in lives]
    if words is None:
        with pytest.raises(AssertionError):
            words_of(lives)
    else:
        assert words_of(lives) == words


def test_a_lost_message_is_no_forbidden_move():
    assert words_of([[(1, 1), (3, 4), (4, 6)]]) == 1
    with pytest.raises(AssertionError):
        words_of([[(1, 1), (3, 6)]])


@pytest.mark.parametrize('how', [
    {}, {'state_file': 'none'}, {'policy': 'adaptive', 'delay': 3}, {'state_file': 'named'},
    {'renew': 0.0005}],
    ids=['default', 'no_state_file', 'adaptive', 'state_file', 'renewed'])
def test_kill_privatizer(world, ring, tmp_path, how):
    keeps_state, seed = how.get('state_file') != 'none', first_seed()
    if how.get('state_file') == 'named':
        how = {'state_file': tmp_path / 'word'}
    random, path = Random(seed), tmp_path / 'spent.ledger'
    arrived, begins = [], []  # (time of publication, number, position); nanoseconds

    def note(message, info):
        arrived.append((info['source_timestamp'], info['publication_sequence_number'],
                        int(message.data[1:])))

    def lives_so_far():
        """Sort what arrived by the process that published it: some of it arrives late."""
        lives = [[] for _ in begins]
        for time_ns, number, position in arrived:
            lives[bisect(begins, time_ns) - 1].append((number, position))
        return [life for life in lives if life]

    world.node.create_subscription(String, 'private_region', note, LATCHED)
    publisher = world.node.create_publisher(String, 'region', RELIABLE)

    def send():
        publisher.publish(String(data=f's{random.randrange(_STATES)}'))
        world.spin(0.01)

    def send_for(seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            send()

    startup, first = 2.0, time.time()  # seconds; the first is measured below
    for started in range(1, KILL_ROUNDS + 1):
        begin = time.monotonic()
        begins.append(time.time_ns())
        run = world.start('privatizer', chain_file=ring, epsilon=EPSILON, subject='robot',
                          ledger_file=path, **how)
        if random.random() < 0.4:  # while it starts
            send_for(random.random() * 1.2 * startup)
        else:
            wait_until(lambda: arrived and arrived[-1][0] > begins[-1], 'a symbol', send)
            startup = time.monotonic() - begin
            send_for(random.random() * 0.5)
        assert run.process.poll() is None, run.log
        run.kill()
        run.close()
        world.settle()
        lives = lives_so_far()
        if path.exists():
            with Ledger(path) as ledger:
                charges = ledger.charges()
                assert ledger.problems() == [] and ledger.spent('robot') == EPSILON * len(charges)
            # A word that was charged when its process was killed is not charged again. Where
            # nothing keeps it, every process may have charged one.
            words, most = words_of(lives), 1 if keeps_state else started
            if 'renew' in how:  # what is renewed goes on, and looks like one word
                most += int((time.time() - first) / (3600 * how['renew']))
                assert words <= 1
            assert words <= len(charges) <= most, f'{words} words, {len(charges)} charges'
            if not keeps_state:
                assert len(charges) >= len(lives)
    lives = lives_so_far()
    report(f'{KILL_ROUNDS} kills, {KILL_ROUNDS - len(lives)} of them before a symbol; seed {seed}',
           f'{sum(map(len, lives)):,} symbols, all feasible; {words_of(lives)} words, '
           f'{len(charges) if path.exists() else 0} charges; the ledger verified each time')
