"""Counts what a mask selects by an index beyond the counted ones, for everything outside of the mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module
from xlamig.fix.names import last_name
from xlamig.fix.scopes import function_around, path_to, sole_use
from xlamig.fix.strategies.index_select import is_plain

_CONVERSIONS = {"int", "long", "to", "type"}


@dataclass(frozen=True, slots=True)
class _Counting:
    """A count of `indices` in `bins` bins, an expression that ends at `end`."""

    indices: ir.Expr
    bins: ir.Expr
    end: int


def masked_count(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`torch.bincount(n * a[mask] + b[mask], minlength=n**2)`, also where a name holds the indices that
    nothing else uses: they are computed of all elements, and outside of the mask they are `n**2`."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-read":
        return None
    path = path_to(context.module, *fact.span)
    statement = next((n for n in reversed(path) if isinstance(n, ir.Stmt)), None)
    owner = function_around(path)
    counting = _counting(path, statement, owner, context.module)
    read = path[-1]
    if counting is None or not isinstance(read, ir.Subscript) or not is_plain(read.index[0]):
        return None
    bins, indices = counting.bins, counting.indices
    mask = context.text_of(read.index[0])
    cuts = list(_selections(indices, mask, context))
    if not _is_number(bins) or None in cuts:
        return None
    torch = ensure_module(context, "torch", fact.span)
    if torch is None:
        return None
    count = context.text_of(bins)
    whole, at = "", indices.start
    for cut in cuts:
        if cut is not None:
            whole, at = whole + context.text((at, cut.value.end)), cut.end
    whole += context.text((at, indices.end))
    edits = (
        context.edit(indices.start, indices.end, f"{torch.name}.where({mask}, {whole}, {count}).flatten()"),
        context.edit(bins.end, bins.end, " + 1"),
        context.edit(counting.end, counting.end, f"[:{count}]"),
    )
    return Draft(f"Count `{count}` outside of `{mask}`, and leave it out", (*torch.edits, *edits))


def _is_number(bins: ir.Expr) -> bool:
    """Return whether the number of bins may be written twice."""
    return all(isinstance(n, ir.Name | ir.Attribute | ir.Const | ir.Binary) for n in ir.walk(bins))


def _counting(
    path: Sequence[ir.Node], statement: ir.Stmt | None, owner: ir.Node, module: ir.Module
) -> _Counting | None:
    """Return what counts the values that are read at the end of `path`, perhaps under a name of their own."""
    for i in range(len(path) - 1, 0, -1):
        argument, call = path[i], path[i - 1]
        if not isinstance(argument, ir.Arg) or not isinstance(call, ir.Call) or call.args[0] is not argument:
            continue
        if found := _bins_of(path[:i]):
            return _Counting(argument.value, *found)
    match statement:
        case ir.Assign(targets=(ir.Name() as target,), value=value):
            use = sole_use(owner, target)
            if use is None:
                return None
            around = path_to(module, use.start, use.end)
            match around[-4:]:
                case [ir.Arg(), ir.Call(func=ir.Attribute(attr="long")), ir.Attribute(), _]:
                    around = around[:-2]
            if isinstance(around[-2], ir.Arg) and (found := _bins_of(around[:-2])):
                return _Counting(value, *found)
    return None


def _bins_of(above: Sequence[ir.Node]) -> tuple[ir.Expr, int] | None:
    """Return the number of bins, and where the count ends, if the call at the end of `above` counts its first
    argument: `bincount(x, minlength=n)`, or `one_hot(x, n).sum(0)`, which XLA204 makes of it."""
    match above[-3:]:
        case [*_, ir.Call(func=func, args=(_, ir.Arg(keyword="minlength", value=bins))) as call]:
            return (bins, call.end) if last_name(func) == "bincount" else None
        case [
            ir.Call(args=(ir.Arg(value=ir.Const(value=0)),)) as total,
            ir.Attribute(attr="sum"),
            ir.Call(func=func, args=(_, ir.Arg(value=bins))),
        ]:
            return (bins, total.end) if last_name(func) == "one_hot" else None
    return None


def _selections(value: ir.Expr, mask: str, context: FixContext) -> Iterator[ir.Subscript | None]:
    """Yield every `x[mask]` of a value that is computed element by element; None for anything else."""
    match value:
        case ir.Subscript(value=owner, index=(index,)) if context.text_of(index) == mask and is_plain(owner):
            yield value
        case ir.Binary(left=left, right=right, op="+" | "-" | "*"):
            yield from _selections(left, mask, context)
            yield from _selections(right, mask, context)
        case ir.Call(func=ir.Attribute(value=owner, attr=attr)) if attr in _CONVERSIONS:
            yield from _selections(owner, mask, context)
        case ir.Name() | ir.Attribute() | ir.Const():
            return
        case _:
            yield None
