# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One privatizer of a topic at a time on one machine, whatever other users do."""
from contextlib import contextmanager
from hashlib import sha256
import multiprocessing
import os
import socket
from threading import Timer

from harness import PATIENCE
import pytest
from symdp_ros.ros.graph.topic_claim import TopicClaim

FORK = multiprocessing.get_context('fork')


@pytest.fixture
def topic():
    return f'/{"long" * 60}/{os.getpid()}/private_region'


def test_a_claim_holds_until_it_is_released_or_its_process_ends(topic):
    claim = TopicClaim(3, topic, 'no')
    with pytest.raises(ValueError, match='^no$'):
        TopicClaim(3, topic, 'no')
    TopicClaim(4, topic, 'no').close()
    TopicClaim(3, f'{topic}_2', 'no').close()
    claim.close()
    child = os.fork()
    if not child:
        TopicClaim(3, topic, 'no')
        os._exit(0)
    os.waitpid(child, 0)
    TopicClaim(3, topic, 'no').close()


def test_every_second_process_is_refused_however_many_try(topic):
    """More than wait in the queue of a socket that nobody empties."""
    claim = TopicClaim(3, topic, 'no')
    for _ in range(300):
        with pytest.raises(ValueError, match='^no$'):
            TopicClaim(3, topic, 'no')
    assert claim.blocked_by == ''
    claim.close()


def test_a_holder_whose_queue_is_full_for_a_moment_is_waited_for(topic):
    address, asking = f'\0symdp_ros/{sha256(f"3 {topic}".encode()).hexdigest()}', []
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(address)
        held.listen(0)
        with pytest.raises(BlockingIOError):
            while True:
                asking.append(socket.socket(socket.AF_UNIX))
                asking[-1].setblocking(False)
                asking[-1].connect(address)
        answers = Timer(0.05, held.accept)
        answers.start()
        with pytest.raises(ValueError, match='^no$'):
            TopicClaim(3, topic, 'no')
        answers.join()
        for one in asking:
            one.close()


@contextmanager
def squatter(domain, topic, *, user=None, listening=True, names=('', f'/{os.getuid()}')):
    """Another process that holds the names of a claim."""
    def hold(pipe):
        if user is not None:
            os.setuid(user)
        held = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in names]
        for one, end in zip(held, names, strict=True):
            one.bind(f'\0symdp_ros/{sha256(f"{domain} {topic}".encode()).hexdigest()}{end}')
            if listening:
                one.listen()
        pipe.send('ready')
        pipe.recv()

    ours, its = FORK.Pipe()
    process = FORK.Process(target=hold, args=[its])
    process.start()
    assert ours.poll(PATIENCE) and ours.recv() == 'ready'
    try:
        yield
    finally:
        ours.send('end')
        process.join(PATIENCE)


def test_a_name_that_is_held_and_tells_no_user_blocks_nothing(topic):
    with squatter(3, topic, listening=False):
        claim = TopicClaim(3, topic, 'no')
        assert claim.blocked_by == 'a process of an unknown user'
        claim.close()


needs_root = pytest.mark.skipif(os.getuid() != 0, reason='only root can act as other users')


@needs_root
def test_another_user_blocks_nothing(topic):
    with squatter(3, topic, user=65534):
        claim = TopicClaim(3, topic, 'no')
        assert claim.blocked_by == 'a process of the user with the number 65534'
        claim.close()


@needs_root
def test_another_user_who_claims_the_topic_does_not_hide_a_second_process_of_this_one(topic):
    with squatter(3, topic, user=65534, names=['']):
        claim = TopicClaim(3, topic, 'no')
        assert claim.blocked_by
        with pytest.raises(ValueError, match='^no$'):
            TopicClaim(3, topic, 'no')
        claim.close()


@needs_root
def test_a_process_of_root_counts_for_all_users(topic):
    claim = TopicClaim(3, topic, 'no')

    def try_it(pipe):
        os.setuid(65534)
        try:
            TopicClaim(3, topic, 'no').close()
        except ValueError:
            pipe.send('refused')
        else:
            pipe.send('not refused')

    ours, its = FORK.Pipe()
    process = FORK.Process(target=try_it, args=[its])
    process.start()
    process.join(PATIENCE)
    assert ours.poll() and ours.recv() == 'refused'
    claim.close()


def test_a_start_is_not_blocked_but_says_so(world, chain_file):
    with squatter(world.domain, 'onto /private_region', listening=False):
        run = world.privatizer(chain_file=chain_file, epsilon=1.0)
    assert 'a process of an unknown user holds the name by which privatizers' in run.log
