# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The file that carries a word over a restart. Needs no ROS."""
import errno
import os

import pytest
from symdp_ros import StateFileError
from symdp_ros.words.state_file import StateFile

DIGEST, OTHER = bytes(range(32)), bytes(32)
NAME, OTHER_NAME = b'the name of it..', b'another name....'
NEW = 'no word', None
RECORD = 112  # bytes


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'word.state'


def opened(path, digest=DIGEST, states=10, **given):
    """Return what is found in a file, and the position of its word, or None."""
    file = StateFile(path, digest, states, **given)
    file.close()
    return file.found, file.stored and file.stored.position


def written(path, position=None, drawn_at=-1, **given):
    """Write a word that has begun, and its last position."""
    file = StateFile(path, DIGEST, 10, **given)
    file.reserve(NAME)
    file.begin(NAME)
    if position is not None:
        file.store(position, drawn_at)
    file.close()


def test_a_word_that_has_not_begun_is_not_carried_on(path):
    assert opened(path) == opened(path) == NEW
    file = StateFile(path, DIGEST, 10)
    file.reserve(NAME)
    file.close()
    assert opened(path) == NEW


def test_what_was_stored_is_found_again(path):
    file = StateFile(path, DIGEST, 10)
    file.begin(NAME)
    file.store(3)
    file.store(7)
    file.close()
    assert path.stat().st_mode & 0o777 == 0o600
    file = StateFile(path, DIGEST, 10)
    assert file.found == 'a word to carry on'
    assert (file.stored.name, file.stored.position) == (NAME, 7)
    file.begin(NAME, 7)
    file.close()
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
    file = StateFile(path, digest, states)
    file.reserve(OTHER_NAME)
    file.begin(OTHER_NAME)
    file.close()
    assert opened(path, digest, states) == ('a word to carry on', None)


def test_a_word_between_other_topics_is_refused_and_kept(path):
    written(path, 7, topics='/r1/region and /r1/private_region')
    with pytest.raises(StateFileError, match='other topics than /r2/region .* remove the file'):
        StateFile(path, DIGEST, 10, topics='/r2/region and /r2/private_region')
    assert opened(path, topics='/r1/region and /r1/private_region')[1] == 7


def test_a_word_that_only_was_reserved_between_other_topics_is_nothing(path):
    file = StateFile(path, DIGEST, 10, topics='/r1/region')
    file.reserve(NAME)
    file.close()
    file = StateFile(path, DIGEST, 10, topics='/r2/region')
    assert (file.found, file.reserved) == ('no word', None)
    file.close()


def test_a_word_that_was_reserved_is_found_by_its_name_until_it_begins(path):
    file = StateFile(path, DIGEST, 10)
    file.reserve(NAME)
    file.close()
    for digest, reserved in ((DIGEST, NAME), (OTHER, None)):
        file = StateFile(path, digest, 10)
        assert file.reserved == reserved
        file.close()
    file = StateFile(path, DIGEST, 10)
    file.begin(NAME)
    file.close()
    file = StateFile(path, DIGEST, 10)
    assert file.reserved is None and file.stored.name == NAME
    file.close()


def test_reserving_keeps_the_word_that_is_there(path):
    """The charge of the new one may be refused."""
    written(path, 7)
    file = StateFile(path, OTHER, 10)
    file.reserve(OTHER_NAME)
    file.close()
    assert opened(path) == ('a word to carry on', 7)


@pytest.mark.parametrize('clock, drawn_at', [('boot 1', 12_345_678_901_234), ('boot 2', -1)])
def test_the_time_of_the_last_symbol_is_known_by_the_same_clock(path, clock, drawn_at):
    written(path, 7, 12_345_678_901_234, clock='boot 1')
    file = StateFile(path, DIGEST, 10, clock=clock)
    assert file.stored.drawn_at == drawn_at
    file.close()


def damaged(path, place):
    """Change one bit of the file; return its former content."""
    before = path.read_bytes()
    content = bytearray(before)
    content[place] ^= 0x10
    path.write_bytes(content)
    return before


def test_every_changed_byte_of_the_word_is_noticed(path):
    written(path, 7)
    for place in range(RECORD):
        before = damaged(path, place)
        if place < 15:
            with pytest.raises(StateFileError, match='a file of another kind'):
                StateFile(path, DIGEST, 10)
        else:
            assert opened(path)[0] == ('a word of another version' if place == 15 else
                                       'a damaged word')
        path.write_bytes(before)


def test_a_damaged_reservation_is_none_and_harms_no_word(path):
    written(path, 7)
    file = StateFile(path, DIGEST, 10)
    file.reserve(OTHER_NAME)
    file.close()
    for place in range(RECORD, 2 * RECORD):
        before = damaged(path, place)
        file = StateFile(path, DIGEST, 10)
        assert (file.stored.position, file.reserved) == (7, None)
        file.close()
        path.write_bytes(before)


@pytest.mark.parametrize('length', [1, 15, 16, 47, 56, RECORD - 1, RECORD, RECORD + 1,
                                    2 * RECORD - 1,
                                    2 * RECORD + 1])
def test_a_file_of_another_length_is_damaged_or_refused(path, length):
    written(path)
    path.write_bytes((path.read_bytes() + b'more')[:length])
    if length < 15:
        with pytest.raises(StateFileError, match='a file of another kind'):
            StateFile(path, DIGEST, 10)
        assert path.stat().st_size == length
    else:
        assert opened(path) == ('a damaged word', None)
        written(path, 3)
        assert opened(path) == ('a word to carry on', 3)


def test_a_file_of_the_first_version_is_another_word(path):
    path.write_bytes(b'symdp_ros word 1' + bytes(48))
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
    file = StateFile(path, DIGEST, 10)
    file.begin(NAME)
    with pytest.raises(StateFileError, match='in use by another process'):
        StateFile(path, DIGEST, 10)
    file.close()
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
        for write in (lambda: file.reserve(OTHER_NAME), lambda: file.begin(OTHER_NAME)):
            with pytest.raises(StateFileError, match='cannot be written: No space left'):
                write()
    file.begin(NAME, 7)
    with monkeypatch.context() as patched:
        patched.setattr(os, 'pwrite', full)
        with pytest.raises(StateFileError, match='cannot be written: No space left'):
            file.store(3)
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
    file.reserve(NAME)
    assert flushed == [str(path), str(path.parent)]
    file.begin(NAME)
    assert flushed[2:] == [str(path)]
    file.store(3)
    assert len(flushed) == 3
    file.close()
