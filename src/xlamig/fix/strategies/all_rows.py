"""Computes the rows that a list lacks as well, and chooses by the mask, instead of writing at it."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.helper import HelperFunction, helper_function
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import dotted_name, function_around, only_value, path_to, reads
from xlamig.knowledge import helpers

_JOINS = ("torch.cat", "torch.stack")


def all_rows(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`rows = torch.cat([s for s in xs if s is not None])` and `out[mask] = f(rows)`, where the mask says
    which of `xs` are not None, and `out` is a vector of zeros. Each missing row becomes the first that is
    there. Rows are joined on the host: XLA compiles for each way in which they share memory, and samples of
    a replay memory differ in that."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-write":
        return None
    path = path_to(context.module, *fact.span)
    write = next((n for n in reversed(path) if isinstance(n, ir.Stmt)), None)
    match write:
        case ir.Assign(
            targets=(ir.Subscript(value=ir.Name(id=out), index=(ir.Name(id=mask),)),), value=value
        ):
            pass
        case _:
            return None
    owner = function_around(path)
    torch = ensure_module(context, "torch", fact.span)
    rows = _rows(owner, write)
    if torch is None or rows is None or not _is_vector(only_value(owner, out)):
        return None
    listed = context.text_of(rows.generators[0].iter)
    asked = only_value(owner, mask)
    if asked is None or not _asks_for_none(asked, listed, context):
        return None
    item = context.text_of(rows.element)
    like = f"next({item} for {item} in {listed} if {item} is not None)"
    filled = f"[{like} if {item} is None else {item} for {item} in {listed}]"
    chosen = f"{out} = {torch.name}.where({mask}, {context.text_of(value)}, {out})"
    edits = [context.edit(rows.start, rows.end, filled), context.edit(write.start, write.end, chosen)]
    host = _on_the_host(context, fact)
    if host:
        wrapped = (join.func for join in _joins(owner, rows))
        edits += [context.edit(f.start, f.end, f"{host.name}({context.text_of(f)})") for f in wrapped]
    found = (*torch.edits, *(host.edits if host else ()), *edits)
    return Draft("Compute all rows, and choose by the mask", found, host.creates if host else ())


def _on_the_host(context: FixContext, fact: Fact) -> HelperFunction | None:
    if context.settings.target != "torch_xla" or context.settings.style == "native":
        return None
    return helper_function(context, helpers.HOST, fact.span)


def _joins(owner: ir.Node, rows: ir.Comprehension) -> Iterator[ir.Call]:
    """Yield the calls that join `rows`, or another field of the batch that they are taken from."""
    listed = rows.generators[0].iter
    batch = dotted_name(listed).rpartition(".")[0]
    for node in ir.walk(owner):
        match node:
            case ir.Call(func=func, args=(ir.Arg(value=value), *_)) if dotted_name(func) in _JOINS:
                if value is rows or (batch and dotted_name(value).rpartition(".")[0] == batch):
                    yield node


def _rows(owner: ir.Node, write: ir.Assign) -> ir.Comprehension | None:
    """Return `[s for s in xs if s is not None]` of the only name in what is written that joins such a list,
    if nothing else uses it."""
    for name in dict.fromkeys(node.id for node in ir.walk(write.value) if isinstance(node, ir.Name)):
        match only_value(owner, name):
            case ir.Call(func=func, args=(ir.Arg(value=ir.Comprehension(kind="list") as made), *_)):
                uses = [use for use in reads(owner, name) if not ir.encloses(write.value, use)]
                if dotted_name(func) in _JOINS and len(uses) == 1 and _leaves_none_out(made):
                    return made
    return None


def _leaves_none_out(made: ir.Comprehension) -> bool:
    match made.generators, made.element:
        case (ir.Generator(target=ir.Name(id=one), ifs=(test,)),), ir.Name(id=other):
            return one == other and _is_not_none(test, one)
    return False


def _is_not_none(test: ir.Expr, name: str) -> bool:
    match test:
        case ir.Compare(left=ir.Name(id=asked), ops=("is not",), comparators=(ir.Const(value=None),)):
            return asked == name
    return False


def _asks_for_none(mask: ir.Expr, listed: str, context: FixContext) -> bool:
    """Return whether a mask is made from `s is not None` for each of the same list."""
    asks = any(
        isinstance(node, ir.Compare) and isinstance(node.left, ir.Name) and _is_not_none(node, node.left.id)
        for node in ir.walk(mask)
    )
    return asks and any(
        isinstance(node, ir.Expr) and context.text_of(node) == listed for node in ir.walk(mask)
    )


def _is_vector(value: ir.Expr | None) -> bool:
    """Return whether zeros of one dimension are made: `torch.zeros(n, device=device)`."""
    match value:
        case ir.Call(func=func, args=args) if dotted_name(func) == "torch.zeros":
            sizes = [arg.value for arg in args if not arg.keyword]
            return len(sizes) == 1 and not isinstance(sizes[0], ir.Sequence | ir.Starred)
    return False
