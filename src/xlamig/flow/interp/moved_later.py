"""Values of which nothing is known, but that the function moves to the device further down."""

from __future__ import annotations

import re
from functools import lru_cache

from xlamig import ir
from xlamig.flow.interp.state import State
from xlamig.per_file import per_file

_MOVE = r"\s*\.\s*(?:cuda\(|to\(\s*(?:[\w.]*device\b|[\"'](?:cuda|xla)))"


def is_moved_later(m: State, node: ir.Node) -> bool:
    """Return whether an expression is computed from something that is only moved below it, as
    `batch["mask"].any()` above `batch["mask"].to(device)`: until then it is on the host."""
    function = m.frame.scope.node
    if not isinstance(function, ir.FunctionDef) or m.frame.home != m.names.module:
        return False
    if _last_move(function, m.analysis.text) < node.end:
        return False
    below = m.analysis.text[node.end : function.end]
    return any(
        re.search(rf"(?<![\w.]){re.escape(m.source(part))}{_MOVE}", below)
        for part in ir.walk(node)
        if isinstance(part, ir.Name | ir.Subscript)
    )


@per_file
@lru_cache(maxsize=64)  # each read of a function asks again
def _last_move(function: ir.FunctionDef, text: str) -> int:
    """Return where a function last moves something, -1 if it moves nothing."""
    return max(text.rfind(move, function.start, function.end) for move in (".to(", ".cuda("))
