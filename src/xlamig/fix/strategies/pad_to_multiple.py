"""Pads what `pad_sequence` returns to a multiple of a length, so that few shapes occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.facts import ApiUse, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.imports import ensure_module, insert_beside, line_start
from xlamig.fix.insertion import insert_after
from xlamig.fix.names import last_name, names_bound, names_read
from xlamig.fix.scopes import dotted_name, function_around, path_to

_PACKED = {"pack_padded_sequence", "pad_packed_sequence"}  # know the true lengths, and give them back


def pad_to_multiple(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Option `multiple`. The batch is padded below the statement that makes it, if the file, or another of
    the program, masks padding, and nothing else of the function or in another file has the length of the
    longest sample."""
    if not isinstance(fact, ApiUse) or not fact.complete:
        return None
    path = path_to(context.module, *fact.parts["call"])
    call, owner = path[-1], function_around(path)
    if not isinstance(call, ir.Call):
        return None
    match path[-2]:
        case ir.Assign(targets=(target,), value=made) as statement if made is call and dotted_name(target):
            name, above = dotted_name(target), None
        case _:
            name, above = _free_name(owner), _statement_around(path)
            if above is None:
                return None
    given = {arg.keyword: arg.value for arg in call.args[1:]}
    first = given.pop("batch_first", ir.Const(0, 0, False))
    value = given.pop("padding_value", None)
    if not name.strip(".") or name.startswith(".") or given or not isinstance(first, ir.Const):
        return None
    padding = context.text_of(value) if value else "0"
    called = {last_name(node.func) for node in ir.walk(owner) if isinstance(node, ir.Call)}
    if "max" in called:
        raise FixDeclined("something else has the length of the longest sample")
    if why := reason_against(context, padding):
        raise FixDeclined(why)
    torch = ensure_module(context, "torch", fact.span)
    if torch is None:
        return None
    axis = 1 if first.value else 0
    length = f"-{name}.size({axis}) % {options['multiple']}"
    amounts = f"[0, 0] * ({name}.dim() - {axis + 1}) + [0, {length}]"
    line = f"{name} = {torch.name}.nn.functional.pad({name}, {amounts}, value={padding})"
    if above is None:
        added = insert_after(context, statement, [line])
        edits: tuple[Edit, ...] = (added,) if added else ()
    else:
        edits = _moved_above(context, above, call, name, line)
    if not edits:
        return None
    return Draft(f"Pad `{name}` to a multiple of {options['multiple']}", (*torch.edits, *edits))


def _free_name(owner: ir.Node) -> str:
    names = {name for node in ir.walk(owner) for name in (*names_read(node), *names_bound(node))}
    return next(name for name in ("padded", *(f"padded{n}" for n in range(2, 99))) if name not in names)


def _statement_around(path: Sequence[ir.Node]) -> ir.Stmt | None:
    """Return the simple statement that always runs the last node of a path, and runs it once."""
    index = max(i for i, node in enumerate(path) if isinstance(node, ir.Stmt))
    inside = any(isinstance(n, ir.Lambda | ir.Comprehension | ir.IfExp | ir.Bool) for n in path[index:])
    statement = path[index]
    return statement if isinstance(statement, ir.Return | ir.Assign | ir.ExprStmt) and not inside else None


def _moved_above(
    context: FixContext, statement: ir.Stmt, call: ir.Call, name: str, line: str
) -> tuple[Edit, ...]:
    """Return the edits that give the result of a call a name above its statement, and pad it there."""
    text = context.source.text
    indent = text[line_start(text, statement.start) : statement.start]
    lines = f"{name} = {context.text_of(call)}{context.module.newline}{indent}{line}"
    added = insert_beside(context, lines, statement)
    return (added, context.edit(call.start, call.end, name)) if added else ()


def reason_against(context: FixContext, padding: str) -> str:
    """Return why more padding may change results or fail; "" if nothing shows that."""
    if "longest" in context.elsewhere or any(map(_takes_longest, _calls(context.module))):
        return "something else has the length of the longest sample"
    names = set(_names(context.module))
    if names & _PACKED or "packs" in context.elsewhere:
        return "packed sequences keep the true lengths"
    masks = "masks" in context.elsewhere or any(
        "mask" in name or name in ("ignore_index", "padding_idx") for name in names
    )
    compared = any(
        context.text_of(side) == padding or "pad" in last_name(side).lower()
        for node in ir.walk(context.module)
        if isinstance(node, ir.Compare)
        for side in node.comparators
    )
    return "" if masks or compared else "nothing in the program masks the padding"


def _calls(module: ir.Module) -> Iterator[tuple[ir.Call, bool]]:
    """Yield the calls of a file, each with whether it stands in a `forward`."""
    forwards = [n for n in ir.walk(module) if isinstance(n, ir.FunctionDef) and n.name == "forward"]
    inside = {id(node) for forward in forwards for node in ir.walk(forward)}
    yield from ((n, id(n) in inside) for n in ir.walk(module) if isinstance(n, ir.Call))


def _takes_longest(call: tuple[ir.Call, bool]) -> bool:
    """Return whether a call is `lengths.max()` or `torch.max(lengths)`, or any such `max` in a `forward`."""
    node, in_forward = call
    func = node.func
    if last_name(func) not in ("max", "amax") or not (in_forward or isinstance(func, ir.Attribute)):
        return False
    parts = (func.value if isinstance(func, ir.Attribute) else None, *(arg.value for arg in node.args))
    named = (last_name(part) for part in parts if part is not None)
    return any("len" in name for name in named)


def _names(module: ir.Module) -> Iterator[str]:
    for node in ir.walk(module):
        match node:
            case ir.Name(id=name) | ir.Param(name=name) | ir.Attribute(attr=name) | ir.Arg(keyword=str(name)):
                yield name
