"""`x[t]` becomes `x[t[None]].squeeze(0)`: an index of one dimension more stays on the device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import only_read, path_to, subscript_at

_ATOMS = (ir.Name, ir.Attribute, ir.Call, ir.Subscript)


def tensor_index(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """One position, beside slices. A read has to be no more than a read: it was a view, and becomes a
    copy. A write has the position as its first and only index, as its value counts from the last one."""
    if not isinstance(fact, HostRead) or fact.operation != "index":
        return None
    found = subscript_at(context.module, fact.span)
    if found is None:
        return None
    node, parent = found
    others = [part for part in node.index if (part.start, part.end) != fact.span]
    position = next((i for i, p in enumerate(node.index) if (p.start, p.end) == fact.span), None)
    if position is None or not all(isinstance(part, ir.Slice) for part in others):
        return None
    index = node.index[position]
    text = context.text(fact.span)
    longer = f"{text if isinstance(index, _ATOMS) else f'({text})'}[None]"
    edit = context.edit(*fact.span, longer)
    match parent:
        case ir.Assign(targets=targets) if any(t is node for t in targets):
            whole = not others and len(targets) == 1
            return Draft(f"Use `[{longer}]`", (edit,)) if whole else None
        case ir.AugAssign() | ir.Delete() | ir.AnnAssign():
            return None
    if not only_read(context.module, node):
        return None
    if restored := _restored(node, position, context):
        return Draft(f"Use `[{longer}]`", (edit, context.edit(node.end, restored, "")))
    after = context.edit(node.end, node.end, f".squeeze({position})")
    return Draft(f"Use `[{longer}]` and `squeeze({position})`", (edit, after))


def _restored(node: ir.Subscript, position: int, context: FixContext) -> int | None:
    """Return the end of `x[t].unsqueeze(0)` or `x[t][None]`, which put the dimension back that `t` takes."""
    path = path_to(context.module, node.start, node.end)
    at = next((i for i in reversed(range(len(path))) if path[i] is node), 0)
    match path[max(at - 2, 0) : at]:
        case [_, ir.Subscript(value=value, index=(ir.Const(value=None),)) as whole] if value is node:
            return None if position else whole.end
        case [
            ir.Call(args=(ir.Arg(value=ir.Const(value=int(number))),)) as call,
            ir.Attribute(attr="unsqueeze", value=value) as func,
        ] if call.func is func and value is node:
            return call.end if number == position else None
    return None
