"""The mean over hard examples is chosen on the device: those above a threshold, or else the hardest few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlamig import ir
from xlamig.facts import DynamicShape, Fact
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.imports import ensure_module, line_start
from xlamig.fix.scopes import block_of, dotted_name, function_around, path_to, position_in, reads
from xlamig.fix.strategies.index_select import is_plain


@dataclass(frozen=True, slots=True)
class _Choice:
    """From `start` to the end of `branch`, `name` gets `few` where `asked` holds, or else the masked ones."""

    start: int
    branch: ir.If
    asked: str
    few: str


def hard_mean(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """`h = x[x > t]`, and `h, _ = x.topk(k)` below `if h.numel() < k:`; or `x[:k]` in the other branch of a
    test of the sorted `x`. One mean is all that uses them, and the mask has the shape of `x`."""
    if not isinstance(fact, DynamicShape) or fact.via != "mask-read" or not fact.same_shape:
        return None
    path = path_to(context.module, *fact.span)
    match path[-2:]:
        case [
            ir.Assign(targets=(ir.Name(id=name),)) as statement,
            ir.Subscript(value=ir.Name(id=x), index=(mask,)) as read,
        ] if statement.value is read:
            pass
        case _:
            return None
    m = f"({context.text_of(mask)})"
    choice = _below(statement, name, x, m, context) or _beside(statement, path, name, x, context)
    torch = ensure_module(context, "torch", fact.span)
    if choice is None or torch is None or not _is_plain_comparison(mask):
        return None
    owner = function_around(path)
    uses = [use for use in reads(owner, name) if use.start >= choice.branch.end]
    if len(uses) != 1 or not _is_averaged(path_to(context.module, uses[0].start, uses[0].end)):
        return None
    all_hard = f"{torch.name}.where({m[1:-1]}, {x}, 0).sum() / {m}.sum().clamp(min=1)"
    chosen = f"{name} = {torch.name}.where({choice.asked}, {choice.few}.mean(), {all_hard})"
    text = _with_comments(chosen, choice, context)
    edit = context.edit(choice.start, choice.branch.end, text)
    return Draft("Choose the mean over the hard examples on the device", (*torch.edits, edit))


def _with_comments(chosen: str, choice: _Choice, context: FixContext) -> str:
    """Return the new statement below the comments of the lines that it replaces."""
    source = context.source.text
    margin = source[line_start(source, choice.start) : choice.start]
    lines = source[choice.start : choice.branch.end].splitlines()
    comments = [line[line.index("#") :] for line in lines if "#" in line]
    return f"{context.module.newline}{margin}".join([*comments, chosen])


def _below(statement: ir.Assign, name: str, x: str, mask: str, context: FixContext) -> _Choice | None:
    """Return the choice where the next statement takes the hardest few if there are too few."""
    block = block_of(context.module, statement) or ()
    at = position_in(block, statement)
    match () if at is None else block[at + 1 : at + 2]:
        case [
            ir.If(
                test=ir.Compare(left=counted, ops=("<" | "<=" as op,), comparators=(least,)),
                body=(taken,),
                orelse=(),
            ) as branch
        ] if name != x and (is_plain(least) or isinstance(least, ir.Const)):
            few = _few(taken, name, x, context)
            if few and context.text_of(counted) in _counts(name):
                return _Choice(statement.start, branch, f"{mask}.sum() {op} {context.text_of(least)}", few)
    return None


def _counts(name: str) -> Sequence[str]:
    return f"{name}.numel()", f"len({name})", f"{name}.size(0)", f"{name}.shape[0]"


def _beside(
    statement: ir.Assign, path: Sequence[ir.Node], name: str, x: str, context: FixContext
) -> _Choice | None:
    """Return the choice where a test of one element decides between the two."""
    match path[-3]:
        case (
            ir.If(
                test=ir.Compare(left=ir.Subscript(value=ir.Name(id=tested))), body=(yes,), orelse=(no,)
            ) as branch
        ) if tested == x:
            few = _few(no if yes is statement else yes, name, x, context)
            test = context.text_of(branch.test)
            asked = f"({test}).logical_not()" if yes is statement else test
            return _Choice(branch.start, branch, asked, few) if few else None
    return None


def _few(taken: ir.Stmt, name: str, x: str, context: FixContext) -> str:
    """Return the elements that a statement takes: `x.topk(k)[0]`, `x[:k]`; "" if it does something else."""
    match taken:
        case ir.Assign(
            targets=(ir.Sequence(elements=(ir.Name(id=target), ir.Name(id="_"))),), value=ir.Call() as call
        ):
            text = f"{context.text_of(call)}[0]"
        case ir.Assign(
            targets=(ir.Name(id=target),),
            value=ir.Subscript(value=ir.Call() as call, index=(ir.Const(value=0),)),
        ):
            text = f"{context.text_of(call)}[0]"
        case ir.Assign(
            targets=(ir.Name(id=target),),
            value=ir.Subscript(value=ir.Name(id=sliced), index=(ir.Slice(lower=None, step=None),)) as read,
        ):
            return context.text_of(read) if target == name and sliced == x else ""
        case _:
            return ""
    match call:
        case ir.Call(func=ir.Attribute(value=ir.Name(id=owner), attr="topk"), args=(ir.Arg(value=k),)):
            known = owner == x
        case ir.Call(func=func, args=(ir.Arg(value=ir.Name(id=owner)), ir.Arg(value=k))):
            known = owner == x and dotted_name(func) == "torch.topk"
        case _:
            return ""
    return text if known and target == name and (is_plain(k) or isinstance(k, ir.Const)) else ""


def _is_plain_comparison(mask: ir.Expr) -> bool:
    match mask:
        case ir.Compare(left=left, comparators=(right,)):
            return is_plain(left) and (is_plain(right) or isinstance(right, ir.Const))
    return False


def _is_averaged(path: Sequence[ir.Node]) -> bool:
    match path[-3:]:
        case [ir.Call(args=()), ir.Attribute(attr="mean"), _]:
            return True
        case [ir.Call(func=func, args=(_,)), ir.Arg(keyword=None), _]:
            return dotted_name(func) == "torch.mean"
    return False
