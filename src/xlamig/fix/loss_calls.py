"""Calls of losses: which call gets a value, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.context import FixContext, Options
from xlamig.fix.names import last_name
from xlamig.fix.scopes import dotted_name, path_to, sole_use

_KEPT = {"beta", "delta"}  # settings of a loss of differences


def call_with(path: Sequence[ir.Node], owner: ir.Node, module: ir.Module) -> ir.Call | None:
    """Return the call that gets the end of `path` as an argument, perhaps under a name of its own."""
    match path[-3:]:
        case [ir.Call() as call, ir.Arg(), _]:
            return call
    match path[-2:]:
        case [ir.Assign(targets=(ir.Name() as target,), value=value), read] if value is read:
            if use := sole_use(owner, target):
                match path_to(module, use.start, use.end)[-3:]:
                    case [ir.Call() as call, ir.Arg(), _]:
                        return call
    return None


def settings_of(call: ir.Call, options: Options, module: ir.Module) -> Sequence[ir.Arg] | None:
    """Return the settings of a loss, from its call or from that which makes its module; None for others than
    those that the options `functions` and `modules` name."""
    if last_name(call.func) in options["functions"]:
        return call.args[2:]
    made = list(_made_by(call.func, module))
    if len(made) != 1 or last_name(made[0].func) not in options["modules"] or len(call.args) > 2:
        return None
    return made[0].args


def _made_by(func: ir.Expr, module: ir.Module) -> Iterator[ir.Call]:
    """Yield the calls that make the module which is called."""
    if isinstance(func, ir.Call):
        yield func
    name = dotted_name(func)
    for node in ir.walk(module) if name else ():
        match node:
            case ir.Assign(targets=targets, value=ir.Call() as made):
                if any(dotted_name(target) == name for target in targets):
                    yield made


def reduction_of(call: ir.Call, options: Options, module: ir.Module) -> str | None:
    """Return "mean" or "sum"; None for other losses, and for those whose settings are not known."""
    given = settings_of(call, options, module)
    if given is None:
        return None
    reduced = "mean"
    for arg in given:
        match arg:
            case ir.Arg(keyword="reduction", value=ir.Const(value="mean" | "sum" as kind)):
                reduced = str(kind)
            case ir.Arg(keyword="size_average", value=ir.Const(value=bool(mean))):
                reduced = "mean" if mean else "sum"
            case ir.Arg(keyword=name) if name not in _KEPT:
                return None
    return reduced


def mean_over_selected(call: ir.Call, mask: str, context: FixContext) -> list[Edit]:
    """Return the edits that turn the mean over all elements into that over the selected ones, which are zero
    elsewhere: `mask` is written twice."""
    factor = f" * ({mask}.numel() / {mask}.sum())"
    match path_to(context.module, call.start, call.end)[-2:]:
        case [ir.Assign() | ir.AugAssign() | ir.Return() | ir.Arg() | ir.Binary(op="+" | "-" | "*"), _]:
            return [context.edit(call.end, call.end, factor)]
    return [context.edit(call.start, call.start, "("), context.edit(call.end, call.end, f"{factor})")]
