"""Samples that are moved one by one because each has as many objects as its image or clip shows."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.facts import ChangingShape
from xlamig.flow.interp.domain import LIKELY, AbstractValue, inside
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def record_ragged(m: State, target: ir.Expr, node: ir.Comprehension, made: AbstractValue) -> None:
    """Record a list of the objects of each sample that moves to the device every step, such as
    `[{k: v.to(device) for k, v in t.items()} for t in targets]` and `[x["boxes"].to(device) for x in xs]`."""
    if m.frequency != "step" or node.kind != "list" or len(node.generators) != 1:
        return
    if inside(inside(made)).place == "host" or _is_stacked(m, target):
        return
    samples = node.generators[0]
    match samples.target, node.element:
        case ir.Name(id=sample), ir.Comprehension(kind="dict", value=value, generators=(fields,)) if value:
            listed = table.name_like("objects").search(path_of(samples.iter).rpartition(".")[2])
            if not listed or _base_of_call(fields.iter, "items") != sample or not _moved(value):
                return
            tensor: ir.Expr = samples.iter
        case ir.Name(id=sample), ir.Call() as call:
            moved = _moved(call)
            match moved:
                case ir.Subscript(value=ir.Name(id=name), index=(ir.Const(value=str(key)),)) if (
                    name == sample
                ):
                    if not table.name_like("objects").search(key):
                        return
                case _:
                    return
            tensor = moved
        case _:
            return
    text = short(m.source(tensor))
    m.record(
        ChangingShape,
        node,
        LIKELY,
        (),
        at=m.statement,
        via="batch",
        operation="to",
        tensor=text,
        cause="batch",
    )


def _moved(node: ir.Expr) -> ir.Expr | None:
    """Return `x` of `x.to(device)`."""
    match node:
        case ir.Call(func=ir.Attribute(value=inner, attr=attr)) if attr in table.names("unseen", "moves"):
            return inner
    return None


def _base_of_call(node: ir.Expr, method: str) -> str:
    """Return the path of `x` in `x.items()`."""
    match node:
        case ir.Call(func=ir.Attribute(value=inner, attr=attr)) if attr == method:
            return path_of(inner)
    return ""


def _is_stacked(m: State, target: ir.Expr) -> bool:
    """Return whether the function stacks a list later: its elements have one shape."""
    function = m.frame.scope.node or m.analysis.module
    return re.search(rf"\bstack\(\s*{re.escape(path_of(target))}\b", m.source(function)) is not None
