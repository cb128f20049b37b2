"""`noise.resize_(n, 8).normal_()` becomes `noise = noise.new_empty(n, 8).normal_()`."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.names import names_bound
from xlamig.fix.scopes import function_around, path_to, reads


def fresh_tensor(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """The statement fills the tensor that it resizes, and nothing outside of the loop has it under another
    name, which would keep the old one."""
    if (
        not isinstance(fact, ApiUse)
        or not fact.complete
        or any(arg.name == "memory_format" for arg in fact.args)
    ):
        return None
    path = path_to(context.module, *fact.parts["call"])
    call, statement = path[-1], next((n for n in reversed(path) if isinstance(n, ir.Stmt)), None)
    match call:
        case ir.Call(func=ir.Attribute(value=ir.Name(id=name)) as func) if _is_filled(call, statement):
            assert statement is not None
        case _:
            raise FixDeclined("the statement does more than to fill what it resizes")
    loop = next((n for n in path if isinstance(n, ir.For | ir.While)), None)
    owner = function_around(path)
    if loop is None or not ir.encloses(owner, loop):
        raise FixDeclined(f"`{name}` is made outside of the function")
    outside = [use for use in reads(owner, name) if not loop.start <= use.start < loop.end]
    binding = [use for use in outside if _binds(name, path_to(context.module, use.start, use.end))]
    if not binding or len(binding) < len(outside):
        raise FixDeclined(f"`{name}` is used outside of the loop")
    edits = (
        context.edit(statement.start, statement.start, f"{name} = "),
        context.edit(func.attr_start, func.end, "new_empty"),
    )
    return Draft(f"Make a new tensor, `{name} = {name}.new_empty(...)`", edits)


def _is_filled(call: ir.Call, statement: ir.Stmt | None) -> bool:
    """Return whether the statement is the call, followed by methods that write in place and nothing else."""
    if not isinstance(statement, ir.ExprStmt):
        return False
    node, filled = statement.value, False
    while node is not call:
        match node:
            case ir.Call(func=ir.Attribute(value=ir.Call() as inner, attr=attr)) if attr.endswith("_"):
                node, filled = inner, True
            case _:
                return False
    return filled


def _binds(name: str, path: list[ir.Node]) -> bool:
    """Return whether a use stands in a statement that binds the name, as `x = x.to(device)` does."""
    statement = next((n for n in reversed(path) if isinstance(n, ir.Stmt)), None)
    return isinstance(statement, ir.Assign) and name in names_bound(statement)
