"""What survives a restart: the state file."""
import pytest
from harness import RELIABLE, wait_until
from std_msgs.msg import String

from symdp_ros import Chain, StateFileError
from symdp_ros.ros.state_file import StateFile, settings_digest

SURE = 1000.0
DIGEST = settings_digest('chain', 2.0, 1, 'guided')


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'word.state'


def reopened(path, digest=DIGEST, states=10):
    file = StateFile(path, digest, states)
    if file.found != 'a word to carry on':
        file.begin()
    file.close()
    return file.found, file.position


def written(path, position):
    file = StateFile(path, DIGEST, 10)
    file.begin()
    file.store(position)
    file.close()


def test_a_word_that_has_not_begun_is_not_carried_on(path):
    StateFile(path, DIGEST, 10).close()
    assert reopened(path) == ('no word', None)


def test_what_was_stored_is_found_again(path):
    file = StateFile(path, DIGEST, 10)
    assert (file.found, file.position) == ('no word', None)
    file.begin()
    file.store(3)
    file.store(7)
    file.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert reopened(path) == ('a word to carry on', 7)


def test_a_word_without_a_symbol_is_carried_on_from_its_start(path):
    reopened(path)
    assert reopened(path) == ('a word to carry on', None)


@pytest.mark.parametrize('digest, states, found', [
    (settings_digest('chain', 2.0, 2, 'guided'), 10, 'a word of other settings'),
    (settings_digest('chain', 2.5, 1, 'guided'), 10, 'a word of other settings'),
    (DIGEST, 7, 'a damaged word'),
])
def test_other_settings_begin_a_new_word(path, digest, states, found):
    written(path, 7)
    assert reopened(path, digest, states) == (found, None)
    assert reopened(path, digest, states) == ('a word to carry on', None)


@pytest.mark.parametrize('place', [*range(48, 56)])
def test_every_changed_byte_of_the_slot_is_noticed(path, place):
    written(path, 7)
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)
    assert reopened(path) == ('a damaged word', None)


@pytest.mark.parametrize('length', [1, 15, 16, 47, 48, 56, 63, 65])
def test_a_file_of_another_length_is_damaged_or_refused(path, length):
    reopened(path)
    path.write_bytes((path.read_bytes() + b'more')[:length])
    if length < 15:
        with pytest.raises(StateFileError, match='a file of another kind'):
            StateFile(path, DIGEST, 10)
        assert path.stat().st_size == length
    else:
        assert reopened(path) == ('a damaged word', None)


def test_files_of_another_kind_are_not_overwritten(path):
    path.write_text('a letter that somebody would miss, longer than sixty-four characters.')
    before = path.read_text()
    with pytest.raises(StateFileError, match='a file of another kind'):
        StateFile(path, DIGEST, 10)
    assert path.read_text() == before


def test_one_process_at_a_time(path):
    file = StateFile(path, DIGEST, 10)
    file.begin()
    with pytest.raises(StateFileError, match='in use by another process'):
        StateFile(path, DIGEST, 10)
    file.close()
    assert reopened(path)[0] == 'a word to carry on'


def test_missing_folder(path):
    with pytest.raises(StateFileError, match='cannot be opened: No such file'):
        StateFile(path / 'deeper' / 'file', DIGEST, 10)


def send(publisher, *values):
    for value in values:
        publisher.publish(String(data=value))


def test_after_a_kill_the_same_feasible_word_goes_on(world, tmp_path):
    ring = tmp_path / 'ring.chain.yaml'  # one move from each state: the word is its position
    ring.write_text('initial_state: s0\ntransitions:\n' + ''.join(
        f'  s{i}: [s{(i + 1) % 50}]\n' for i in range(50)))
    chain, private, state = Chain.from_yaml(ring), world.listen(), tmp_path / 'word'
    for round_ in range(3):
        run = world.privatizer(chain_file=ring, epsilon=1.0, state_file=state)
        assert ('is carried on' in run.log) == (round_ > 0)
        publisher = world.publisher(qos=RELIABLE)

        def keep_sending(publisher=publisher):
            send(publisher, 'anything')
            world.spin(0.02)

        wait_until(lambda count=len(private) + 10: len(private) >= count, 'ten symbols',
                   keep_sending)
        run.kill()
        world.node.destroy_publisher(publisher)
        for _ in range(10):
            world.spin(0.02)
    # What was drawn and not delivered when the process was killed is lost to the listener; the word
    # goes on behind it, and never back.
    places = [chain.state_index[symbol] for symbol in private]
    steps = [(there - here) % 50 for here, there in zip(places, places[1:], strict=False)]
    assert len(private) >= 30 and sum(step != 1 for step in steps) <= 2
    assert all(1 <= step <= 12 for step in steps)


def test_a_stop_and_a_start_carry_the_word_on_exactly(world, chain_file, tmp_path):
    private, state = world.listen(), tmp_path / 'word'
    for word in ('bc', 'cab', 'd'):
        run = world.privatizer(chain_file=chain_file, epsilon=SURE, state_file=state)
        # Not latched: a word that goes on does not ask for what was published before.
        count, publisher = len(private), world.publisher(qos=RELIABLE)
        for _ in range(25):
            world.spin(0.02)
        send(publisher, *word)
        world.wait_until(lambda n=count + len(word): len(private) == n, 'the symbols')
        assert run.stop() == 0
        world.node.destroy_publisher(publisher)
    # From c the word went on with c, a, b; a new one would have gone on from a.
    assert ''.join(private) == 'bccabd'


def test_other_settings_are_said_at_the_start(world, chain_file, tmp_path):
    state = tmp_path / 'word'
    assert world.privatizer(chain_file=chain_file, epsilon=1.0, state_file=state).stop() == 0
    run = world.privatizer(chain_file=chain_file, epsilon=2.0, state_file=state)
    assert 'it held a word of other settings: a new word begins' in run.log
