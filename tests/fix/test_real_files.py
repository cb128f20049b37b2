"""Fixes of whole programs fit in with how a file is written, and leave everything else as it is.

A program is changed in how it is written, fixed, and changed back: that has to give the program as it is
fixed. Sampled are the line ends, tabs, a byte order mark, comments behind statements and statements that
share a line.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlamig import engine

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "programs" / "sources"
NAMES = ("char_rnn", "cnn_classifier", "ddp_script", "gan", "gradient_accumulation", "recommender", "vae")
MARK = "  # so it is\t"
WAYS = ("windows", "tabs", "mark", "comments", "no last newline")


def fixed(content: bytes) -> bytes:
    options = engine.Options({}, isolated=True, cache=False, jobs=1, stdin=("train.py", content))
    outcome = engine.fix([Path("train.py")], options, {"safe", "unsafe"}, write=False)
    assert outcome.stdin is not None and not outcome.problems
    return outcome.stdin.encode()


@cache
def original(name: str) -> str:
    return (PROGRAMS / f"{name}.py").read_text()


@cache
def fixed_original(name: str) -> str:
    return fixed(original(name).encode()).decode()


def written(text: str, ways: frozenset[str]) -> bytes:
    """The text in these ways of writing it."""
    if "comments" in ways:
        lines = text.splitlines(keepends=True)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE and token.line.strip():
                row = token.start[0] - 1
                lines[row] = lines[row].rstrip("\n") + MARK + "\n"
        text = "".join(lines)
    if "tabs" in ways:
        text = re.sub(r"^(?:    )+", lambda m: "\t" * (len(m[0]) // 4), text, flags=re.M)
    if "no last newline" in ways:
        text = text.rstrip("\n")
    if "windows" in ways:
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if "mark" in ways else b"") + text.encode()


def plain(content: bytes, ways: frozenset[str]) -> str:
    """`written` undone."""
    text = content.decode("utf-8-sig" if "mark" in ways else "utf-8")
    if "windows" in ways:
        assert "\n" not in text.replace("\r\n", "")
        text = text.replace("\r\n", "\n")
    if "tabs" in ways:
        assert not re.search(r"^\t*    ", text, flags=re.M)
        text = re.sub(r"^\t+", lambda m: "    " * len(m[0]), text, flags=re.M)
    return text.replace(MARK, "") if "comments" in ways else text


@pytest.mark.slow
@settings(max_examples=10)
@given(st.sampled_from(NAMES), st.frozensets(st.sampled_from(WAYS), min_size=1))
def test_a_fix_keeps_to_the_way_a_file_is_written(name: str, ways: frozenset[str]) -> None:
    content = written(original(name), ways)
    once = fixed(content)
    assert once.startswith(b"\xef\xbb\xbf") is ("mark" in ways)
    expected = fixed_original(name)
    assert plain(once, ways) == (expected.rstrip("\n") if "no last newline" in ways else expected)
    assert fixed(once) == once


def together(text: str) -> str:
    """Simple statements of one line each that follow one another share one."""
    lines = text.splitlines()
    simple = {}
    for block in (getattr(n, field, ()) for n in ast.walk(ast.parse(text)) for field in ("body", "orelse")):
        for statement in block if isinstance(block, list) else ():
            one = statement.lineno == statement.end_lineno and not hasattr(statement, "body")
            if one and "#" not in lines[statement.lineno - 1]:
                simple[statement.lineno] = statement.col_offset
    result: list[str] = []
    last = 0
    for row, line in enumerate(lines, 1):
        if row in simple and row - 1 == last and simple.get(last) == simple[row]:
            result[-1] += "; " + line.strip()
        else:
            result.append(line)
        last = row if row in simple else 0
    return "\n".join(result) + "\n"


def comments(text: str) -> list[str]:
    return sorted(
        t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_statements_that_share_a_line(name: str) -> None:
    before = together(original(name))
    assert before.count("; ") > 10
    once = fixed(before.encode())
    after = once.decode()
    ast.parse(after)
    assert fixed(once) == once
    assert comments(after) == comments(before)
    assert ast.unparse(ast.parse(after)) == ast.unparse(ast.parse(fixed_original(name)))
