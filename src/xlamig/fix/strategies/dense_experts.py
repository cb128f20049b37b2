"""Sends all tokens through each expert, and masks its results, instead of selecting the expert's tokens."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.scopes import bindings, dotted_name, function_around, path_to, reads

_SHARE = "share"


def dense_experts(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`rows, ranks = torch.where(chosen == i)`, then `out[rows] += weights[rows, ranks, None] *
    expert(x[rows])`, for an expert that a loop with the index `i` gives."""
    if not isinstance(fact, DynamicShape):
        return None
    path = path_to(context.module, *fact.span)
    loop = next((n for n in reversed(path) if isinstance(n, ir.For)), None)
    match loop:
        case ir.For(
            target=ir.Sequence(elements=(ir.Name(id=number), ir.Name(id=expert))),
            body=(
                ir.Assign(
                    targets=(ir.Sequence(elements=(ir.Name(id=rows), ir.Name(id=ranks))),), value=selection
                ) as first,
                ir.AugAssign(
                    target=ir.Subscript(value=ir.Name() as out, index=(ir.Name(id=written),)),
                    value=ir.Binary(op="*", left=left, right=right),
                ) as second,
            ),
            orelse=(),
        ) if second.op in ("+", "+="):
            pass
        case _:
            return None
    test = _test(selection, number)
    sides = (left, right) if isinstance(left, ir.Subscript) else (right, left)
    weights, tokens = _weights(sides[0], rows, ranks), _tokens(sides[1], expert, rows)
    owner = function_around(path)
    inside = [use for name in (rows, ranks) for use in reads(owner, name)]
    if None in (test, weights, tokens) or written != rows or bindings(owner, _SHARE):
        return None
    if not all(loop.start <= use.start < loop.end for use in inside):
        return None
    assert test is not None and weights is not None and tokens is not None
    text = {name: context.text_of(node) for name, node in (("test", test), ("out", out))}
    weight, token = (context.text_of(node) for node in (weights, tokens))
    share = f"{_SHARE} = ({weight} * ({text['test']})).sum(-1, keepdim=True)"
    added = f"{text['out']} += {_SHARE} * {expert}({token})"
    edits = context.edit(first.start, first.end, share), context.edit(second.start, second.end, added)
    return Draft("Send all tokens through each expert, and mask its results", edits)


def _test(node: ir.Expr, number: str) -> ir.Compare | None:
    """Return `chosen == i` of `torch.where(chosen == i)`."""
    match node:
        case ir.Call(func=func, args=(ir.Arg(keyword=None, value=ir.Compare(ops=("==",)) as test),)):
            right = test.comparators[0]
            asks = isinstance(right, ir.Name) and right.id == number
            return test if asks and dotted_name(func) == "torch.where" else None
    return None


def _weights(node: ir.Expr, rows: str, ranks: str) -> ir.Expr | None:
    """Return `weights` of `weights[rows, ranks, None]`."""
    match node:
        case ir.Subscript(value=value, index=(ir.Name(id=one), ir.Name(id=other), ir.Const(value=None))):
            return value if (one, other) == (rows, ranks) else None
    return None


def _tokens(node: ir.Expr, expert: str, rows: str) -> ir.Expr | None:
    """Return `x` of `expert(x[rows])`."""
    match node:
        case ir.Call(
            func=ir.Name(id=called),
            args=(ir.Arg(keyword=None, value=ir.Subscript(value=value, index=(ir.Name(id=taken),))),),
        ):
            return value if (called, taken) == (expert, rows) else None
    return None
