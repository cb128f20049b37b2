"""Questions for CUDA by their form: what is read statement by statement knows no imports."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import devices
from xlamig.knowledge import values as table
from xlamig.knowledge.values import name_like


def is_false_without_cuda(node: ir.Expr) -> bool:
    """Return whether an expression is a call that gives False or 0 where CUDA is missing."""
    return asks_availability(node) or _calls(node, "counts")


def asks_availability(node: ir.Expr) -> bool:
    """Return whether an expression is a call that says whether CUDA is available."""
    return _calls(node, "available")


def _calls(node: ir.Expr, kind: str) -> bool:
    path = path_of(node.func) if isinstance(node, ir.Call) else ""
    return "." in path and any(f".{name}".endswith(f".{path}") for name in table.names("cuda-tests", kind))


def asks_for_cuda(test: ir.Expr, scope: Scope) -> bool:
    """Return whether a test holds only for what is on CUDA: `x.is_cuda`, `device == "cuda"`."""
    match test:
        case ir.Attribute():
            return asks_tensor(test, scope)
        case ir.Compare(left=left, ops=("==" | "in",), comparators=(right,)):
            return names_cuda(left) or names_cuda(right)
    return False


def asks_tensor(node: ir.Attribute, scope: Scope) -> bool:
    """Return whether a tensor is asked if it is on CUDA; what the program assigns, or an option of that name,
    is another thing."""
    if node.attr not in table.names("cuda-tests", "of-tensor"):
        return False
    path = path_of(node)
    owner = path.rpartition(".")[0].rpartition(".")[2]
    return not (path and scope.find(path)) and not name_like("settings").search(owner)


def names_cuda(node: ir.Expr) -> bool:
    """Return whether an expression is a text such as "cuda" or "cuda:0"."""
    text = node.value if isinstance(node, ir.Const) else None
    return isinstance(text, str) and devices.maker_of(text) == "nvidia"
