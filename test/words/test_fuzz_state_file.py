# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""
Damaged state files, and files of other kinds in their place.

Whatever is there, a word is carried on from the state that was stored last, or the one before, or
not at all; and nothing but an error of our own is raised.
"""
import os
import socket

from long_runs import fuzz
from symdp_ros import StateFileError
from symdp_ros.words.state_file import StateFile

FOUND = ('a word to carry on', 'no word', 'a word of other settings', 'a damaged word',
         'a word of another version')
NAME = b'the name of it..'


def damaged(random, content: bytes) -> bytes:
    kind = random.randrange(6)
    place = random.randrange(len(content) + 1)
    if kind == 0:  # cut, or grown
        return content[:place] if random.random() < 0.5 else content + random.randbytes(place + 1)
    if kind == 1:
        return random.randbytes(random.randint(0, 200))
    if kind == 2:  # a block of the disk that was never written
        return content[:place] + bytes(len(content) - place)
    if kind == 3:  # parts of it in other places
        begin = random.randrange(len(content) + 1)
        return (content[:place] + content[begin:begin + 8] + content[place + 8:])[:len(content)]
    changed = bytearray(content)
    for _ in range(random.randint(1, 3)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def put_another_kind(random, path):
    kind = random.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(path)
    elif kind == 3:
        path.symlink_to(random.choice(('/dev/null', '/dev/zero', '/dev/full', '/nowhere/file')))
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))


def test_state_file(tmp_path):
    tried = 0

    def case(random):
        nonlocal tried
        tried += 1
        path = tmp_path / f'{tried}.state'
        states = random.choice((1, 2, 10, 1000, 2**31))
        digest = random.randbytes(32)
        if random.random() < 0.1:
            put_another_kind(random, path)
            try:
                StateFile(path, digest, states)
            except StateFileError as error:
                assert str(error).isprintable()
                return
            raise AssertionError(f'{path.lstat()} is taken for a state file')
        file = StateFile(path, digest, states)
        stored = [(b'the first', None)]
        file.begin(NAME, *stored[0])
        for _ in range(random.randint(0, 3)):
            length = random.choice((0, 8, 40, 1500, 4000))
            stored.append((random.randbytes(length), random.randrange(states)))
            file.store(*stored[-1])
        file.close()
        content = path.read_bytes()
        other = random.random() < 0.2  # settings
        if random.random() < 0.9:
            path.write_bytes(content := damaged(random, content))
        try:
            file = StateFile(path, bytes(32) if other else digest, states)
        except StateFileError as error:
            assert str(error).isprintable() and path.read_bytes() == content
            return
        assert file.found in FOUND and path.read_bytes() == content
        if file.found == 'a word to carry on':
            assert not other and (file.stored.state, file.stored.position) in stored[-2:]
        else:
            assert file.stored is None
        file.begin(NAME, b'once more')
        file.store(b'and more', states - 1)
        file.close()
        file = StateFile(path, bytes(32) if other else digest, states)
        assert file.found == 'a word to carry on'
        assert (file.stored.state, file.stored.position) == (b'and more', states - 1)
        file.close()
        path.unlink()

    fuzz(case)
