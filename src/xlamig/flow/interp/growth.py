"""Tensors that are longer after each step: where they grow, and the fact about it."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingShape, Why
from xlamig.flow.interp.domain import AbstractValue, Grown, Made, tensors_in
from xlamig.flow.interp.state import State


def record_growth_of(state: State, value: AbstractValue, name: str) -> None:
    """Report `self.keys = torch.cat([self.keys, k])`, which makes `name` longer every step."""
    if state.frequency != "step":
        return
    for tensor in tensors_in(value):
        if tensor.trait == Grown(name) and tensor.ref and not tensor.loop:  # of a loop: the loop tells
            record_growth(state, tensor, tensor.sure, (), "every step")


def record_returned_growth(state: State, value: AbstractValue) -> None:
    """Report `return torch.cat([past, k])`: the caller gives it back in the next step."""
    function = state.frame.scope.node
    if state.frequency == "step" and not state.loops and isinstance(function, ir.FunctionDef):
        for param in function.params:
            record_growth_of(state, value, param.name)


def record_growth(
    state: State,
    thing: AbstractValue,
    sure: int,
    why: tuple[Why, ...],
    when: str,
    loop: tuple[ir.Node, bool] | None = None,
) -> None:
    """Report where a tensor grows: in a loop, of which is known whether its iterations are steps that end."""
    assert isinstance(thing.trait, Grown) and isinstance(thing.ref, Made)
    node, statement, operation = thing.ref
    via = "pad" if operation.endswith("pad") else "concat"
    use = ""
    if loop is not None:
        collected = _is_collected(loop[0], node, thing.trait.name)
        use = "collected" if collected else "" if loop[1] else "open"
    grows = Why(f"the result is longer than before {when}".rstrip(), (node.start, node.end))
    state.record(
        ChangingShape,
        node,
        sure,
        (*thing.why, grows, *why),
        at=statement,
        via=via,
        operation=operation,
        tensor=thing.trait.name.lstrip("."),
        cause="length",
        use=use,
    )


def _is_collected(loop: ir.Node, growing: ir.Node, name: str) -> bool:
    """Return whether a loop uses a variable nowhere but where it grows, and where its size is asked."""
    asked = [n for n in ir.walk(loop) if _asks_size(n)]
    uses = (n for n in ir.walk(loop) if isinstance(n, ir.Name) and n.id == name)
    targets = [t for n in ir.walk(loop) if isinstance(n, ir.Assign) for t in n.targets]
    known = (*asked, *targets, growing)
    return name.isidentifier() and all(any(ir.encloses(place, use) for place in known) for use in uses)


def _asks_size(node: ir.Node) -> bool:
    match node:
        case ir.Call(func=ir.Name(id="len")) | ir.Attribute(attr="shape" | "size" | "numel"):
            return True
        case ir.Compare(ops=("is",) | ("is not",), comparators=(ir.Const(value=None),)):
            return True
    return False
