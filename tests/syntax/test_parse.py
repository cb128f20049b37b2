from __future__ import annotations

import gc
import sys
import warnings
from contextlib import suppress

import libcst as cst
import pytest
from libcst._nodes.base import CSTNode
from libcst._nodes.expression import _BaseParenthesizedNode
from nasty_sources import nasty, stdlib

from xlamig.syntax import Unparsable, module_from_text
from xlamig.syntax.parse import _SEPARABLE, parse

PATCHED = (
    (CSTNode, "__post_init__"),
    (CSTNode, "_codegen"),
    (cst.SimpleWhitespace, "_codegen"),
    (_BaseParenthesizedNode, "_parenthesize"),
)
DEEP = "x = " + "-" * 3000 + "1\n"
FORM_FEED = "\fdef f(): pass\n"  # LibCST forgets a form feed right in front of code


@pytest.mark.parametrize("text", nasty().values(), ids=lambda text: repr(text)[:40])
def test_the_tree_is_that_of_the_stock_parser(text: str) -> None:
    assert parse(text).deep_equals(cst.parse_module(text))


def test_the_tree_of_a_real_file_is_that_of_the_stock_parser() -> None:
    text = stdlib()["typing.py"]
    assert parse(text).deep_equals(cst.parse_module(text))


def test_validation_is_skipped_here() -> None:
    """Else the shortcut is dead weight: a new LibCST may do more than validate."""
    assert _SEPARABLE


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a = f(b)\n", "a = (\n", DEEP, FORM_FEED, "a = '\ud800'\n"])
def test_libcst_and_the_interpreter_are_left_as_they_were(text: str) -> None:
    def state() -> list[object]:
        return [gc.isenabled(), sys.getrecursionlimit(), *(vars(owner).get(name) for owner, name in PATCHED)]

    before = state()
    with suppress(Unparsable):
        module_from_text(text)
    assert state() == before
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")


def test_gc_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        module_from_text("a\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ("a = (\n", 1, 5),
        ("a\nb c\n", 2, 3),
        ("if a:\nb\n", 2, 1),
        ("\tif a:\n", 1, 1),
        ("if a:\n  b\n c\n", 3, 3),
        ("x = '\n", 1, 5),
        ("é = ?\n", 1, 5),
        (FORM_FEED, 1, 1),
        ("a = '\ud800'\n", 1, 1),
    ],
)
def test_what_cannot_be_parsed_has_a_place_and_one_line(text: str, row: int, column: int) -> None:
    with pytest.raises(Unparsable) as caught:
        module_from_text(text)
    assert (caught.value.row, caught.value.column) == (row, column)
    assert caught.value.message and "\n" not in caught.value.message


def test_a_syntax_error_is_told_in_pythons_words() -> None:
    with pytest.raises(Unparsable, match="'\\(' was never closed"):
        module_from_text("a = (\n")


def test_what_only_libcst_refuses_is_told_so() -> None:
    with pytest.raises(Unparsable, match="Python can read it, LibCST cannot"):
        module_from_text("x = (" + "'a'\n" * 4000 + ")\n")


@pytest.mark.parametrize("text", ["x = '\\m' + 1if a else 2\n", "x = '\\m' (\n"])
def test_python_warns_of_nothing(text: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with suppress(Unparsable):
            module_from_text(text)
    assert not told


def test_blank_lines_before_a_last_comment_further_in_do_not_matter() -> None:
    text = "if x:\n    y()\n\n\n   # z()\n\n"  # LibCST drops two of its lines
    (branch,) = module_from_text(text).body
    assert (branch.start, branch.end) == (0, len("if x:\n    y()"))


TABS = "def f(x):\n    if x:\n\t    y = 1\n\t    if y:\n\t    \ty = '''\n\t'''\n\t    y()\n    return 0\n"


def test_blocks_that_begin_their_lines_in_other_ways_are_pythons() -> None:
    with pytest.raises(Unparsable):
        parse(TABS)
    module = module_from_text(TABS)
    (function,) = module.body
    last = function.body[-1]
    assert TABS[last.start : last.end] == "return 0"


@pytest.mark.parametrize("text", ["if a:\n    if b:\n\tx = 1\n", "if a:\n\tx = 1\n        y = 2\n"])
def test_tabs_that_python_refuses_are_refused(text: str) -> None:
    with pytest.raises(Unparsable):
        module_from_text(text)
