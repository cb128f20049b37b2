"""The surroundings of modes, `inference_mode` and `autocast`, by the code that they are for."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.detectors.casts import may_be_cast, may_be_raised
from xlamig.flow.detectors.views import makes_model, may_make_view
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope
from xlamig.flow.model.site import CodeContext
from xlamig.knowledge import values as table

_INFERENCE = "torch.inference_mode"


def over(mode: ir.Expr, body: ir.Block, place: CodeContext, scope: Scope, names: Names) -> CodeContext:
    """Return the surroundings of a mode, which say where the code in it makes no view, is not cast
    or only to float32, or makes the model itself."""
    dotted = names.dotted(mode.func if isinstance(mode, ir.Call) else mode, scope)
    if dotted in table.names("autocast", "modes"):
        if may_be_cast(body, names, scope):
            return place
        return place.within("only-raised" if may_be_raised(body, names, scope) else "no-cast")
    if dotted != _INFERENCE:
        return place
    if not may_make_view(body, names, scope):
        return place.within("no-view")
    return place.within("makes-model") if makes_model(body) else place
