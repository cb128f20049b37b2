"""Tests of a loop's counter that few iterations pass: `if i == 0`, `if i + 1 == len(loader)`, `if i < 3`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xlamig import ir
from xlamig.flow.model.by_kind import around
from xlamig.flow.model.kinds import is_optimizer_or_scaler_name
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.step_methods import straight_calls
from xlamig.knowledge import values as table

_FEW = 10  # batches, of the hundreds that a loader gives


def seldom_by_counter(test: ir.Expr, counts_steps: Callable[[ir.Name], bool]) -> bool | None:
    """Return True if few iterations of a loop of steps pass a test of its counter, False if most do; None
    where it asks something else, or counts the parts of one step."""
    match test:
        case ir.Name():
            return False if counts_steps(test) else None  # `if i`, `if not i`
        case ir.Compare(left=left, ops=("==" | "!=" as op,), comparators=(right,)):
            counter = _counter_of(left)
            known = counter is not None and (_is_number(right) or _is_count(right))
            return op == "==" if counter and known and counts_steps(counter) else None
        case ir.Compare(left=ir.Name() as counter, ops=(op,), comparators=(ir.Const(value=int(limit)),)):
            few = limit <= _FEW and op in ("<", "<=", ">", ">=")
            return op in ("<", "<=") if few and counts_steps(counter) else None
    return None


def _counter_of(node: ir.Expr) -> ir.Name | None:
    match node:
        case ir.Name():
            return node
        case ir.Binary(op="+" | "-", left=ir.Name() as name, right=ir.Const()):
            return name
    return None


def _is_number(node: ir.Expr) -> bool:
    return isinstance(node, ir.Const) and type(node.value) is int


def _is_count(node: ir.Expr) -> bool:
    """Return whether it is the number of batches, or that of the last one: `len(loader) - 1`."""
    match node:
        case ir.Call(func=ir.Name(id="len")):
            return True
        case ir.Binary(op="+" | "-", left=left, right=ir.Const()):
            return _is_count(left)
    return False


def counts_iterations(module: ir.Module, counter: ir.Name) -> bool:
    """Return whether a name is the counter of a loop around it whose iterations are steps."""
    loops = around(module, ir.For, counter)
    loop = next((loop for loop in loops if counter.id in _counters(loop)), None)
    return loop is not None and _is_of_steps(loop)


def _is_of_steps(loop: ir.For) -> bool:
    """Return whether a loop draws from a loader, or itself runs a backward pass or a step of an optimizer."""
    match loop.iter:
        case ir.Call(args=(ir.Arg(value=given), *_)):
            named = path_of(given.args[0].value if isinstance(given, ir.Call) and given.args else given)
            if table.name_like("loader").search(named):
                return True
    return any(map(_updates, straight_calls(loop.body)))


def _updates(call: ir.Call) -> bool:
    owner, _, name = path_of(call.func).rpartition(".")
    called = call.func.attr if isinstance(call.func, ir.Attribute) else name
    return called == "backward" or (
        called == "step" and is_optimizer_or_scaler_name(owner.rpartition(".")[2])
    )


def _counters(loop: ir.For) -> Iterator[str]:
    called = path_of(loop.iter.func) if isinstance(loop.iter, ir.Call) else ""
    match loop.target:
        case ir.Name(id=name) if called.endswith("range"):
            yield name
        case ir.Sequence(elements=(ir.Name(id=name), _)) if _enumerates(loop.iter):
            yield name


def _enumerates(node: ir.Expr) -> bool:
    """Return whether an iterable is `enumerate(...)`, also below a progress bar."""
    match node:
        case ir.Call(func=ir.Name(id="enumerate")):
            return True
        case ir.Call(args=(ir.Arg(value=ir.Call() as inner), *_)):
            return _enumerates(inner)
    return False
