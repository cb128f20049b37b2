from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.source.ignoring import logical_lines, with_ignores
from xlamig.source.suppress import suppressions
from xlamig.source.text import SourceText


def ignored(text: str, *rows: int, code: str = "XLA005", reason: str = "") -> str:
    return with_ignores(SourceText("a.py", text), {row: {code} for row in rows}, reason).text


@pytest.mark.parametrize("text", ["x = (\n", "x = '''\n", "", "\n# only a comment\n", "if x:\n  a\n b\n"])
def test_what_has_no_statement_on_the_row_stays(text: str) -> None:
    assert ignored(text, 1) == text


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("f()\n", 1, "f()  # xlamig: ignore[XLA005]\n"),
        ("f()", 1, "f()  # xlamig: ignore[XLA005]"),
        ("f()  \r\ng()\r\n", 1, "f()  # xlamig: ignore[XLA005]  \r\ng()\r\n"),
        ("f(\n  1,\n)\n", 1, "f(\n  1,\n)  # xlamig: ignore[XLA005]\n"),
        ("f('''\n\n''')\n", 2, "f('''\n\n''')  # xlamig: ignore[XLA005]\n"),
        ("x = 1 + \\\n  f()\n", 1, "x = 1 + \\\n  f()  # xlamig: ignore[XLA005]\n"),
        ("for a in f():\n    pass\n", 1, "for a in f():  # xlamig: ignore[XLA005]\n    pass\n"),
        ("f()  # why\n", 1, "f()  # why  # xlamig: ignore[XLA005]\n"),
        ("f()  # xlamig: ignore[XLA001] why\n", 1, "f()  # xlamig: ignore[XLA001, XLA005] why\n"),
        ("# xlamig: ignore[XLA001]\nf()\n", 2, "# xlamig: ignore[XLA001, XLA005]\nf()\n"),
        ("f()  # noqa: XLA001\n", 1, "f()  # noqa: XLA001  # xlamig: ignore[XLA005]\n"),
        ("f()  # xlamig: ignore\n", 1, "f()  # xlamig: ignore  # xlamig: ignore[XLA005]\n"),
    ],
)
def test_where_the_comment_goes(text: str, row: int, expected: str) -> None:
    assert ignored(text, row) == expected


def test_a_reason_is_added() -> None:
    assert ignored("f()\n", 1, reason="later") == "f()  # xlamig: ignore[XLA005] later\n"


STATEMENTS = ["f()", "f(\n 1,\n)", "x = '''a\nb'''", "if a:\n  g()", "y = 1 + \\\n 2", "h()  # note",
              "k()  # xlamig: ignore[XLA001]", "# xlamig: ignore[XLA001] above", ""]  # fmt: skip


@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=8), st.data())
def test_every_row_is_covered_afterwards_and_once_is_enough(parts: list[str], data: st.DataObject) -> None:
    source = SourceText("a.py", "\n".join(parts) + "\n")
    rows = sorted(logical_lines(source))
    if not rows:
        return
    row = data.draw(st.sampled_from(rows))
    new = with_ignores(source, {row: {"XLA005"}})
    first = min(r for r, last in logical_lines(new).items() if last == logical_lines(new)[row])
    assert suppressions(new).covers("XLA005", "cuda-synchronize", first, first)
    assert with_ignores(new, {row: {"XLA005"}}).text == new.text
    assert new.text.replace("  # xlamig: ignore[XLA005]", "").replace(", XLA005", "") == source.text
