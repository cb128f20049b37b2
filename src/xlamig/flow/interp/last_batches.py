"""Loaders and slices whose last batch is smaller than the others."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ChangingShape, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue, Made, Mark
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.scopes import path_of


def keeping_last(loader: AbstractValue, args: Args, made: Made) -> AbstractValue:
    """Return a `DataLoader` marked as one that keeps a smaller last batch, unless its arguments rule it out
    or show that it shuffles, which the rule sees in the call."""
    size, drops = args.get(1, "batch_size"), args.get(8, "drop_last")
    if args.get(4, "batch_sampler") is not None or args.get(3, "sampler") is not None:
        return loader
    shuffle = args.get(2, "shuffle")
    if shuffle is not None and shuffle.const is True:
        return loader
    if drops is not None and drops.const is not False:
        return loader
    if size is None and not args.partial:
        return loader  # one sample at a time
    if size is not None and (size.kind == "none" or size.const == 1):
        return loader
    unsure = args.partial and (size is None or drops is None)
    return loader.replace(trait=Mark.PARTIAL, ref=made, sure=POSSIBLE if unsure else LIKELY)


def record_last_batch(m: State, iterable: AbstractValue) -> None:
    """Record that a training loop over such a loader ends each epoch with a smaller batch."""
    if iterable.trait is not Mark.PARTIAL or not isinstance(iterable.ref, Made):
        return
    node, statement, operation = iterable.ref
    m.record(
        ChangingShape,
        node,
        min(iterable.sure, LIKELY),
        iterable.why,
        at=statement,
        via="last-batch",
        operation=operation,
        cause="batch",
    )


def record_last_slice(m: State, loop: Loop) -> None:
    """Record slices `xs[i : i + n]` of a loop of steps over `range(0, end, n)`: the last is shorter, unless
    `n` divides the end."""
    node = loop.node
    match node:
        case ir.For(
            target=ir.Name(id=counter),
            iter=ir.Call(func=ir.Name(id="range"), args=(_, ir.Arg(value=end), ir.Arg(value=width))),
        ):
            size = m.source(width)
        case _:
            return
    if isinstance(end, ir.Binary) or _divides(width, end) or _skips_short(node.body):
        return
    for statement, part in _windows(m, node.body, counter, size):
        why = Why("the loop ends with what is left of the data", (node.start, node.iter.end))
        m.record(
            ChangingShape,
            part,
            LIKELY,
            (why,),
            at=statement,
            via="last-batch",
            operation="[]",
            tensor=short(m.source(part)),
            cause="batch",
        )
        return


def _windows(
    m: State, body: ir.Block, counter: str, size: str, is_callee: bool = False
) -> Iterator[tuple[ir.Stmt, ir.Subscript]]:
    """Yield the slices `xs[i : i + n]` of a block, then those of the functions of the module that it gives
    the counter, each with its statement."""
    nodes = [(statement, part) for statement in body for part in ir.walk(statement)]
    for statement, part in nodes:
        if isinstance(part, ir.Subscript) and _is_window(m, part.index[0], counter, size):
            yield statement, part
    for _, part in nodes if not is_callee else ():
        found = function_behind(part, m.frame.scope) if isinstance(part, ir.Call) else None
        if found is None or not isinstance(part, ir.Call):
            continue
        given = {m.source(value): name for name, value in arguments(part, found[0]).items()}
        if counter in given:
            yield from _windows(m, found[0].body, given[counter], given.get(size, size), is_callee=True)


def _divides(width: ir.Expr, end: ir.Expr) -> bool:
    match width, end:
        case ir.Const(value=int(n)), ir.Const(value=int(m)):
            return n == 1 or m % n == 0
        case ir.Const(value=1), _:
            return True
    return False


def _skips_short(body: ir.Block) -> bool:
    """Return whether the loop leaves a shorter slice out: `if len(batch) < n: continue`."""
    return any(
        isinstance(s, ir.If) and isinstance(s.body[-1], ir.Jump) and s.body[-1].kind in ("continue", "break")
        for s in body
    )


def _is_window(m: State, index: ir.Expr, counter: str, size: str) -> bool:
    """Return whether an index is `i : i + n`, also where the end is cut off by `min`."""
    match index:
        case ir.Slice(lower=ir.Name(id=lower), upper=ir.Expr() as upper) if lower == counter:
            if isinstance(upper, ir.Call) and path_of(upper.func) == "min":
                upper = upper.args[0].value
            match upper:
                case ir.Binary(op="+", left=ir.Name(id=first), right=right):
                    return first == counter and m.source(right) == size
    return False
