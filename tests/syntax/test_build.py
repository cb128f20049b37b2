from __future__ import annotations

import ast
import pickle
from dataclasses import fields
from typing import Any

import pytest
from generated_code import modules
from hypothesis import given, settings
from nasty_sources import nasty, stdlib

from xlamig import ir
from xlamig.syntax import module_from_text

SOURCES = {**nasty(), **stdlib()}


def value(text: str) -> Any:
    statement = module_from_text(f"x = {text}\n").body[0]
    assert isinstance(statement, ir.Assign)
    return statement.value


def shape(node: Any) -> Any:
    """A node as nested tuples without places, to be compared."""
    if isinstance(node, ir.Name):
        return node.id
    if isinstance(node, ir.Const):
        return (node.value,)
    if isinstance(node, tuple):
        return [shape(item) for item in node]
    if not isinstance(node, ir.Node):
        return node
    names = [f.name for f in fields(node) if not f.name.endswith(("start", "end"))]
    return (type(node).__name__, *(shape(getattr(node, name)) for name in names))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0xFF", 255), ("0o17", 15), ("0b1", 1), ("1_000", 1000), ("00", 0), ("1e-3", 0.001), ("5.", 5.0),
        ("2j", 2j), ("-5", -5), ("- -5", 5), ("-(5)", -5), ("True", True), ("...", ...), ("None", None),
        ("'a' \"b\"", "ab"), ("'a'\\\n'b'", "ab"), ("('a' # c\n'b')", "ab"), ("b'a' rb'\\d'", b"a\\d"),
        ("'''a\r\nb'''", "a\nb"), ("'a\\\r\nb'", "ab"), ("r'\\d'", "\\d"), ("u'é'", "é"),
    ],
)  # fmt: skip
def test_constants(text: str, expected: object) -> None:
    node = value(text)
    assert isinstance(node, ir.Const)
    assert node.value == expected and type(node.value) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f'a{b}{{c}}'", ("FString", ["a", "b", "{c}"])),
        ("f'{a:{b:{c}}}' 'd' f'{e!r}'", ("FString", ["a", "b", "c", "d", "e"])),
        ("a and b and c or d", ("Bool", "or", [("Bool", "and", ["a", "b", "c"]), "d"])),
        ("a and (b and c)", ("Bool", "and", ["a", ("Bool", "and", ["b", "c"])])),
        ("a < b not in c is not d", ("Compare", "a", ["<", "not in", "is not"], ["b", "c", "d"])),
        ("a[*b]", ("Subscript", "a", [("Starred", "b")])),
        ("a[b:, ...]", ("Subscript", "a", [("Slice", "b", None, None), (...,)])),
        ("{'a': b, **c}", ("Dict", [("a",), None], ["b", "c"])),
        ("lambda a, /, *b, c, **d: 0", ("Lambda", [
            ("Param", "a", "positional-only", None, None), ("Param", "b", "*", None, None),
            ("Param", "c", "keyword-only", None, None), ("Param", "d", "**", None, None)], (0,))),
        ("[a async for b in c if d for e in f]", ("Comprehension", "list", "a", None, [
            ("Generator", "b", "c", ["d"], True), ("Generator", "e", "f", [], False)])),
        ("-a", ("Unary", "-", "a")),
        ("1" * 5000, ("BigLiteral", "int", 5000)),
        (f"[{'1, ' * 300}]", ("BigLiteral", "list", 300)),
    ],
)  # fmt: skip
def test_expressions(text: str, expected: object) -> None:
    assert shape(value(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try: a\nexcept* B as e: c\nfinally: d", ("Try", [("ExprStmt", "a")],
            [("Handler", "B", "e", [("ExprStmt", "c")])], [], [("ExprStmt", "d")])),
        ("if a: b\nelif c: d\nelse: e", ("If", "a", [("ExprStmt", "b")],
            [("If", "c", [("ExprStmt", "d")], [("ExprStmt", "e")])])),
        ("async def f(): pass", ("FunctionDef", "f", [], None, [], [("Jump", "pass")], True)),
        ("@a.b\nclass C(D, e=F): pass", ("ClassDef", "C", [("Arg", None, "", "D"), ("Arg", "e", "", "F")],
            [("Attribute", "a", "b")], [("Jump", "pass")])),
        ("type X[T] = Y", ("Assign", ["X"], "Y")),
        ("global a, b", ("Scoping", "global", ["a", "b"])),
        ("del a, (b)", ("Delete", ["a", "b"])),
        ("from ..a.b import c as d", ("ImportFrom", "a.b", 2, [("Alias", "c", "d")])),
        ("from . import *", ("ImportFrom", "", 1, [("Alias", "*", None)])),
        ("import a.b as c, d", ("Import", [("Alias", "a.b", "c"), ("Alias", "d", None)])),
        ("x = []  # type: list", ("Assign", ["x"], ("Sequence", "list", []))),
        ("a; b", ("ExprStmt", "a")),
    ],
)  # fmt: skip
def test_statements(text: str, expected: object) -> None:
    assert shape(module_from_text(text).body[0]) == expected


@pytest.mark.parametrize(
    ("pattern", "captures"),
    [
        ("_", []),
        ("a", ["a"]),
        ("a.b", []),
        ("[a, *b, *_]", ["a", "b"]),
        ("{'k': a, **b}", ["a", "b"]),
        ("A(a, x=b) as c", ["c", "a", "b"]),
        ("(1 | 2) as a", ["a"]),
    ],
)
def test_what_a_pattern_captures(pattern: str, captures: list[str]) -> None:
    match = module_from_text(f"match x:\n  case {pattern}: pass\n").body[0]
    assert isinstance(match, ir.Match)
    assert sorted(match.cases[0].captures) == sorted(captures)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "|"),
        ("# c\n", "|# c\n"),
        ("# c\nimport a\n", "# c\n|import a\n"),
        ("'''d'''\nimport a\n", "'''d'''\n|import a\n"),
        ("'''d'''", "'''d'''|"),
        ("'d'  # c\r\n\r\na\r\n", "'d'  # c\r\n|\r\na\r\n"),
        ("'d'; a\nb\n", "'d'; a\n|b\n"),
        ("'d'\nfrom __future__ import a\nb\n", "'d'\nfrom __future__ import a\n|b\n"),
        ("a\n'not a docstring'\n", "|a\n'not a docstring'\n"),
        ("# c\n@a\n# d\n@b\ndef f(): pass\n", "# c\n|@a\n# d\n@b\ndef f(): pass\n"),
        ("@a\nclass B: pass\n", "|@a\nclass B: pass\n"),
        ("'d'\nx\r\ny\r\nz\r\n", "'d'\n|x\r\ny\r\nz\r\n"),
    ],
)
def test_where_an_import_goes(text: str, expected: str) -> None:
    at = module_from_text(text).insert_at
    assert text[:at] + "|" + text[at:] == expected


def check_insert(text: str) -> None:
    module = module_from_text(text)
    line = "import new" + module.newline
    if module.insert_at and text[module.insert_at - 1] not in "\r\n":
        line = module.newline + line
    inserted = module_from_text(text[: module.insert_at] + line + text[module.insert_at :])
    assert len(inserted.body) == len(module.body) + 1


@pytest.mark.parametrize("name", SOURCES, ids=lambda name: repr(name)[:40])
def test_an_import_can_be_written_there(name: str) -> None:
    check_insert(SOURCES[name])


@pytest.mark.slow
@settings(max_examples=40)
@given(modules())
def test_an_import_can_be_written_into_generated_code(text: str) -> None:
    check_insert(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES, ids=lambda name: repr(name)[:40])
def test_pickled_and_back(name: str) -> None:
    module = module_from_text(SOURCES[name])
    again = pickle.loads(pickle.dumps(module, 5))
    for one, other in zip(ir.walk(module), ir.walk(again), strict=True):
        assert type(one) is type(other) and (one.start, one.end) == (other.start, other.end)
    assert shape(module) == shape(again)


@pytest.mark.slow
def test_the_ir_at_rest_is_at_most_five_times_the_source() -> None:
    for name, text in stdlib().items():
        assert len(pickle.dumps(module_from_text(text), 5)) <= 5 * len(text), name


@pytest.mark.slow
def test_statements_are_those_python_sees() -> None:
    for text in stdlib().values():
        seen = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))
        assert sum(isinstance(node, ir.Stmt) for node in ir.walk(module_from_text(text))) == seen
