"""Conditions that a fix may rely on, beyond a device in scope."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xlamig import ir
from xlamig.flow.scopes import Scope
from xlamig.flow.site import Analysis, Place

_LOADERS = frozenset({"torch.load"})


def moved_later(name: str, node: ir.Call, place: Place, analysis: Analysis) -> Mapping[str, str]:
    """The proof "moved-later": what is loaded here goes through `load_state_dict`, which copies to
    where the parameters are, or through `.to`; so it does not matter where it is loaded to."""
    if name not in _LOADERS:
        return {}
    start, end = place.statement
    before = analysis.text[start : node.start]
    if before.rstrip().endswith("load_state_dict("):
        return {"moved-later": "load_state_dict"}
    target = re.fullmatch(r"(\w+)\s*=\s*", before)
    if target is None or analysis.text[node.end : end].strip():
        return {}
    rest = analysis.text[end : _end_of(place.scope, analysis)]
    loaded = re.escape(target[1])
    used = re.search(rf"\bload_state_dict\(\s*{loaded}\b|\b{loaded}\.(?:to|cuda)\(", rest)
    return {"moved-later": target[1]} if used else {}


def _end_of(scope: Scope, analysis: Analysis) -> int:
    return scope.node.end if scope.node is not None else len(analysis.text)
