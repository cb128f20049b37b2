from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.findings import Location
from xlamig.source.text import SourceText

TEXTS = st.text(alphabet="ab é😀\t\f\v\u2028\x85\r\n", max_size=40)


def text(content: str) -> SourceText:
    return SourceText("a.py", content)


@pytest.mark.parametrize("other", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_only_newlines_end_a_line(other: str) -> None:
    assert text(f"a{other}b").locate(2) == Location(1, 3)
    assert text(f"a{other}b").rows == 1


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_every_newline_ends_a_line(newline: str) -> None:
    source = text(f"a{newline}b{newline}")
    assert source.locate(len(f"a{newline}")) == Location(2, 1)
    assert source.rows == 2
    assert source.line(2) == "b"
    assert source.line_span(1) == (0, 1 + len(newline))


@pytest.mark.parametrize("offset", [-1, 3])
def test_offset_outside_is_refused(offset: int) -> None:
    with pytest.raises(ValueError, match=r"a\.py"):
        text("ab").locate(offset)


def test_row_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="row 0"):
        text("ab").line(0)


def test_columns_are_code_points() -> None:
    assert text("é😀x").locate(2) == Location(1, 3)


def test_range_holds_offsets_and_locations() -> None:
    place = text("ab\ncd").range(1, 4)
    assert (place.start, place.end) == (1, 4)
    assert (place.location, place.end_location) == (Location(1, 2), Location(2, 2))


def test_empty_text_has_no_rows_but_a_place() -> None:
    assert text("").rows == 0
    assert text("").locate(0) == Location(1, 1)


def test_pickles_with_its_index() -> None:
    source = text("a\nb")
    source.locate(2)
    assert pickle.loads(pickle.dumps(source)) == source


@given(TEXTS)
def test_locate_and_offset_are_inverse(content: str) -> None:
    source = text(content)
    assert [source.offset(source.locate(i)) for i in range(len(content) + 1)] == list(range(len(content) + 1))


@given(TEXTS)
def test_lines_make_up_the_text(content: str) -> None:
    source = text(content)
    spans = [source.line_span(row) for row in range(1, source.rows + 1)]
    assert "".join(content[start:end] for start, end in spans) == content
