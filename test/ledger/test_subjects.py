# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of subjects: those that look alike are told, those that are none are refused."""
from ledgers import loss
import pytest
from refusals import refused
from symdp_ros import LedgerError
from symdp_ros.cli.main import main
from symdp_ros.ledger.ledger import Ledger
from symdp_ros.ledger.subjects import look_alike_text, look_alike_texts, look_alikes


@pytest.mark.parametrize('other', [
    'ｒ1', 'R1', 'r\u200b1', 'r１', '\ufeffr1', 'r1 ', 'r\u00ad1', 'r\u3164', 'r\ufe0f1',
    'r\u00a01'])
def test_names_that_look_alike(other):
    alike = other != 'r\u3164'
    assert look_alikes('r1', ['r1', other, 'r2', '1r']) == [other] * alike
    assert look_alikes('r', ['r\u3164', 'r1']) == ['r\u3164']
    assert (ascii(other) in look_alike_text('r1', ['r1', other])) == alike


@pytest.mark.parametrize('one, other', [
    ('007', '7'), ('1e3', '1000'), ('7.0', '7'), ('true', 'True'), ('1_000', '1000'),
    ('.5', '0.50'),
    ('1e3', '1E+3'), ('９', '9'), ('9007199254740993', '09007199254740993')])
def test_names_that_tools_turn_into_one_another(one, other):
    assert look_alikes(one, [other]) == [other] and look_alikes(other, [one]) == [one]


@pytest.mark.parametrize('one, other', [
    ('7', '-7'), ('r007', 'r7'), ('9007199254740993', '9007199254740992'), ('1e', '1'), ('', '0'),
    ('1.2.3', '1.23'), ('e3', '1e3')])
def test_names_of_different_numbers(one, other):
    assert look_alikes(one, [other]) == []


def test_characters_that_are_not_seen():
    """Of Unicode's Default_Ignorable_Code_Point all but formats (Cf), and the Braille blank."""
    unseen = {*'\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800',
              *map(chr, range(0xfe00, 0xfe10)), *map(chr, range(0xe0100, 0xe01f0))}
    beside = {chr(ord(character) + step) for character in unseen for step in (-1, 1)} - unseen
    for character in unseen | beside:
        alike = character in unseen or character == '\u180e'  # which is a format
        assert look_alikes('r', [f'r{character}']) == [f'r{character}'] * alike, ascii(character)


def test_each_of_several_names_is_warned_of():
    assert [*look_alike_texts(['r', 'q', 'R', 'p'])] == [
        look_alike_text('r', ['R']), look_alike_text('R', ['r'])]


@pytest.mark.parametrize('name', [
    '', ' ', 'r\n1', 'r\x001', 'r\x7f', 'r\u2028', 'r\u202e1', '\x1b[2J', '\udcff'])
def test_names_that_are_none(tmp_path, capsys, name):
    with Ledger(tmp_path / 'a.ledger') as ledger:
        for attempt in (lambda: ledger.keep_budget(name, 1.0),
                        lambda: ledger.charge(name, loss(), settings='s', description='{}')):
            with refused(LedgerError, 'the name of the subject', damaged=False):
                attempt()
        assert ledger.entries() == []
    for change in ('--set-budget', '--spent-at-least'):
        assert main(['ledger', str(tmp_path / 'a.ledger'), change, name, '1']) == 1
        assert 'the name of the subject' in capsys.readouterr().err


def test_the_command_line_warns(tmp_path, capsys):
    path = tmp_path / 'a.ledger'
    with Ledger(path) as ledger:
        ledger.charge('r', loss(), settings='s', description='{}')
    assert main(['ledger', str(path), '--set-budget', 'r\u200b', '1']) == 0
    error = capsys.readouterr().err
    assert r"the subject 'r\u200b' looks like 'r', and is another one" in error
    assert main(['ledger', str(path)]) == 0
    assert r"the subject 'r' looks like 'r\u200b'" in capsys.readouterr().err
