"""The IR of a module from its text."""

from __future__ import annotations

import warnings

from xlamig import ir
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
    tree = parse(text)
    return build_module(tree, record_spans(tree, text), text)
