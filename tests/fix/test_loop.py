"""The loop is fed by a toy analyser: every call `f(x)` wants to be `g(x)`, and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig import ir
from xlamig.findings import Create, Edit, Effort, Finding, Fix
from xlamig.fix.loop import ROUNDS, fix_text
from xlamig.source.decode import decode
from xlamig.source.text import SourceText
from xlamig.syntax import module_from_text

Make = Callable[..., Finding]


def whole_calls(make: Make, name: str, new: str, code: str = "XLA002", grade: str = "safe"):
    """Rewrites whole calls, so that nested ones overlap."""

    def analyse(source: SourceText) -> list[Finding]:
        found = []
        for node in ir.walk(module_from_text(source.text)):
            if isinstance(node, ir.Call) and isinstance(node.func, ir.Name) and node.func.id == name:
                content = new + source.text[node.func.end : node.end]
                edit = Edit(source.filename, None, source.range(node.start, node.end), content)
                found.append(make(Fix("m", grade, (edit,)), code))
        return found

    return analyse


def test_other_grades_are_not_applied(finding: Make) -> None:
    analyse = whole_calls(finding, "f", "g", grade="unsafe")
    assert fix_text(SourceText("train.py", "f(1)\n"), analyse, {"safe"}).text == "f(1)\n"


def test_a_display_fix_is_never_written(finding: Make) -> None:
    shown = finding(Fix("only a hint", "display"))
    result = fix_text(SourceText("train.py", "f(1)\n"), lambda _: [shown], {"safe", "display"})
    assert (result.text, result.applied, result.rounds) == ("f(1)\n", {}, 0)


def test_a_fix_of_another_file_is_left(finding: Make) -> None:
    source = SourceText("train.py", "f(1)\n")
    foreign = finding(Fix("m", "safe", (Edit("other.py", None, source.range(0, 1), "g"),)))
    assert fix_text(source, lambda _: [foreign], {"safe"}).text == "f(1)\n"


def test_a_file_that_does_not_parse_is_left_alone(finding: Make) -> None:
    def analyse(_: SourceText) -> list[Finding]:
        raise AssertionError("not asked")

    assert fix_text(SourceText("train.py", "def f(:\n"), analyse, {"safe"}).text == "def f(:\n"


def test_a_file_that_cannot_be_encoded_back_is_left_alone(finding: Make) -> None:
    source = SourceText("train.py", "f(1)\n", exact=False)
    assert fix_text(source, whole_calls(finding, "f", "g"), {"safe"}).text == "f(1)\n"


def test_a_fix_that_breaks_the_file_is_left_out_and_named(finding: Make) -> None:
    good, bad = whole_calls(finding, "f", "g"), whole_calls(finding, "h", "(", "XLA009")
    result = fix_text(SourceText("train.py", "f(1)\nh(2)\nf(3)\n"), lambda s: [*good(s), *bad(s)], {"safe"})
    assert result.text == "g(1)\nh(2)\ng(3)\n"
    assert result.applied == {"XLA002": 2}
    assert result.problem is not None
    assert "XLA009" in result.problem


def test_fixes_that_undo_each_other_are_left_out(finding: Make) -> None:
    there, back = whole_calls(finding, "f", "g", "XLA001"), whole_calls(finding, "g", "f", "XLA003")
    result = fix_text(SourceText("train.py", "f(1)\n"), lambda s: [*there(s), *back(s)], {"safe"})
    assert result.problem is not None
    assert "undo each other" in result.problem
    again = fix_text(SourceText("train.py", result.text), lambda s: [*there(s), *back(s)], {"safe"})
    assert again.text == result.text


def test_a_fix_that_grows_for_ever_is_stopped(finding: Make) -> None:
    result = fix_text(SourceText("train.py", "f(1)\n"), whole_calls(finding, "f", "1, f"), {"safe"})
    assert (result.text, result.applied) == ("f(1)\n", {})
    assert result.problem is not None


def test_nested_fixes_are_all_done_and_counted(finding: Make) -> None:
    result = fix_text(SourceText("train.py", "f(f(f(x)))\n"), whole_calls(finding, "f", "g"), {"safe"})
    assert result.text == "g(g(g(x)))\n"
    assert result.applied == {"XLA002": 3}


def test_one_fix_of_two_findings_counts_for_both(finding: Make) -> None:
    once = whole_calls(finding, "f", "g")
    result = fix_text(SourceText("train.py", "f(1)\n"), lambda s: [*once(s), *once(s)], {"safe"})
    assert (result.text, result.applied) == ("g(1)\n", {"XLA002": 2})


def test_two_fixes_that_would_empty_a_block_go_one_after_the_other(finding: Make) -> None:
    def drop_calls(source: SourceText) -> list[Finding]:
        found = []
        for node in ir.walk(module_from_text(source.text)):
            if isinstance(node, ir.FunctionDef):
                for statement in node.body:
                    if isinstance(statement, ir.ExprStmt):
                        lonely = len(node.body) == 1
                        start, end = (
                            (statement.start, statement.end)
                            if lonely
                            else source.line_span(source.locate(statement.start).row)
                        )
                        edit = Edit(source.filename, None, source.range(start, end), "pass" if lonely else "")
                        found.append(finding(Fix("m", "safe", (edit,)), "XLA006"))
        return found

    result = fix_text(SourceText("train.py", "def f():\n    a()\n    b()\n"), drop_calls, {"safe"})
    assert result.text == "def f():\n    pass\n"
    assert (result.applied, result.problem) == ({"XLA006": 2}, None)


def test_creates_are_listed_once(finding: Make) -> None:
    helper = Create("xla_compat.py", "text")

    def analyse(source: SourceText) -> list[Finding]:
        return [
            replace(f, fix=replace(f.fix, creates=(helper,)))
            for f in whole_calls(finding, "f", "g")(source)
            if f.fix
        ]

    assert fix_text(SourceText("train.py", "f(1)\nf(2)\n"), analyse, {"safe"}).creates == (helper,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from m import f\nf(1)\n", "g(1)\n"),
        ("import os\nfrom m import a, f\na, f(1)\n", "import os\nfrom m import a\na, g(1)\n"),
        ("from m import f, a\na, f(1)\n", "from m import a\na, g(1)\n"),
        ("import os\nf(1)\n", "import os\ng(1)\n"),  # unused before: not ours
        ("from m import f\n# see f\nf(1)\n", "from m import f\n# see f\ng(1)\n"),
        ("from m import f\n__all__ = ['f']\nf(1)\n", "from m import f\n__all__ = ['f']\ng(1)\n"),
        ("from m import f  # noqa: F401\nf(1)\n", "from m import f  # noqa: F401\ng(1)\n"),
        ("if a:\n    from m import f\nf(1)\n", "if a:\n    from m import f\ng(1)\n"),
    ],
)  # fmt: skip
def test_only_imports_left_unused_by_fixes_go(finding: Make, before: str, after: str) -> None:
    assert fix_text(SourceText("train.py", before), whole_calls(finding, "f", "g"), {"safe"}).text == after


def test_imports_of_an_init_file_stay(finding: Make) -> None:
    source = SourceText("pkg/__init__.py", "from m import f\nf(1)\n")
    assert "from m import f" in fix_text(source, whole_calls(finding, "f", "g"), {"safe"}).text


expressions = st.recursive(
    st.sampled_from(["x", "1", "'f(1)'"]),
    lambda inner: st.one_of(
        inner.map(lambda e: f"f({e})"), st.tuples(inner, inner).map(lambda p: f"h({p[0]}, {p[1]})")
    ),
    max_leaves=6,
)
lines = st.lists(
    st.tuples(expressions, st.sampled_from(["\n", "\r\n", "  # f(1)\n", " ;\t\n", "\n\n"])), max_size=6
)


@given(lines, st.booleans())
def test_one_run_is_enough_and_the_rest_is_kept(parts: list[tuple[str, str]], final_newline: bool) -> None:
    text = "".join(a + b for a, b in parts)
    text = text if final_newline else text.rstrip("\r\n")

    def make(fix: Fix, code: str) -> Finding:
        place = SourceText("train.py", "").range(0, 0)
        return Finding(
            code, "n", "error", "error", "once", "certain", "torch_xla", "m", "train.py", None, place,
            Effort("trivial", "site", code), "f", "u", fix=fix,
        )  # fmt: skip

    analyse = whole_calls(make, "f", "gg")
    result = fix_text(SourceText("train.py", text), analyse, {"safe"})
    calls = len(analyse(SourceText("train.py", text)))
    assert result.rounds <= ROUNDS
    assert sum(result.applied.values()) == calls
    assert len(result.text) == len(text) + calls
    again = fix_text(SourceText("train.py", result.text), analyse, {"safe"})
    assert (again.text, again.applied) == (result.text, {})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbff(1)\r\n", b"\xef\xbb\xbfg(1)\r\n"),
        (b"# coding: latin-1\nx = '\xe9'; f(x)\n", b"# coding: latin-1\nx = '\xe9'; g(x)\n"),
        (b"if a:\n\tf(1)\t# tab\r\n\f\nf(2)", b"if a:\n\tg(1)\t# tab\r\n\f\ng(2)"),
    ],
)
def test_bytes_outside_the_fix_are_kept(finding: Make, before: bytes, after: bytes) -> None:
    source = decode(before, "train.py")
    result = fix_text(source, whole_calls(finding, "f", "g"), {"safe"})
    assert replace(source, text=result.text).encode() == after
