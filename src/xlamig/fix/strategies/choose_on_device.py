"""`torch.where` chooses between two tensors by a number that Python draws, instead of a branch."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingPath, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.loops import Loop
from xlamig.fix.scopes import bindings, function_around, only_value, path_to, statement_at

_VIEWS = {"contiguous", "detach", "squeeze", "unsqueeze"}
_PICKS = {"argmax", "argmin"}  # little work, which the other side then does as well


def choose_on_device(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`x = a if random.random() < p else b`, and the same as an `if`, in a loop. Both sides are tensors that
    exist, views of them, or their best class. Python draws as before, and the answer reaches the device as
    data: a tensor without dimensions would be a constant of the graph."""
    if not isinstance(fact, ChangingPath) or fact.via != "branch" or fact.cause != "random":
        return None
    path = path_to(context.module, *fact.span)
    function = function_around(path)
    loop = next((n for n in reversed(path) if isinstance(n, (Loop, ir.FunctionDef, ir.Lambda))), None)
    node = next((n for n in reversed(path) if isinstance(n, ir.IfExp)), None) or statement_at(
        context.module, fact.span
    )
    if not isinstance(loop, Loop) or not isinstance(node, ir.IfExp | ir.If):
        return None
    asked, drawn = _parts(node.test)
    if (node.test.start, node.test.end) != fact.span or not _is_drawn(drawn, function, loop):
        return None
    found = ("", node.body, node.orelse) if isinstance(node, ir.IfExp) else _assigned(node, context)
    if found is None or ("\n" in context.text_of(node) and isinstance(node, ir.IfExp)):
        return None
    target, here, there = found
    if not _exists(here) or not _exists(there) or _draws(here, there):
        return None
    torch = ensure_module(context, "torch", (node.start, node.end))
    if torch is None:
        return None
    owner = next((side for side in (there, here) if isinstance(side, ir.Name)), there)
    of = context.text_of(_computed_from(owner))
    flag = f"{torch.name}.tensor([{context.text_of(drawn)}], device={of}.device)"
    if not any(map(_has_dimensions, (here, there))):
        flag += ".squeeze(0)"
    value = f"{torch.name}.where({flag}, {context.text_of(here)}, {context.text_of(there)})"
    if asked is not None:
        value = f"{value} if {context.text_of(asked)} else {context.text_of(there)}"
        if not target and not isinstance(path[path.index(node) - 1], ir.Assign | ir.Return):
            value = f"({value})"
    text = f"{target} = {value}" if target else value
    return Draft(f"Use `{value}`", (*torch.edits, context.edit(node.start, node.end, text)))


def _assigned(node: ir.If, context: FixContext) -> tuple[str, ir.Expr, ir.Expr] | None:
    """Return the name that both branches set, and what to; None if they do anything else."""
    match node:
        case ir.If(
            body=(ir.Assign(targets=(ir.Name(id=one),), value=here),),
            orelse=(ir.Assign(targets=(ir.Name(id=other),), value=there),),
        ) if one == other and "#" not in context.text_of(node):
            return one, here, there
    return None


def _parts(test: ir.Expr) -> tuple[ir.Expr | None, ir.Expr]:
    """Return what Python asks first, and what it draws then: `y is not None and random.random() < p`."""
    match test:
        case ir.Bool(op="and", values=(ir.Compare(ops=("is" | "is not",)) | ir.Name() as asked, drawn)):
            return asked, drawn
    return None, test


def _is_drawn(test: ir.Expr, function: ir.Node, loop: Loop) -> bool:
    """Return whether a test is a bool of Python that each iteration draws."""
    match test:
        case ir.Name(id=name):
            value = only_value(function, name)
            inside = all(loop.start <= node.start < loop.end for node in bindings(function, name))
            return value is not None and inside and not isinstance(value, ir.Name) and _is_bool(value)
    return _is_bool(test)


def _is_bool(value: ir.Expr) -> bool:
    match value:
        case ir.Unary(op="not", operand=operand):
            return _is_bool(operand)
        case ir.Compare(ops=("<" | "<=" | ">" | ">=" | "==" | "!=",)):
            return any(isinstance(node, ir.Call) for node in ir.walk(value))
    return False


def _exists(side: ir.Expr) -> bool:
    """Return whether a tensor is there already: a name, an attribute, a part of one, or a view."""
    match side:
        case ir.Name():
            return True
        case ir.Attribute(value=value):
            return _exists(value)
        case ir.Subscript(value=value, index=index):
            return _exists(value) and not any(isinstance(n, ir.Call) for part in index for n in ir.walk(part))
        case ir.Call(func=ir.Attribute(value=value, attr=attr), args=args) if attr in _VIEWS | _PICKS:
            return _exists(value) and all(isinstance(arg.value, ir.Const | ir.Unary) for arg in args)
    return False


def _computed_from(side: ir.Expr) -> ir.Expr:
    """Return the tensor that a side picks from: it is on the same device, and is not computed again."""
    match side:
        case ir.Call(func=ir.Attribute(value=value, attr=attr)) if attr in _PICKS:
            return value
    return side


def _draws(*sides: ir.Expr) -> bool:
    return any(isinstance(node, ir.Walrus | ir.Await | ir.Yield) for side in sides for node in ir.walk(side))


def _has_dimensions(side: ir.Expr) -> bool:
    """Return whether a side has a dimension for sure: `trg[:, t]`, `x.unsqueeze(0)`."""
    match side:
        case ir.Subscript(index=index):
            return any(isinstance(part, ir.Slice) for part in index)
        case ir.Call(func=ir.Attribute(attr="unsqueeze")):
            return True
    return False
