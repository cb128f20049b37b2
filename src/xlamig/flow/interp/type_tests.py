"""Tests for tensors: `isinstance(x, torch.Tensor)`, also by a name that keeps the answer."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.domain import BOOL, AbstractValue, Mark
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import Binding, path_of
from xlamig.knowledge import values as table

_OF_PYTHON = frozenset({"bool", "complex", "dict", "float", "int", "list", "set", "str", "tuple"})
_OF_TENSOR = BOOL.replace(trait=Mark.OF_TENSOR)


def answer(thing: AbstractValue) -> AbstractValue:
    """Return the answer to whether a value is a tensor."""
    return _OF_TENSOR if thing.kind == "tensor" and not thing.loose else BOOL


def is_tensor_class(state: State, node: ir.Expr) -> bool:
    """Return whether an expression is torch's class of tensors, maybe by the project's name for it, or a
    tuple of it alone."""
    if isinstance(node, ir.Sequence) and len(node.elements) == 1:
        return is_tensor_class(state, node.elements[0])
    dotted = state.names.dotted(node, state.frame.scope) or ""
    return dotted.endswith(".Tensor") and table.name_like("tensor-annotation").search(dotted) is not None


def asked_for_tensor(state: State, test: ir.Expr) -> ir.Expr | None:
    """`x` of `isinstance(x, torch.Tensor)`, `torch.is_tensor(x)` and `type(x) is torch.Tensor`, and of a name
    that keeps such an answer, if `x` is the same since."""
    match test:
        case ir.Call(func=ir.Name(id="isinstance"), args=(subject, kind)):
            return subject.value if is_tensor_class(state, kind.value) else None
        case ir.Compare(
            left=ir.Call(func=ir.Name(id="type"), args=(subject,)), ops=("==" | "is",), comparators=(kind,)
        ):
            return subject.value if is_tensor_class(state, kind) else None
        case ir.Call(func=func, args=(subject,)):
            asked = state.names.dotted(func, state.frame.scope) == "torch.is_tensor"
            return subject.value if asked else None
        case ir.Name():
            return _asked_before(state, test)
    return None


def _asked_before(state: State, test: ir.Name) -> ir.Expr | None:
    kept = _kept(state, test)
    subject = asked_for_tensor(state, kept.value) if kept is not None and kept.value is not None else None
    if kept is None or not isinstance(subject, ir.Name):
        return None
    # A later assignment reaches the test in the next iteration of a loop.
    loops = [loop.node for loop in state.loops if loop.base == state.base]
    end = next((loop.end for loop in loops if kept.start < loop.start <= test.start < loop.end), test.start)
    since = (b for b in state.frame.scope.bindings.get(subject.id, ()) if kept.end <= b.start < end)
    return None if any(since) else subject


def _kept(state: State, test: ir.Name) -> Binding | None:
    """Return the only assignment of a name, if it is of a call or comparison."""
    found = state.frame.scope.bindings.get(test.id, [])
    alone = [binding.kind for binding in found] == ["value"]
    return found[0] if alone and isinstance(found[0].value, ir.Call | ir.Compare) else None


def denies_tensor(state: State, test: ir.Expr, holds: bool) -> bool:
    """Return whether an outcome of a test says of a tensor that it is none: that branch is for others."""
    match test:
        case ir.Unary(op="not", operand=operand):
            return denies_tensor(state, operand, not holds)
        case ir.Bool(op=op, values=values):
            found = (denies_tensor(state, value, holds) for value in values)
            return any(found) if (op == "and") == holds else all(found)
        case ir.Name():
            kept = state.env.get(test.id) if not holds and _kept(state, test) is not None else None
            return kept is not None and kept.trait is Mark.OF_TENSOR
        case ir.Call() | ir.Compare() if not holds:
            subject = asked_for_tensor(state, test)
            if subject is None or not path_of(subject):
                return False
            thing = state.semantics.evaluate(subject)
            return thing.kind == "tensor" and not thing.loose
    return False


def are_of_python(node: ir.Expr) -> bool:
    """Return whether the types that a test asks for are Python's own."""
    if isinstance(node, ir.Sequence):
        return all(map(are_of_python, node.elements))
    return isinstance(node, ir.Name) and node.id in _OF_PYTHON
