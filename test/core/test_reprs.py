# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What objects show of themselves: in a line, and never a symbol of a word."""
import pytest
import symdp_ros
from symdp_ros import Chain, HammingAutomaton, OfflineMechanism, OnlineMechanism, Privacy
from symdp_ros.analysis.accuracy import accuracy, expected_accuracy
from symdp_ros.analysis.belief import Filter
from symdp_ros.analysis.calibration import Calibration
from symdp_ros.maps.graph import TransitionGraph

SYMBOLS = ['dock', 'hall', 'hidden room']
CHAIN = Chain({'dock': ['hall', 'dock'], 'hall': ['hidden room', 'dock', 'hall'],
               'hidden room': ['hall']}, 'dock')
SHORT = "<Chain: 3 states, 6 edges, initial state 'dock'>"
WORD = ['hall', 'hidden room', 'hall']
PRIVACY = Privacy(2.0, 3)


def carrying(mechanism):
    for symbol in WORD:
        mechanism.step(symbol)
    return mechanism


def updated(found):
    for symbol in WORD:
        found.update(symbol)
    return found


SHOWN = {
    'Chain': (CHAIN, SHORT),
    'Privacy': (PRIVACY, 'Privacy(epsilon=2.0, adjacency=3)'),
    'OnlineMechanism': (carrying(OnlineMechanism(CHAIN, PRIVACY)),
                        f"OnlineMechanism({SHORT}, {PRIVACY}, policy='guided')"),
    'OnlineMechanism, adaptive': (
        carrying(OnlineMechanism(CHAIN, PRIVACY, policy='adaptive', delay=2)),
        f"OnlineMechanism({SHORT}, {PRIVACY}, policy='adaptive', trust=0.8, delay=2, reports=1)"),
    'OnlineMechanism, own moves': (
        carrying(OnlineMechanism(CHAIN, PRIVACY, policy='adaptive', learn='own')),
        f"OnlineMechanism({SHORT}, {PRIVACY}, policy='adaptive', trust=0.8, delay=0, reports=1, "
        "learn='own')"),
    'OfflineMechanism, own moves': (
        OfflineMechanism(CHAIN, PRIVACY, selection='causal', policy='adaptive', learn='own'),
        f"OfflineMechanism({SHORT}, {PRIVACY}, selection='causal', policy='adaptive', "
        "learn='own')"),
    'OfflineMechanism': (OfflineMechanism(CHAIN, PRIVACY),
                         f"OfflineMechanism({SHORT}, {PRIVACY}, selection='exponential', "
                         "base='chain', trust=0.8)"),
    'OfflineMechanism, counting': (OfflineMechanism(CHAIN, PRIVACY, base='counting'),
                                   f'OfflineMechanism({SHORT}, {PRIVACY}, '
                                   "selection='exponential', base='counting')"),
    'OfflineMechanism, causal': (
        OfflineMechanism(CHAIN, PRIVACY, selection='causal'),
        f"OfflineMechanism({SHORT}, {PRIVACY}, selection='causal', policy='guided')"),
    'HammingAutomaton': (HammingAutomaton(CHAIN, WORD, 2),
                         f'<HammingAutomaton: words of length 3 at distance 2, {SHORT}>'),
    'Filter': (updated(Filter(OnlineMechanism(CHAIN, PRIVACY))),
               f"Filter(OnlineMechanism({SHORT}, {PRIVACY}, policy='guided'))"),
    'Calibration': (Calibration(CHAIN, 1, 3, word=WORD),
                    f'<Calibration: a given word of length 3, k = 1, {SHORT}>'),
    'TransitionGraph': (TransitionGraph({s: list(CHAIN.successors(s)) for s in SYMBOLS},
                                        source='a.yaml'),
                        '<TransitionGraph: a.yaml: 3 states, 6 edges>'),
    'Accuracy': (accuracy(OnlineMechanism(CHAIN, PRIVACY), WORD), None),
    'ExpectedAccuracy': (expected_accuracy(OnlineMechanism(CHAIN, PRIVACY), 5, walks=2), None),
}


@pytest.mark.parametrize('name', SHOWN)
def test_an_object_shows_itself_in_a_line_without_the_word(name):
    found, expected = SHOWN[name]
    shown = repr(found)
    assert expected in (None, shown) and '\n' not in shown and len(shown) < 200
    assert not any(symbol in shown.replace("initial state 'dock'", '') for symbol in SYMBOLS)


def test_every_exported_class_of_the_core_is_looked_at():
    exported = {name: getattr(symdp_ros, name) for name in symdp_ros.__all__}
    classes = {name for name, found in exported.items() if isinstance(found, type)
               and found.__module__.startswith('symdp_ros.core')
               and not issubclass(found, Exception)}
    assert classes and classes <= set(SHOWN)
