from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import a_finding, a_fix, a_report, an_edit, span_of
from xlamig.findings import Finding, Location, Range
from xlamig.report import render
from xlamig.report.colors import paint
from xlamig.report.context import Context
from xlamig.report.snippet import snippet


def full(finding: Finding, text: str | None, **values: object) -> str:
    context = Context(lambda filename: text, **values)  # type: ignore[arg-type]
    return "\n".join(render("full", a_report(finding), context))


def framed(text: str, part: str) -> list[str]:
    return list(snippet(text, span_of(text, part), Context()))


def test_no_source_no_frame() -> None:
    assert "|" not in full(a_finding(), None)


def test_a_file_that_shrank_since_has_no_frame() -> None:
    assert "|" not in full(a_finding(place=Range(90, 99, Location(5, 1), Location(5, 10))), "short")


def test_only_a_fix_that_would_be_written_is_marked() -> None:
    assert "[*]" not in full(a_finding(fix=a_fix("unsafe")), None)
    assert "[*]" not in full(a_finding(fix=a_fix("display")), None, unsafe_fixes=True)
    assert "[*]" in full(a_finding(fix=a_fix("unsafe")), None, unsafe_fixes=True)


@pytest.mark.parametrize(
    ("text", "carets"), [("\tx = y", "        ^"), ("'\u6570' + y", "       ^"), ("'e\u0301' + y", "      ^")]
)
def test_carets_stand_under_the_place(text: str, carets: str) -> None:
    assert framed(text, "y")[-1] == "  | " + carets


def test_long_places_are_capped() -> None:
    lines = framed("f(\n" + "    1,\n" * 20 + ")", "f(\n" + "    1,\n" * 20 + ")")
    assert lines[-1].endswith("... 18 more lines")


def test_a_long_line_is_cut_around_the_place() -> None:
    shown, carets = framed("x = [" + "1, " * 5000 + "bad, " + "1, " * 5000 + "]", "bad")[1:]
    assert len(shown) < 200
    assert shown[carets.index("^") :].startswith("bad")


def test_windows_newlines_are_not_shown() -> None:
    assert framed("a = 1\r\nb = f(\r\n  2)\r\n", "f(\r\n  2)") == [
        "  |", "2 | b = f(", "  |     ^^", "3 |   2)", "  |   ^^"
    ]  # fmt: skip


def test_source_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in full(
        a_finding(message="a\x1b[2Jb", place=span_of("x = '\x1b[2J'", "x")), "x = '\x1b[2J'"
    )


def test_a_long_fix_preview_is_capped() -> None:
    edit = an_edit(place=span_of("x = 1\n", "x"), content="\n".join("abcdefghijklmnop"))
    assert "... 9 more lines" in full(a_finding(fix=a_fix("safe", edit)), "x = 1\n")


def test_colour_changes_no_text() -> None:
    coloured = full(a_finding(), "x = 1", paint=paint)
    assert "\x1b[1;31mXLA005\x1b[0m" in coloured


@given(st.text(max_size=60), st.data())
def test_no_text_and_place_break_a_frame(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    place = Range(start, end, Location(1, 1), Location(1, 1))
    lines = list(snippet(text, place, Context()))
    assert all("\n" not in line and "\r" not in line for line in lines)
