"""Find what becomes of an operator's result: advice on where it runs depends on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xlamig import ir
from xlamig.flow.detectors.consumers import copies, is_assigned, statement_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_OPERATORS = ("torch.", "Tensor.", "unknown.")
_NO_OPERATORS = ("torch.cuda.", "torch.distributed.", "torch.backends.", "torch.utils.")
_MODULES = frozenset({"torch", "np", "numpy"})
_FOLLOWED = 3  # variables, one computed from the other

_Step = Callable[[ir.Node, ir.Node], bool | None]
"""Judges how a node uses the value of the node below it: True if this use is of the sort that is asked for,
False if it is not, None if the value goes on in the node above."""
_NameOf = Callable[[ir.Expr], str]


def uses_of_result(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "to-host": the program only copies to the host what an operator returns; and "no-gradient":
    no gradient comes back to it, because only indices, comparisons or detached values of it are used."""
    if not name.startswith(_OPERATORS) or name.startswith(_NO_OPERATORS):
        return {}
    root = place.scope.node or analysis.module

    def name_of(func: ir.Expr) -> str:
        return analysis.names.dotted(func, place.scope) or ""

    steps: Mapping[str, _Step] = {
        "to-host": _copied,
        "no-gradient": lambda above, inner: _without_gradient(above, inner, name_of),
    }
    return {proof: "yes" for proof, step in steps.items() if _is_every_use(node, root, step)}


def _is_every_use(node: ir.Node, root: ir.Node, step: _Step, followed: int = _FOLLOWED) -> bool:
    """Return whether all uses of a value below `root`, also by variables, are of one sort."""
    inner = node
    for above in reversed([*ir.path_down(root, node)]):
        if isinstance(above, ir.Arg):
            continue
        if isinstance(above, ir.Stmt):
            return followed > 0 and _in_variables(above, inner, root, step, followed - 1)
        used = step(above, inner)
        if used is not None:
            return used
        inner = above
    return False


def _in_variables(statement: ir.Stmt, value: ir.Node, root: ir.Node, step: _Step, followed: int) -> bool:
    """Return whether all uses of the variable that a statement puts a value in are of one sort; where it
    holds values beside their indices, all uses of the values."""
    match statement:
        case ir.Assign(targets=(ir.Name() as target,), value=assigned) if assigned is value:
            pass
        case ir.Assign(targets=(ir.Sequence(elements=(ir.Name() as target, ir.Name())),)) if _selects(value):
            pass
        case _:
            return False
    uses = [
        use
        for use in ir.walk(root)
        if isinstance(use, ir.Name) and use.id == target.id and use is not target
        if not is_assigned(use, statement_of(use, root))
    ]
    return (bool(uses) or _selects(value)) and all(_is_every_use(use, root, step, followed) for use in uses)


def _copied(above: ir.Node, inner: ir.Node) -> bool | None:
    """A step: methods without other tensors lead to a copy."""
    match above:
        case ir.Attribute():
            return None
        case ir.Call(func=func, args=args) if func is inner:
            if copies(above):
                return True
            return None if all(_is_plain(arg.value) for arg in args) else False
        case ir.Subscript(value=value, index=index) if value is inner and all(map(_is_plain, index)):
            return None
    return False


def _is_plain(node: ir.Expr) -> bool:
    """Return whether an expression holds no tensor: `0`, `(2, -1)`, `torch.uint8`."""
    parts = list(ir.walk(node))
    calls = any(isinstance(part, ir.Call) for part in parts)
    return not calls and all(part.id in _MODULES for part in parts if isinstance(part, ir.Name))


def _without_gradient(above: ir.Node, inner: ir.Node, name_of: _NameOf) -> bool | None:
    """A step: operators lead to what has no gradient."""
    match above:
        case ir.Compare():
            return True
        case ir.Attribute(attr=attr):
            plain = table.names("torch", "without-gradient-attributes")
            return True if attr in plain or (attr == "indices" and _selects(inner)) else None
        case ir.Subscript(index=(ir.Const(value=1),)) if _selects(inner):
            return True
        case ir.Subscript() | ir.Binary() | ir.Unary() | ir.Slice():
            return None
        case ir.Call(func=ir.Attribute(attr=attr) as func) if func is inner:
            return True if attr in table.names("torch", "without-gradient") else None
        case ir.Call(func=func):
            package, _, called = name_of(func).rpartition(".")
            if package not in ("torch", "torch.nn.functional"):
                return False
            return True if called in table.names("torch", "without-gradient") else None
    return False


def _selects(node: ir.Node) -> bool:
    """Return whether a call returns values and their indices: `x.topk(3)`, `torch.max(x, 1)`."""
    match node:
        case ir.Call(func=ir.Attribute(attr=attr), args=args):
            by_dimension = any(arg.keyword == "dim" or _is_plain(arg.value) for arg in args)
            always = attr in ("sort", "topk", "mode", "kthvalue")
            return always or (attr in table.names("torch", "pairs") and by_dimension)
    return False
