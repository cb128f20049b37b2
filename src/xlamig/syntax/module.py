"""The IR of a module from its text."""

from __future__ import annotations

import re
import warnings

import libcst

from xlamig import ir
from xlamig.source.python import parses
from xlamig.syntax.build import build_module
from xlamig.syntax.errors import Unparsable, explain
from xlamig.syntax.parse import deep_recursion, parse, pause_gc
from xlamig.syntax.spans import record_spans


def module_from_text(text: str) -> ir.Module:
    """The IR of a module. `text` is decoded, without byte order mark.

    Raises:
        Unparsable: LibCST cannot parse it, or it is nested too deeply to be walked.
    """
    try:
        with pause_gc(), deep_recursion(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reading a literal, Python warns of its escapes
            return _module(text)
    except RecursionError:
        raise Unparsable("nested too deeply to be analysed", 1, 1) from None
    except Unparsable as error:
        raise explain(error, text) from None


def _module(text: str) -> ir.Module:
    # The tree dies with this frame, before the next collection passes over all of its nodes.
    tree = _tree_of(text)
    return build_module(tree, record_spans(tree, text), text)


def _tree_of(text: str) -> libcst.Module:
    """The tree of a text. LibCST wants each block to begin its lines as the block around it does, Python only
    that the blocks are the same for tabs of any width: such a text is read with tabs as wide as one space."""
    try:
        return parse(text)
    except Unparsable:
        narrow = _INDENTATION.sub(_narrow, text)
        if narrow == text or not parses(text):
            raise
        return parse(narrow)


_INDENTATION = re.compile(r"^[ \f]*\t[ \t\f]*", re.MULTILINE)


def _narrow(indentation: re.Match[str]) -> str:
    return indentation[0].replace("\t", " ")
