"""Reads at a Python position become `index_select` with the position in a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

from xlamig import ir
from xlamig.facts import ChangingConstant, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.names import last_name, names_read
from xlamig.fix.scopes import all_bindings, bindings, function_around, path_to, subscript_at
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_PURE = (ir.Name, ir.Attribute, ir.Const, ir.Binary, ir.Unary)
_SETTINGS = {"args", "cfg", "config", "opt", "self"}


def index_select(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`x[:, i]` and `x[i : i + n]`, also beside other slices, which follow. `x` is a name: it stands there
    several times."""
    if not isinstance(fact, ChangingConstant) or fact.access != "read":
        return None
    found = subscript_at(context.module, fact.span)
    if found is None:
        return None
    node, parent = found
    if not is_plain(node.value) or _is_changed(node, parent) or _is_read(parent):
        return None
    if _is_tensor_at_times(context.module, node):
        return None
    dimension = _dimension(node.index, fact.span)
    torch = ensure_module(context, "torch", fact.span)
    if dimension is None or torch is None or "#" in context.text_of(node):
        return None
    number, chosen = dimension
    others = [part for part in node.index if part is not chosen]
    if any(names_read(chosen) & names_read(part) for part in others):  # that slice changes as well
        return None
    tensor = context.text_of(node.value)
    positions = _positions(context, tensor, number, chosen)
    if positions is None:
        return None
    selected = f"{tensor}.index_select({number}, {torch.name}.{positions})"
    left = [] if isinstance(chosen, ir.Slice) else [chosen]  # the dimensions that are gone
    if left:
        selected += f".squeeze({number})"
    rest = [
        ":" if part is chosen else context.text_of(part)
        for part in node.index
        if part is not chosen or not left
    ]
    new = selected if all(map(_is_whole, others)) else f"{selected}[{', '.join(rest)}]"
    edit = context.edit(node.start, node.end, new)
    return Draft(f"Use `{new}`", (*torch.edits, edit))


def _positions(context: FixContext, tensor: str, dimension: int, chosen: ir.Expr) -> str | None:
    """Return the call that makes a tensor of the positions that an index takes. Those of a slice are made on
    the host, as XLA compiles the bounds of `arange`; it ends where the tensor does."""
    if not all(isinstance(n, (*_PURE, ir.Slice)) for n in ir.walk(chosen)):
        return None
    match chosen:
        case ir.Slice(lower=ir.Expr() as lower, upper=ir.Expr() as upper, step=None):
            negative = any(isinstance(n, ir.Binary) and n.op == "-" for n in ir.walk(lower))
            owner = function_around(path_to(context.module, chosen.start, chosen.end))
            known = {tensor.partition(".")[0], *names_read(lower)}
            if negative or not names_read(lower) or not names_read(lower) <= names_read(upper):
                return None  # it may count from the end, or its length changes
            if any(_may_vary(owner, name, known) for name in names_read(upper) - known):
                return None
            first, last = (context.text_of(bound) for bound in (lower, upper))
            return f"arange({first}, min({last}, {tensor}.size({dimension}))).to({tensor}.device)"
        case ir.Slice() | ir.Const() | ir.Sequence():
            return None
    return f"tensor([{context.text_of(chosen)}], device={tensor}.device)"


def _may_vary(owner: ir.Node, name: str, known: Set[str], depth: int = 3) -> bool:
    """Return whether a length may differ from call to call: a parameter, or what a function computes. The
    last batch alone is shorter in `n = min(args.n, len(data) - i)`, where `data` and `i` are `known`."""
    for node in bindings(owner, name):
        match node:
            case ir.Assign(value=ir.Const()):
                pass
            case ir.Assign(value=ir.Call(func=ir.Name(id="min"), args=args)) if depth:
                names = {one for arg in args for one in names_read(arg.value)} - {*_SETTINGS, "len", *known}
                if any(_may_vary(owner, one, known, depth - 1) for one in names):
                    return True
            case _:
                return True
    return False


def is_plain(node: ir.Node) -> bool:
    """A name, or the attribute of one: it may be written twice."""
    while isinstance(node, ir.Attribute):
        node = node.value
    return isinstance(node, ir.Name)


def _is_tensor_at_times(module: ir.Module, node: ir.Subscript) -> bool:
    """Return whether a branch that the read is not in makes a tensor of the array that a name holds."""
    path = path_to(module, node.start, node.end)
    inside = {id(part) for part in path}
    return any(
        isinstance(part, ir.If) and id(part) not in inside
        for made in _made_of_data(function_around(path)).get(last_name(node.value), ())
        for part in path_to(module, made.start, made.end)
    )


@per_file
@lru_cache(maxsize=8)  # the fixes of one file ask again and again about the same few functions
def _made_of_data(owner: ir.Node) -> Mapping[str, Sequence[ir.Assign]]:
    """Return the assignments that make a tensor of the array that a name holds, by the name."""
    makers = table.names("torch", "of-data")
    found: dict[str, list[ir.Assign]] = {}
    for name, bound in all_bindings(owner).items():
        for node in bound:
            if isinstance(node, ir.Assign) and name in names_read(node.value):
                calls = (part for part in ir.walk(node.value) if isinstance(part, ir.Call))
                if any(last_name(call.func) in makers for call in calls):
                    found.setdefault(name, []).append(node)
    return found


def _is_changed(node: ir.Subscript, parent: ir.Node) -> bool:
    """Return whether the result of the read is a view that is written to or deleted: a copy would not do."""
    match parent:
        case ir.Assign(targets=targets):
            return any(t is node for t in targets)
        case ir.AugAssign(target=target):
            return target is node
        case ir.Attribute(attr=attr):
            return attr.endswith("_") or attr == "data"
        case ir.Delete():
            return True
    return False


def _is_read(parent: ir.Node) -> bool:
    """The host reads it at once: the position alone would not help."""
    return isinstance(parent, ir.Attribute) and parent.attr in ("item", "tolist", "cpu", "numpy")


def _dimension(index: tuple[ir.Expr, ...], span: tuple[int, int]) -> tuple[int, ir.Expr] | None:
    """The one dimension that is not cut by another slice or a constant, and how it is indexed, by `span`."""
    from_the_end = bool(index) and _is_ellipsis(index[0])
    rest = index[1:] if from_the_end else index
    chosen = [(i, e) for i, e in enumerate(rest) if e.start <= span[0] <= span[1] <= e.end]
    if len(chosen) != 1:
        return None
    position, expression = chosen[0]
    if not all(e is expression or _keeps_its_place(e) for e in rest):
        return None
    return (position - len(rest) if from_the_end else position), expression


def _keeps_its_place(node: ir.Expr) -> bool:
    """Return whether a part indexes one dimension, and the next part the next: not `None`, `...`, a mask."""
    return isinstance(node, ir.Slice) or (isinstance(node, ir.Const) and type(node.value) is int)


def _is_ellipsis(node: ir.Expr) -> bool:
    return isinstance(node, ir.Const) and node.value is ...


def _is_whole(node: ir.Expr) -> bool:
    return _is_ellipsis(node) or (
        isinstance(node, ir.Slice) and node.lower is node.upper is node.step is None
    )
