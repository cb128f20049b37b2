"""Record which calls leave out a parameter that has a CUDA device as its default."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.events import ALWAYS_PASSED
from xlamig.flow.interp.frames import Function
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of


def record_defaults(m: State, function: Function, args: Args) -> None:
    """Prove of the default of each such parameter that calls give another one, as far as they do."""
    if not isinstance(function.node, ir.FunctionDef):
        return
    given = len(args.positional) + (function.bound is not None)
    for i, param in enumerate(function.node.params):
        if param.default is not None and _is_cuda(param.default):
            passed = i < given or param.name in args.keywords
            here = function.frame.home == m.names.module
            recorder = m.recorder if here else m.program.home(function.frame.home).recorder
            recorder.prove(param.default, dict([ALWAYS_PASSED]) if passed else {})


def _is_cuda(node: ir.Expr) -> bool:
    """Return whether a default is `"cuda:0"`, `torch.device` of it, or chosen between it and another."""
    match node:
        case ir.IfExp(body=body, orelse=orelse):
            return _is_cuda(body) or _is_cuda(orelse)
        case ir.Call(func=func, args=(ir.Arg(value=named), *_)):
            return path_of(func).rpartition(".")[2] == "device" and _is_cuda(named)
    return isinstance(node, ir.Const) and isinstance(node.value, str) and node.value.startswith("cuda")
