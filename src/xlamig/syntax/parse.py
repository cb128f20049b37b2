"""The adapter to LibCST's parser: the same tree, sooner.

LibCST validates every node it has just built from source that parsed; that is a fifth of its
time and can find nothing. Garbage collection passes over a growing tree cost up to a quarter.
Both are off while a file is parsed; a test compares the trees with the stock parser's.
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
    """Whether this LibCST does nothing but validate after construction."""
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


def parse(text: str) -> libcst.Module:
    """The LibCST tree of `text`, equal to `libcst.parse_module(text)`.

    Raises:
        Unparsable: with the place LibCST names.
    """
    original = CSTNode.__post_init__
    if _SEPARABLE:
        CSTNode.__post_init__ = _skip_validation  # type: ignore[method-assign]
    try:
        return libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        message = error.message.splitlines()[0].strip() if error.message else "syntax error"
        raise Unparsable(message, error.editor_line, error.editor_column) from None
    except libcst.CSTValidationError as error:
        raise Unparsable(str(error), 1, 1) from None
    finally:
        CSTNode.__post_init__ = original  # type: ignore[method-assign]
