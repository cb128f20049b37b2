"""Calls that may scale a loss by a GradScaler, by a name that a program is asked for."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.flow.model.scopes import path_of

SCALES = "torch.amp.GradScaler.scale"
_METHODS = frozenset({"scale", "unscale_"})
_SCALER = re.compile(r"scaler", re.IGNORECASE)
_LOOKS = frozenset({"isinstance", "print", "len", "id", "type", "hasattr", "callable"})


def may_scale(call: ir.Call) -> bool:
    """Return whether a call scales by an object, `scaler.scale(loss)`, or hands a scaler to an object that
    is not `self`: a library's trainer, or a function that another module defines."""
    func = call.func
    if isinstance(func, ir.Attribute) and func.attr in _METHODS:
        return True
    given = any(_SCALER.search(path_of(arg.value) or arg.keyword or "") for arg in call.args)
    if not given or path_of(func) in _LOOKS:
        return False
    return not (isinstance(func, ir.Attribute) and path_of(func.value) == "self")
