"""Tell the iterators of torch's loaders: `iter(loader)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import values


def iterates_loader(call: ir.Call, scope: Scope, analysis: Analysis) -> bool:
    """Return whether a call makes the iterator of a DataLoader: of one that is made in the module, or of a
    parameter that is called like one, where no class of the project defines `next`."""
    if path_of(call.func) != "iter" or len(call.args) != 1 or scope.lookup("iter"):
        return False
    source = call.args[0].value
    if isinstance(source, ir.Call):
        return _is_loader(source, scope, analysis)
    path = path_of(source)
    made = [binding for binding in scope.find(path) if binding.value is not None]
    if made:
        return all(_is_loader(binding.value, binding.scope, analysis) for binding in made)
    named = values.name_like("loader").search(path) is not None
    own = "def next(" in analysis.text or analysis.names.project.has_method("next")
    return named and not own


def _is_loader(node: ir.Expr | None, scope: Scope, analysis: Analysis) -> bool:
    dotted = analysis.names.dotted(node.func, scope) if isinstance(node, ir.Call) else None
    return dotted is not None and values.result_of(dotted) == "loader"
