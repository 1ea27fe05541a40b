# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The file that carries a word over a restart. Needs no ROS."""
from contextlib import closing
import errno
import os
from zlib import crc32

import pytest
from symdp_ros import StateFileError
from symdp_ros.words.state_file import StateFile

DIGEST, OTHER = bytes(range(32)), bytes(32)
NAME, OTHER_NAME = b'the name of it..', b'another name....'
NEW = 'no word', None
STATE = b'what draws it'
FRONT, SLOT = 76, 1024  # bytes
RECORD = 104 + len(STATE)


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'word.state'


def state_file(path, digest=DIGEST, states=10, **given):
    """Return a file that `with` closes."""
    return closing(StateFile(path, digest, states, **given))


def opened(path, *given):
    """Return what is found in a file, and the position of its word, or None."""
    with state_file(path, *given) as file:
        return file.found, file.stored and file.stored.position


def written(path, position=None, drawn_at=-1, **given):
    """Write a word that has begun, and its last position."""
    with state_file(path, **given) as file:
        file.reserve(NAME, len(STATE))
        file.begin(NAME, STATE)
        if position is not None:
            file.store(STATE, position, drawn_at)


def test_a_word_that_has_not_begun_is_not_carried_on(path):
    assert opened(path) == opened(path) == NEW
    with state_file(path) as file:
        file.reserve(NAME, len(STATE))
    assert opened(path) == NEW


def test_what_was_stored_is_found_again(path):
    with state_file(path) as file:
        file.begin(NAME, STATE)
        file.store(STATE, 3)
        file.store(b'the next', 7)
    assert path.stat().st_mode & 0o777 == 0o600
    with state_file(path) as file:
        assert file.found == 'a word to carry on'
        assert (file.stored.name, file.stored.state, file.stored.position) == (
            NAME, b'the next', 7)
        file.begin(NAME, STATE, 7)
    assert opened(path) == ('a word to carry on', 7)


def test_a_word_without_a_symbol_is_carried_on_from_its_start(path):
    written(path)
    assert opened(path) == ('a word to carry on', None)


@pytest.mark.parametrize('digest, states, found', [
    (OTHER, 10, 'a word of other settings'),
    (DIGEST, 7, 'a damaged word'),
], ids=['digest', 'states'])
def test_other_settings_are_another_word(path, digest, states, found):
    written(path, 7)
    assert opened(path, digest, states) == (found, None)
    assert opened(path) == ('a word to carry on', 7), 'looking changes nothing'
    with state_file(path, digest, states) as file:
        file.reserve(OTHER_NAME, len(STATE))
        file.begin(OTHER_NAME, STATE)
    assert opened(path, digest, states) == ('a word to carry on', None)


def test_the_writer_is_known_whatever_its_settings(path):
    written(path, 7, process=b'the one.')
    for digest in (DIGEST, OTHER):
        with state_file(path, digest) as file:
            assert file.writer == b'the one.'
    path.unlink()
    with state_file(path) as file:
        assert file.writer is None


def test_a_word_that_was_reserved_is_found_by_its_name_until_it_begins(path):
    with state_file(path) as file:
        file.reserve(NAME, len(STATE))
    for digest, reserved in ((DIGEST, NAME), (OTHER, None)):
        with state_file(path, digest) as file:
            assert file.reserved == reserved
    with state_file(path) as file:
        file.begin(NAME, STATE)
    with state_file(path) as file:
        assert file.reserved is None and file.stored.name == NAME


def test_reserving_keeps_the_word_that_is_there(path):
    """The charge of the new one may be refused."""
    written(path, 7)
    with state_file(path, OTHER) as file:
        file.reserve(OTHER_NAME, len(STATE))
    assert opened(path) == ('a word to carry on', 7)


@pytest.mark.parametrize('clock, drawn_at', [('boot 1', 12_345_678_901_234), ('boot 2', -1)])
def test_the_time_of_the_last_symbol_is_known_by_the_same_clock(path, clock, drawn_at):
    written(path, 7, 12_345_678_901_234, clock='boot 1')
    with state_file(path, clock=clock) as file:
        assert file.stored.drawn_at == drawn_at


def test_when_the_word_began_is_known_by_every_clock(path):
    for begun_at in (-5, 0, 12_345_678_901_234_567, None):
        with state_file(path, clock='boot 1') as file:
            file.begin(NAME, STATE, begun_at=begun_at)
            for position in (3, 4):
                file.store(STATE, position)
        with state_file(path, clock='boot 2') as file:
            assert file.stored.begun_at == begun_at


def damaged(path, place):
    """Change one bit of the file; return its former content."""
    before = path.read_bytes()
    content = bytearray(before)
    content[place] ^= 0x10
    path.write_bytes(content)
    return before


@pytest.mark.parametrize('stored', [(), (3,), (3, 4), (3, 4, 5)], ids=len)
def test_a_damaged_slot_leaves_the_one_before(path, stored):
    """Every changed byte is noticed, and every place where the file ends in its last slot."""
    written(path)
    with state_file(path) as file:
        file.begin(NAME, STATE)
        for position in stored:
            file.store(STATE, position)
    newest = FRONT + SLOT * (len(stored) % 2)  # `written` took slot 1, `begin` slot 0
    before = [None, None, *stored][-2]
    content = path.read_bytes()
    for place in range(newest, newest + RECORD):
        damaged(path, place)
        assert opened(path) == ('a word to carry on', before), place
        if newest > FRONT:
            path.write_bytes(content[:place])
            assert opened(path) == ('a word to carry on', before), place
        path.write_bytes(content)
    assert opened(path) == ('a word to carry on', [None, *stored][-1])
    for place in (FRONT, FRONT + SLOT):
        damaged(path, place + 100)
    assert opened(path) == ('a damaged word', None)


def test_a_word_that_ran_is_never_taken_for_one_that_was_only_reserved(path):
    """Its name would be found among the charges, and another word begun for it."""
    written(path, 7)
    for place in (FRONT, FRONT + SLOT):
        damaged(path, place)
    with state_file(path) as file:
        assert (file.found, file.reserved) == ('a damaged word', None)


def test_every_changed_byte_of_the_front_is_noticed(path):
    written(path, 7)
    for place in range(FRONT):
        before = damaged(path, place)
        if place < 15:
            with pytest.raises(StateFileError, match='a file of another kind'):
                StateFile(path, DIGEST, 10)
        else:
            assert opened(path) == ('a word of another version' if place == 15 else
                                    'a damaged word', None)
        path.write_bytes(before)


@pytest.mark.parametrize('room', [0, SLOT - 1, 2**40 + 1, 2**64 - 1])
def test_a_front_that_makes_no_sense_is_damaged(path, room):
    written(path, 7)
    content = path.read_bytes()
    front = content[:16] + room.to_bytes(8, 'little') + content[24:FRONT - 4]
    path.write_bytes(front + crc32(front).to_bytes(4, 'little') + content[FRONT:])
    assert opened(path) == ('a damaged word', None)


class Killed(BaseException):
    """The process ends here."""


STATES = [bytes([number]) * length for number, length in enumerate(
    (10, 3000, 20, 2000, 9000, 5, 20000))]


def writing(path, end):
    """Let a word run for some states; call `end(k)` before it writes for the k-th time."""
    file, done = StateFile(path, DIGEST, 10), [None]
    write = os.pwrite

    def noted(descriptor, data, offset):
        end(len(writes), data, offset, write, descriptor)
        writes.append(len(data))
        return write(descriptor, data, offset)

    writes = []
    os.pwrite = noted
    try:
        file.reserve(NAME, len(STATES[0]))
        file.begin(NAME, STATES[0])
        done.append(STATES[0])
        for number, state in enumerate(STATES[1:]):
            file.store(state, number)
            done.append(state)
        file.begin(NAME, STATES[-1], 0)
    except Killed:
        pass
    finally:
        os.pwrite = write
        file.close()
    return done, writes


@pytest.mark.parametrize('parts', [20, pytest.param(150, marks=pytest.mark.thorough)])
def test_whenever_a_process_is_killed_a_whole_state_is_left(path, parts):
    """At many bytes of every write; the front alone is written at once."""
    _, writes = writing(path, lambda *_: None)
    assert len(writes) == 15  # room is made three times, and twice a slot is copied for that
    for number, length in enumerate(writes):
        cuts = [0] if length == FRONT else [*range(0, length, 1 + length // parts), length]
        for cut in cuts:
            path.unlink(missing_ok=True)

            def end(write_number, data, offset, write, descriptor, number=number, cut=cut):
                if write_number == number:
                    write(descriptor, data[:cut], offset)
                    raise Killed

            done, _ = writing(path, end)
            with state_file(path) as file:
                if file.stored is None:
                    assert done == [None]
                    assert file.reserved == (NAME if number else None), (number, cut)
                else:
                    following = STATES[min(len(done) - 1, len(STATES) - 1)]
                    assert file.stored.state in (done[-1], following), (number, cut)
                    assert file.stored.state == done[-1] or cut == length or length == FRONT


@pytest.mark.parametrize('length', [1, 15, 16, 47, FRONT - 1, FRONT, FRONT + 1,
                                    FRONT + RECORD, FRONT + SLOT + RECORD - 1])
def test_a_file_that_ends_early_is_damaged_or_refused(path, length):
    written(path)
    path.write_bytes(path.read_bytes()[:length])
    if length < 15:
        with pytest.raises(StateFileError, match='a file of another kind'):
            StateFile(path, DIGEST, 10)
        assert path.stat().st_size == length
    else:
        assert opened(path) == ('a damaged word', None)
        written(path, 3)
        assert opened(path) == ('a word to carry on', 3)


@pytest.mark.parametrize('version', [b'1', b'2', b'4'])
def test_a_file_of_a_former_version_is_another_word(path, version):
    path.write_bytes(b'symdp_ros word ' + version + bytes(208))
    assert opened(path) == ('a word of another version', None)
    written(path, 3)
    assert opened(path) == ('a word to carry on', 3)


def test_files_of_another_kind_are_not_overwritten(path):
    path.write_text('a letter that somebody would miss, longer than sixty-four characters.')
    before = path.read_text()
    with pytest.raises(StateFileError, match='a file of another kind'):
        StateFile(path, DIGEST, 10)
    assert path.read_text() == before


def test_what_is_no_regular_file_is_refused(path):
    os.mkfifo(path)
    with pytest.raises(StateFileError, match='is not a file'):
        StateFile(path, DIGEST, 10)


def test_one_process_at_a_time(path):
    with state_file(path) as file:
        file.begin(NAME, STATE)
        with pytest.raises(StateFileError, match='in use by another process'):
            StateFile(path, DIGEST, 10)
    assert opened(path)[0] == 'a word to carry on'


def test_missing_folder(path):
    with pytest.raises(StateFileError, match='cannot be opened: No such file'):
        StateFile(path / 'deeper' / 'file', DIGEST, 10)


@pytest.mark.parametrize('step', ['pwrite', 'fsync'])
def test_a_full_disk_is_an_error_of_our_own(path, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    written(path, 7)
    file = StateFile(path, DIGEST, 10)
    with monkeypatch.context() as patched:
        patched.setattr(os, step, full)
        for write in (lambda: file.reserve(OTHER_NAME, len(STATE)),
                      lambda: file.begin(OTHER_NAME, STATE)):
            with pytest.raises(StateFileError, match='cannot be written: No space left'):
                write()
    file.begin(NAME, STATE, 7)
    with monkeypatch.context() as patched:
        patched.setattr(os, 'pwrite', full)
        with pytest.raises(StateFileError, match='cannot be written: No space left'):
            file.store(STATE, 3)
    file.close()
    assert opened(path) == ('a word to carry on', 7)


def test_what_is_reserved_and_begun_is_durable_with_its_directory(path, monkeypatch):
    flushed = []
    flush = os.fsync

    def note(descriptor):
        flushed.append(os.readlink(f'/proc/self/fd/{descriptor}'))
        flush(descriptor)

    monkeypatch.setattr(os, 'fsync', note)
    file = StateFile(path, DIGEST, 10)
    file.reserve(NAME, len(STATE))
    assert flushed == [str(path), str(path.parent)]
    file.begin(NAME, STATE)
    assert flushed[2:] == [str(path)]
    file.store(STATE, 3)
    assert len(flushed) == 3
    file.close()
