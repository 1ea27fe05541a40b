# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of formats in docs/maps.md: made from samples, each read or refused here."""
from pathlib import Path

from map_samples import SAMPLES
from symdp_ros import ChainError
from symdp_ros.maps import FORMATS, read_graph

PAGE = Path(__file__).parents[2] / 'docs' / 'maps.md'


def outcome(folder, sample, expected):
    """Return whether a sample is read as expected; it is refused, as expected, otherwise."""
    file = folder / 'a_map'  # without a suffix: the content decides
    file.write_text(sample)
    try:
        graph = read_graph(file)
        if expected is None:
            graph.chain(next(iter(graph.successors)))
    except ChainError as error:
        assert expected is None or isinstance(expected, str) and expected in str(error), error
        return None, False
    assert expected is not None
    if expected == 'unaligned':
        assert graph.unaligned
        return graph.about[0], False
    assert (len(graph.successors), sum(map(len, graph.successors.values()))) == expected
    assert len(graph.positions) in (0, expected[0])
    return graph.about[0], True


def table(folder):
    lines = ['| format | recognised by | read | refused |', '|---|---|---|---|']
    for kind in FORMATS:
        read, refused, names = [], [], set()
        for label, sample, expected in SAMPLES[kind.name]:
            about, is_read = outcome(folder, sample, expected)
            names |= {about} - {None}
            (read if is_read else refused).append(label)
        assert len(names) == 1, names
        lines.append(f'| {kind.name.partition(" ")[2]} | {kind.mark} | {"; ".join(read)} | '
                     f'{"; ".join(refused)} |')
    return '\n'.join(lines) + '\n'


def test_the_page_has_the_table(tmp_path):
    made = table(tmp_path)
    assert made in PAGE.read_text('utf-8'), f'docs/maps.md should have this table:\n{made}'
