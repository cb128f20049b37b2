"""`x[t]` becomes `x[t[None]].squeeze(0)`: an index of one dimension more stays on the device."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, HostRead
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import only_read, subscript_at

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
    after = context.edit(node.end, node.end, f".squeeze({position})")
    return Draft(f"Use `[{longer}]` and `squeeze({position})`", (edit, after))
