# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mutants of a module: each has one operator or constant that is another one."""
import ast
from collections import Counter
from collections.abc import Callable, Iterator
import copy
from dataclasses import dataclass
from functools import partial
from types import CodeType

_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)}
_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.MatMult: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}
_PAIRS = [('min', 'max'), ('minimum', 'maximum'), ('any', 'all'), ('floor', 'ceil'),
          ('argmin', 'argmax'), ('ROUND_CEILING', 'ROUND_FLOOR')]
_NAMES = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}}

#: What is not changed: texts, types, what decorates, and `strict=` of zip, which checks ourselves.
_LEFT_ALONE = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)
_FIELDS_LEFT_ALONE = ('annotation', 'returns', 'decorator_list', 'type_params')
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LEAST_SHOWN = 15  # characters


@dataclass
class Mutant:
    """A module with one change."""

    name: str       # function, what stood there, and what stands there now
    lines: range    # of the statement, or of the head of one, that was changed
    code: CodeType  # of the module
    inside: bool    # whether the change is in a function: the module itself runs as it did


def _changed(node: ast.AST) -> list[ast.AST]:
    """Return what may stand in the place of a node."""
    found = []
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                found.append(copy.copy(node))
                found[-1].ops = [*node.ops[:i], other(), *node.ops[i + 1:]]
    elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        found.append(copy.copy(node))
        found[-1].op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        found.append(node.operand)
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            found.append(ast.Constant(not value))
        elif isinstance(value, int):
            found.append(ast.Constant(value + 1))
        elif isinstance(value, float):
            found.append(ast.Constant(2 * value if value else 1.0))
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        found.append(copy.copy(node))
        found[-1].attr = _NAMES[node.attr]
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        found.append(ast.Constant(_NAMES[node.id]) if node.id.startswith('ROUND')  # a text
                     else ast.Name(_NAMES[node.id], node.ctx))
    return [ast.copy_location(other, node) for other in found]


def mutants(source: str, file: str) -> Iterator[Mutant]:
    """Yield each mutant of a module, in the order of its text; their names differ."""
    tree = ast.parse(source)
    same: Counter[str] = Counter()
    for parents, node, put in _places(tree, []):
        for other in _changed(node):
            shown = _shown(node, parents)
            before = ast.unparse(shown)
            put(other)
            try:
                after = ast.unparse(other if shown is node else shown)
                code = compile(tree, file, 'exec')
            finally:
                put(node)
            outer = [each for each in parents if isinstance(each, (*_FUNCTIONS, ast.ClassDef))]
            where = '.'.join(getattr(each, 'name', 'lambda') for each in outer)
            name = f'{where}: {before} → {after}'
            same[name] += 1
            yield Mutant(name + (f' ({same[name]})' if same[name] > 1 else ''),
                         _lines(node, parents), code, _inside(node, parents))


def _places(node: ast.AST, parents: list[ast.AST]) -> Iterator[tuple[
        list[ast.AST], ast.AST, Callable[[ast.AST], None]]]:
    """Yield (its parents, node, a function that puts another in its place) for each one below."""
    parents = [*parents, node]
    for name, value in ast.iter_fields(node):
        if name in _FIELDS_LEFT_ALONE:
            continue
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not _left_alone(child):
                put = partial(value.__setitem__, i) if isinstance(value, list) else partial(
                    setattr, node, name)
                yield parents, child, put
                yield from _places(child, parents)


def _left_alone(node: ast.AST) -> bool:
    return isinstance(node, _LEFT_ALONE) or isinstance(node, ast.keyword) and node.arg == 'strict'


def _shown(node: ast.AST, parents: list[ast.AST]) -> ast.AST:
    """Return as much around a node as tells the reader where it stands."""
    for parent in reversed(parents):
        if len(ast.unparse(node)) >= _LEAST_SHOWN or hasattr(parent, 'body'):
            break
        node = parent
    return node


def _lines(node: ast.AST, parents: list[ast.AST]) -> range:
    """Return the lines of the statement, without those of the statements in it."""
    *_, statement = (each for each in [*parents, node] if isinstance(each, ast.stmt))
    body = getattr(statement, 'body', None)
    last = max(body[0].lineno - 1, statement.lineno) if body else statement.end_lineno
    return range(statement.lineno, last + 1)


def _inside(node: ast.AST, parents: list[ast.AST]) -> bool:
    """Return whether a node is in the body of a function, not among its defaults."""
    return any(isinstance(outer, _FUNCTIONS) and inner is not outer.args
               for outer, inner in zip(parents, [*parents[1:], node]))
