"""Reads of a tensor's elements, one in each iteration of a loop: one copy before the loop serves them all."""

from __future__ import annotations

from collections.abc import Iterator, Set

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of

_WRAPPERS = frozenset({"enumerate", "reversed", "tqdm", "zip"})


def tensor_of_elements(m: State, node: ir.Node) -> str:
    """Return the tensor of the device of which each iteration of a loop takes a different element in `node`,
    and that the loop leaves as it is: `x` of `x[i]` and of `for v in x`; "" where there is none."""
    for loop in m.loops:
        if loop.base != m.base or not loop.node.start <= node.start < loop.node.end:
            continue
        stored = frozenset(_stored(loop.node))
        found = _elements(m, node, _counters(loop.node, node), stored)
        if found and not any(_is_computed(m, part, stored, found) for part in ir.walk(node)):
            return found
    return ""


def _elements(m: State, node: ir.Node, counters: Set[str], stored: Set[str]) -> str:
    for part in ir.walk(node):
        match part:
            case ir.Subscript(value=base, index=index) if any(_names(one) & counters for one in index):
                if _is_kept_tensor(m, base, stored):
                    return path_of(base)
            case ir.Name(id=name) if name in counters:
                for source in _sources(m.loops, name):
                    if _is_kept_tensor(m, source, stored) and not m.env[path_of(source)].loose:
                        return path_of(source)
    return ""


def _is_kept_tensor(m: State, base: ir.Expr, stored: Set[str]) -> bool:
    path = path_of(base)
    if not path or path in stored or path.partition(".")[0] in stored:
        return False
    value: AbstractValue | None = m.env.get(path)
    return value is not None and value.kind == "tensor" and value.place != "host"


def _is_computed(m: State, part: ir.Node, stored: Set[str], source: str) -> bool:
    """Return whether a part of what is read is a tensor that the iterations compute."""
    if not isinstance(part, ir.Name) or part.id not in stored or part.id == source:
        return False
    value = m.env.get(part.id)
    return value is not None and value.kind == "tensor" and not _is_target(m.loops, part.id)


def _is_target(loops: list[Loop], name: str) -> bool:
    return any(isinstance(loop.node, ir.For) and name in _names(loop.node.target) for loop in loops)


def _counters(loop: ir.For | ir.While, inside: ir.Node) -> frozenset[str]:
    """Return the names that differ from iteration to iteration: targets, and what is counted up."""
    found: set[str] = set()
    for part in ir.walk(loop):
        match part:
            case ir.For(target=target) if part.start <= inside.start < part.end:
                found |= _names(target)
            case ir.AugAssign(target=ir.Name(id=name), value=ir.Const()):
                found.add(name)
    return frozenset(found)


def _sources(loops: list[Loop], name: str) -> Iterator[ir.Expr]:
    """Yield the names that the loops take a target from: `x` of `for i, name in enumerate(x)`."""
    for node in (loop.node for loop in loops if isinstance(loop.node, ir.For)):
        if isinstance(node, ir.For) and name in _names(node.target):
            yield from _unwrapped(node.iter)


def _unwrapped(node: ir.Expr) -> Iterator[ir.Expr]:
    match node:
        case ir.Call(func=func, args=args) if path_of(func).rpartition(".")[2] in _WRAPPERS:
            for arg in args:
                yield from _unwrapped(arg.value)
        case ir.Subscript(value=value):
            yield from _unwrapped(value)
        case ir.Name() | ir.Attribute():
            yield node


def _stored(loop: ir.For | ir.While) -> Iterator[str]:
    """Yield the names and paths that the iterations assign to, or write into."""
    for part in ir.walk(loop):
        match part:
            case ir.Assign(targets=targets):
                yield from (path for target in targets for path in _written(target))
            case ir.AugAssign(target=target) | ir.For(target=target):
                yield from _written(target)
            case ir.Call(func=ir.Attribute(value=owner, attr=attr)) if attr.endswith("_"):
                yield path_of(owner)


def _written(target: ir.Expr) -> Iterator[str]:
    match target:
        case ir.Sequence(elements=elements):
            for element in elements:
                yield from _written(element)
        case ir.Subscript(value=value):
            yield from _written(value)
        case ir.Name() | ir.Attribute():
            yield path_of(target)


def _names(node: ir.Node) -> set[str]:
    return {part.id for part in ir.walk(node) if isinstance(part, ir.Name)}
