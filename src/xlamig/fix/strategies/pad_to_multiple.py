"""Pads what `pad_sequence` returns to a multiple of a length, so that few shapes occur."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.insertion import insert_after
from xlamig.fix.names import last_name
from xlamig.fix.scopes import dotted_name, function_around, path_to

_PACKED = {"pack_padded_sequence", "pad_packed_sequence"}  # know the true lengths, and give them back


def pad_to_multiple(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `multiple`. The batch is padded below the statement that makes it, if the file, or another of
    the program, masks padding, and nothing else of the function or in another file has the length of the
    longest sample."""
    if not isinstance(fact, ApiUse) or not fact.complete:
        return None
    path = path_to(context.module, *fact.parts["call"])
    match path[-2:]:
        case [ir.Assign(targets=(target,)) as statement, ir.Call() as call] if statement.value is call:
            name = dotted_name(target)
        case _:
            return None
    given = {arg.keyword: arg.value for arg in call.args[1:]}
    first = given.pop("batch_first", ir.Const(0, 0, False))
    value = given.pop("padding_value", None)
    if not name.strip(".") or name.startswith(".") or given or not isinstance(first, ir.Const):
        return None
    padding = context.text_of(value) if value else "0"
    owner = function_around(path)
    if why := _reason_against(context, owner, padding):
        raise FixDeclined(why)
    torch = ensure_module(context, "torch", fact.span)
    if torch is None:
        return None
    axis = 1 if first.value else 0
    length = f"-{name}.size({axis}) % {options['multiple']}"
    amounts = f"[0, 0] * ({name}.dim() - {axis + 1}) + [0, {length}]"
    line = f"{name} = {torch.name}.nn.functional.pad({name}, {amounts}, value={padding})"
    added = insert_after(context, statement, [line])
    if added is None:
        return None
    return Draft(f"Pad `{name}` to a multiple of {options['multiple']}", (*torch.edits, added))


def _reason_against(context: FixContext, owner: ir.Node, padding: str) -> str:
    """Return why more padding may change results or fail; "" if nothing shows that."""
    called = {last_name(node.func) for node in ir.walk(owner) if isinstance(node, ir.Call)}
    if "max" in called or "longest" in context.padding:
        return "something else has the length of the longest sample"
    names = set(_names(context.module))
    if names & _PACKED or "packs" in context.padding:
        return "packed sequences keep the true lengths"
    masks = "masks" in context.padding or any(
        "mask" in name or name in ("ignore_index", "padding_idx") for name in names
    )
    compared = any(
        context.text_of(side) == padding
        for node in ir.walk(context.module)
        if isinstance(node, ir.Compare)
        for side in node.comparators
    )
    return "" if masks or compared else "nothing in the program masks the padding"


def _names(module: ir.Module) -> Iterator[str]:
    for node in ir.walk(module):
        match node:
            case ir.Name(id=name) | ir.Param(name=name) | ir.Attribute(attr=name) | ir.Arg(keyword=str(name)):
                yield name
