"""`loss(x[i], y[i])` at indices that the CPU finds compares all elements, and the mask goes to the device."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.findings import Edit
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.loss_calls import mean_over_selected, reduction_of
from xlamig.fix.names import last_name
from xlamig.fix.scopes import bindings, function_around, path_to, reads
from xlamig.fix.strategies.masked_fill import with_dimensions_of


def indexed_error(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """Options `functions` and `modules` name the losses, `outside` what both sides are where the loss is
    zero, and `finders` the functions that turn a comparison into indices. Nothing else may use the indices,
    whose name gets the mask."""
    if not isinstance(fact, DynamicShape) or fact.via != "host-indices":
        return None
    path = path_to(context.module, *fact.span)
    owner = function_around(path)
    match path[-1]:
        case ir.Subscript(index=(ir.Name(id=name),)):
            found = _finder(owner, name, options)
        case _:
            return None
    torch = ensure_module(context, "torch", fact.span)
    if found is None or torch is None:
        return None
    calls = list(_calls(owner, name, context.module))
    if len(calls) != len(set(map(id, calls))) * 2:  # both sides of each
        return None
    first = calls[0].args[0].value
    if not isinstance(first, ir.Subscript) or not _is_known_above(first.value, found, owner):
        return None
    mask = context.text_of(found.args[0].value)
    device = f"{context.text_of(first.value)}.device"
    edits = [
        *torch.edits,
        context.edit(found.start, found.end, f"{torch.name}.as_tensor({mask}, device={device})"),
    ]
    for call in {id(call): call for call in calls}.values():
        reduced = reduction_of(call, options, context.module)
        written = list(_written(call, name, options["outside"], torch.name, context))
        if reduced is None or len(written) != 2:
            return None
        edits += written
        if reduced == "mean":
            edits += mean_over_selected(call, name, context)
    return Draft(f"Copy the mask `{mask}` to the device, and compare all elements", tuple(edits))


def _finder(owner: ir.Node, name: str, options: Options) -> ir.Call | None:
    """Return the call that finds the indices of a comparison."""
    match bindings(owner, name):
        case [
            ir.Assign(
                targets=(ir.Name(),),
                value=ir.Call(func=func, args=(ir.Arg(keyword=None, star="", value=ir.Compare()),)) as found,
            )
        ] if last_name(func) in options["finders"]:
            return found
    return None


def _calls(owner: ir.Node, name: str, module: ir.Module) -> Iterator[ir.Call]:
    """Yield for each use of the indices the call that gets what they select; nothing where one is no such."""
    found = []
    for use in reads(owner, name):
        match path_to(module, use.start, use.end)[-4:]:
            case [ir.Call() as call, ir.Arg(keyword=None, star="") as arg, ir.Subscript(index=(index,)), _]:
                if index is not use or arg not in call.args[:2]:
                    return
                found.append(call)
            case [*_, ir.Assign(targets=(target,)), _] if target is use:
                continue
            case _:
                return
    yield from found


def _is_known_above(tensor: ir.Expr, found: ir.Call, owner: ir.Node) -> bool:
    """Return whether the tensor has its value where the indices are found."""
    if not isinstance(tensor, ir.Name):
        return False
    bound = bindings(owner, tensor.id)
    return bool(bound) and all(node.start < found.start for node in bound)


def _written(call: ir.Call, name: str, outside: list[str], torch: str, context: FixContext) -> Iterator[Edit]:
    for arg, value in zip(call.args[:2], outside, strict=True):
        match arg.value:
            case ir.Subscript(value=ir.Name() as tensor, index=(ir.Name(id=index) as mask,)) if index == name:
                shaped = with_dimensions_of(tensor, mask, context)
                new = f"{torch}.where({shaped}, {context.text_of(tensor)}, {value})"
                if shaped and "#" not in context.text_of(arg.value):
                    yield context.edit(arg.value.start, arg.value.end, new)
