# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files of text, damaged at random: what fuzzers of YAML and JSON share."""

#: What a damaged file may hold in the place of something else.
PIECES = [piece.encode('utf-8', 'surrogatepass') for piece in (
    '', '{', '}', '[', ']', ': ', ', ', '- ', '&a ', '*a', '*b', '!!python/object:os.system ',
    '!!str ', '!own ', '<<: ', '!!bool maybe', '!!timestamp foo', '!!int ""', '&a [*a]',
    '!!float x', '!!binary x', '!!omap x', '!!set {', '!!null x', '! x', '"', "'", '\0',
    '\x1b[31m', '\ud800', '\u202e', '\ufeff', '\x85',
    '\u2028', 'NaN', '.nan', '.inf', '-Infinity', '1e999', '-0', '9' * 400, '1' + '0' * 5000, '-1',
    '1_000', '0x1F', '0b1', '1:30', '0b_', '0x_', '2026-11-22', '2026-13-45', '1:' * 400 + '1.0',
    '10' * 200, 'null', '~', 'true', '%YAML 9.9\n', '%TAG ! x\n', '---\n', '...\n',
    '|\n', '>-\n', '\t', '\n', '\r', '? ', '# ', '[[[[' * 20, '{' * 60, '\\u0000',
    '"\\ud800"', 'x' * 1001, 'levels: ', 'nodes: ', 'symbols: ', 'transitions: ', 'node: ',
    '"features": ', '"coordinates": {}', '"id": [], ', 'initial_state: ', 'regions: ',
    'polygon: ', '[[0, 0], [1, 0], [1, 1]]')] + [b'\xff', b'\xc3']


def damaged(random, content: bytes) -> bytes:
    """Return a file with one to four places replaced, and sometimes cut off."""
    for _ in range(random.randint(1, 4)):
        begin = random.randrange(len(content) + 1)
        end = min(len(content), begin + random.choice((0, 0, 1, 1, 2, 5, 20, 200)))
        piece = random.choice((
            random.choice(PIECES), random.choice(PIECES), content[begin:end] * 2,
            random.randbytes(random.randint(1, 4)),
            content[(other := random.randrange(len(content) + 1)):other + end - begin]))
        content = content[:begin] + piece + content[end:]
    return content[:random.randrange(len(content) + 1)] if random.random() < 0.1 else content
