"""Calls of losses: which call gets a value, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.fix.context import Options
from xlamig.fix.names import last_name
from xlamig.fix.scopes import dotted_name, path_to, sole_use


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
