"""The adapter to LibCST's parser: the same tree, sooner.

LibCST validates every node it has just built from source that parsed, which costs time and can
find nothing; that is off while a file is parsed. Nearly half of all nodes are white space and
newlines of a few kinds, and nodes never change: each kind is made once. Garbage collection passes
over a growing tree are put off. A test compares the trees with the stock parser's.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import libcst
from libcst._nodes.base import CSTNode

from xlamig.syntax.errors import Unparsable

_RECURSION = 40_000


def _skip_validation(self: CSTNode) -> None:
    return None


def _validation_is_separable() -> bool:
    """Return whether this LibCST does nothing but validate after construction."""
    hook = CSTNode.__dict__.get("__post_init__")
    return hook is not None and hook.__code__.co_names == ("_validate",)


_SEPARABLE = _validation_is_separable()


@contextmanager
def pause_gc() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


_blanks: dict[str, libcst.SimpleWhitespace] = {}
_newlines: dict[str | None, libcst.Newline] = {}
_SimpleWhitespace, _Newline = libcst.SimpleWhitespace, libcst.Newline


def _blank(value: str) -> libcst.SimpleWhitespace:
    found = _blanks.get(value)
    if found is None:
        found = _blanks[value] = _SimpleWhitespace(value)
    return found


def _newline(value: str | None = None) -> libcst.Newline:
    found = _newlines.get(value)
    if found is None:
        found = _newlines[value] = _Newline(value=value)
    return found


@contextmanager
def _short_cuts() -> Iterator[None]:
    """The native parser looks its node classes up in the package each time it makes one."""
    original = CSTNode.__post_init__
    if _SEPARABLE:
        CSTNode.__post_init__ = _skip_validation  # type: ignore[method-assign]
    libcst.SimpleWhitespace, libcst.Newline = _blank, _newline  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        libcst.SimpleWhitespace, libcst.Newline = _SimpleWhitespace, _Newline  # type: ignore[misc]
        CSTNode.__post_init__ = original  # type: ignore[method-assign]


def parse(text: str) -> libcst.Module:
    """The LibCST tree of `text`, equal to `libcst.parse_module(text)`.

    Raises:
        Unparsable: with the place LibCST names.
    """
    try:
        with _short_cuts():
            return libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        message = error.message.splitlines()[0].strip() if error.message else "syntax error"
        raise Unparsable(message, error.editor_line, error.editor_column) from None
    except (libcst.CSTValidationError, UnicodeEncodeError) as error:  # a lone surrogate has no UTF-8
        raise Unparsable(str(error), 1, 1) from None
