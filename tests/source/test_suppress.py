from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.source.suppress import Suppression, Suppressions, removal, suppressions
from xlamig.source.text import SourceText

CODE, NAME = "XLA101", "tensor-item-in-loop"


def read(text: str) -> Suppressions:
    return suppressions(SourceText("a.py", text))


def one(text: str) -> Suppression:
    (entry,) = read(text).entries
    return entry


def rows(text: str) -> list[int]:
    """The rows on which a finding would be suppressed."""
    found = read(text)
    return [row for row in range(1, text.count("\n") + 2) if found.covers(CODE, NAME, row, row)]


@pytest.mark.parametrize(
    "text",
    [
        's = "# xlamig: ignore[XLA101]"\n',
        '"""\n# xlamig: ignore-file[XLA101]\n# noqa: XLA101\n"""\nx\n',
        "x  # noqa: E501\n",
        "x  # XLA101\n",
        "x  # xlamig: ignored[XLA101]\n",
        "x  # xlamig: ignore-files[XLA101]\n",
        "x  # noqa: XLA101abc\n",
        "x  # see noqa: XLA101\n",
    ],
)
def test_no_suppression(text: str) -> None:
    assert read(text).entries == ()


@pytest.mark.parametrize(
    "text",
    [
        "x  # xlamig: ignore\n",
        "x  # xlamig: ignore[]\n",
        "# xlamig: ignore-file because\nx\n",
        "x  # xlamig: ignore[XLA101\n",
    ],
)
def test_blanket_suppresses_nothing(text: str) -> None:
    assert read(text).blanket == read(text).entries != ()
    assert rows(text) == []


@pytest.mark.parametrize("text", ["x  # noqa\n", "x  # NOQA because\n", "x  # type: ignore  # noqa\n"])
def test_bare_noqa_suppresses_every_rule_of_its_line(text: str) -> None:
    found = read(text + "y\n")
    assert found.covers("XLA101", "tensor-item", 1, 1) is not None
    assert found.covers("XLA101", "tensor-item", 2, 2) is None


def test_bare_noqa_is_neither_blanket_nor_unused() -> None:
    found = read("x  # noqa\n")
    assert (found.blanket, found.unused(())) == ((), ())


@pytest.mark.parametrize("text", ["x  # noqa: E501\n", "x  # noqa : F401\n", "x = '# noqa'\n", "x  # noqas"])
def test_noqa_for_other_tools_suppresses_nothing(text: str) -> None:
    assert read(text).covers("XLA101", "tensor-item", 1, 1) is None


@pytest.mark.parametrize("code", ["XLA2", "XLA1012", "XLA", "X", "ALL", "tensor-item", "XLA102", "A101"])
def test_another_code_suppresses_nothing(code: str) -> None:
    assert rows(f"x  # xlamig: ignore[{code}]\n") == []


@pytest.mark.parametrize("code", ["XLA101", "XLA1", "xla101", NAME, "XLA9, XLA101"])
def test_codes_prefixes_and_names(code: str) -> None:
    assert rows(f"x  # xlamig: ignore[{code}] for a reason\n") == [1]


def test_reason() -> None:
    assert one("x  # xlamig: ignore[XLA1]: read once, see #12\n").reason == "read once, see #12"


def test_trailing_comment_covers_its_line_only() -> None:
    assert rows("a\nb  # xlamig: ignore[XLA101]\nc\n") == [2]


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("mark", ["# xlamig: ignore[XLA101]", "# noqa: XLA101"])
def test_comment_on_any_row_covers_the_logical_line(row: int, mark: str) -> None:
    lines = ["y = f(", "    a,", "    b.item(),", ")"]
    lines[row] += f"  {mark}"
    assert rows("\n".join(["x", *lines, "z", ""])) == [2, 3, 4, 5]


def test_comment_on_its_own_row_inside_a_statement() -> None:
    assert rows("x\ny = f(\n    # xlamig: ignore[XLA101]\n    a,\n)\nz\n") == [2, 3, 4, 5]


def test_comment_on_its_own_covers_the_next_statement() -> None:
    text = "x\n\n# xlamig: ignore[XLA101]\n# why\n\nfor a in f(\n    b\n):\n    a.item()\n"
    assert rows(text) == [6, 7, 8]


def test_comment_with_nothing_below_covers_nothing() -> None:
    assert rows("x\n# xlamig: ignore[XLA101]\n") == []


def test_noqa_on_its_own_speaks_of_no_other_line() -> None:
    assert 2 not in rows("# noqa: XLA101\nx\n")


def test_file_covers_every_row() -> None:
    assert rows("a\nb\n# xlamig: ignore-file[XLA1]\n") == [1, 2, 3, 4]


def test_a_statement_is_not_silenced_from_inside() -> None:
    found = read("for a in b:\n    a.item()  # xlamig: ignore[XLA101]\n")
    assert found.covers(CODE, NAME, 1, 2) is None


def test_several_directives_in_one_comment() -> None:
    entries = read("x  # type: ignore  # noqa: E501, XLA1 # xlamig: ignore[XLA2] why\n").entries
    assert [(e.kind, [c.text for c in e.codes]) for e in entries] == [
        ("noqa", ["XLA1"]),
        ("ignore", ["XLA2"]),
    ]


@pytest.mark.parametrize("newline", ["\r", "\r\n"])
def test_other_newlines(newline: str) -> None:
    text = newline.join(["a", "b  # xlamig: ignore[XLA101]", "c"])
    (entry,) = read(text).entries
    assert text[slice(*entry.span)] == "# xlamig: ignore[XLA101]"
    assert entry.rows == (2, 2)


def test_text_that_does_not_tokenize_is_scanned() -> None:
    text = "x = (\na  # xlamig: ignore[XLA101]\nb\n"
    assert read(text).guessed
    assert rows(text) == [2]
    assert read(text).covers(CODE, NAME, 1, 3)


def test_closest_suppression_is_the_used_one() -> None:
    found = read("# xlamig: ignore-file[XLA101]\nx  # xlamig: ignore[XLA1, XLA101]\n")
    used = found.covers(CODE, NAME, 2, 2)
    assert used is not None
    assert (used.suppression.kind, used.code.text) == ("ignore", "XLA101")
    assert [use.code.text for use in found.unused({used})] == ["XLA101", "XLA1"]


def test_blanket_is_not_also_unused() -> None:
    assert read("x  # xlamig: ignore\n").unused(()) == ()


def test_pickles() -> None:
    found = read("x  # xlamig: ignore[XLA1]\n")
    assert pickle.loads(pickle.dumps(found)) == found


def without_first(text: str) -> str:
    """The text after the removal of its first XLA code."""
    use = read(text).uses[0]
    start, end, replacement = removal(*use)
    return text[:start] + replacement + text[end:]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x  # xlamig: ignore[XLA1]\ny\n", "x\ny\n"),
        ("x\t# noqa: XLA1", "x"),
        ("a\n    # xlamig: ignore[XLA1]\r\nb\n", "a\nb\n"),
        ("# xlamig: ignore-file[XLA1]\nx\n", "x\n"),
        ("x  # xlamig: ignore[XLA1, XLA2] why\n", "x  # xlamig: ignore[XLA2] why\n"),
        ("x  # xlamig: ignore[XLA1] why\n", "x  # why\n"),
        ("# xlamig: ignore[XLA1] why\nx\n", "# why\nx\n"),
        ("x  # noqa: XLA1, E501\n", "x  # noqa: E501\n"),
        ("x  # noqa: E501,XLA1\n", "x  # noqa: E501\n"),
        ("x  # noqa: E501 XLA1 W2 why\n", "x  # noqa: E501 W2 why\n"),
        ("x  # type: ignore  # noqa: XLA1\n", "x  # type: ignore\n"),
        ("x  # noqa: XLA1  # type: ignore\n", "x  # type: ignore\n"),
        ("# noqa: XLA1  # type: ignore\nx\n", "# type: ignore\nx\n"),
        ("f(\n    # noqa: XLA1\n    a)\n", "f(\n    a)\n"),
    ],
)
def test_removal(before: str, after: str) -> None:
    assert without_first(before) == after


CODES = st.lists(st.sampled_from(["XLA1", "XLA20", "XLA303", "E501", "W6"]), min_size=1, max_size=4)
PIECES = st.one_of(
    CODES.map(lambda codes: f"# noqa: {', '.join(codes)}"),
    CODES.map(lambda codes: f"# xlamig: ignore[{','.join(codes)}]"),
    st.sampled_from(["# type: ignore", "# xlamig: ignore[XLA7] because #3", "# é"]),
)


@given(st.lists(PIECES, min_size=1, max_size=3), st.sampled_from(["", "x = 1  ", "    "]))
def test_removal_takes_out_one_code_and_ends(pieces: list[str], lead: str) -> None:
    text = f"if a:\n    b\n{lead}{'  '.join(pieces)}\ny = '#'\n"
    while uses := read(text).uses:
        text = without_first(text)
        assert len(read(text).uses) == len(uses) - 1
    assert text.startswith("if a:\n    b\n" + lead.rstrip())
    assert text.endswith("y = '#'\n")
    assert ("E501" in text) == any("E501" in piece for piece in pieces if "noqa" in piece)


@given(st.text(alphabet="#xlamignore:[]XLA1,'\"\\ (\n\r\f", max_size=60))
def test_any_text_is_read(noise: str) -> None:
    text = "x  # xlamig: ignore[XLA1]\n" + noise
    for use in read(text).uses:
        start, end, _ = removal(*use)
        assert 0 <= start < end <= len(text)
