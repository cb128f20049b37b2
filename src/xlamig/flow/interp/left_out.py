"""Record which calls leave out what has a CUDA device as its default, or in place of None."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import CERTAIN, TOP, AbstractValue
from xlamig.flow.interp.events import ALWAYS_PASSED
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of


def record_defaults(m: State, function: Function, args: Args) -> None:
    """Prove of the default of each such parameter that calls give another one, as far as they do."""
    if not isinstance(function.node, ir.FunctionDef):
        return
    given = len(args.positional) + (function.bound is not None)
    for i, param in enumerate(function.node.params):
        if param.default is not None:
            _record(m, function.frame.home, param.default, i < given or param.name in args.keywords)


def record_fields(m: State, info: ClassInfo, args: Args) -> None:
    """Prove the same of the fields of a dataclass, of which an object is made."""
    fields = (s for s in info.node.body if isinstance(s, ir.AnnAssign) and isinstance(s.target, ir.Name))
    for i, field in enumerate(fields):
        if isinstance(field.value, ir.Expr) and isinstance(field.target, ir.Name):
            passed = i < len(args.positional) or field.target.id in args.keywords
            _record(m, info.frame.home, field.value, passed)


def _record(m: State, home: str, default: ir.Expr, passed: bool) -> None:
    if _is_cuda(default):
        recorder = m.recorder if home == m.names.module else m.program.home(home).recorder
        recorder.prove(default, dict([ALWAYS_PASSED]) if passed else {})


def record_alternative(m: State, before: Sequence[AbstractValue], last: ir.Expr) -> None:
    """Prove of the CUDA device at the end of `device or "cuda"` that a call gives another one, if it does."""
    if _is_cuda(last):
        m.recorder.prove(last, dict([ALWAYS_PASSED]) if any(map(_is_device, before)) else {})


def record_replaced(m: State, node: ir.If | ir.IfExp) -> None:
    """Prove the same of `if device is None: device = "cuda"`, and of the ternary that does so."""
    match node.test:
        case ir.Compare(
            left=ir.Name(id=name), ops=("is" | "is not" as op,), comparators=(ir.Const(value=None),)
        ):
            replaces = node.body if op == "is" else node.orelse
        case ir.Unary(op="not", operand=ir.Name(id=name)):
            replaces = node.body
        case ir.Name(id=name):
            replaces = node.orelse
        case _:
            return
    match replaces:
        case ir.Expr() as value:
            record_alternative(m, [m.env.get(name, TOP)], value)
        case (ir.Assign(targets=(ir.Name(id=target),), value=value),) if target == name:
            record_alternative(m, [m.env.get(name, TOP)], value)


def _is_device(thing: AbstractValue) -> bool:
    """Return whether a value is a device, or the name of one, and not None in any case."""
    return thing.kind in ("device", "text") and thing.sure == CERTAIN and thing.const != ""


def _is_cuda(node: ir.Expr) -> bool:
    """Return whether a default is `"cuda:0"`, `torch.device` of it, or chosen between it and another."""
    match node:
        case ir.IfExp(body=body, orelse=orelse):
            return _is_cuda(body) or _is_cuda(orelse)
        case ir.Call(func=func, args=(ir.Arg(value=named), *_)):
            return path_of(func).rpartition(".")[2] == "device" and _is_cuda(named)
    return isinstance(node, ir.Const) and isinstance(node.value, str) and node.value.startswith("cuda")
