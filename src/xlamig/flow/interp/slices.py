"""Slices of tensors: those that a tuple holds, and `x[:, -n:]` where the dimension may be shorter than `n`,
where Python and the CPU clamp the bound and XLA raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache

from xlamig import ir
from xlamig.facts import NegativeSlice, Why
from xlamig.flow.interp.domain import (
    FOREIGN,
    LIKELY,
    MISSING,
    NUMBER,
    POSSIBLE,
    AbstractValue,
    Mark,
    element_of,
    join_all,
)
from xlamig.flow.interp.reads import sureness
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.only_calls import arguments, only_call
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_NO_NAME = "<none>"  # of a tensor that a function does not use
_MAX_CALLERS = 3  # of one another
_SIZE = re.compile(r"\.shape\b|\.size\(|\blen\(|\bmin\(")
_EMPTY = re.compile(r"None|[\w.]*\b(tensor|empty|zeros|new_empty|new_zeros)\((\[\]|\(?([^()]*, *)?0 *[,)]).*")


def unpacked(node: ir.Subscript, index: list[AbstractValue]) -> tuple[ir.Subscript, list[AbstractValue]]:
    """Return a subscript of a tensor and its indices: those in the tuple of `x[(slice(None), i)]`; lists pick
    rows."""
    part, value = node.index[0], index[0]
    if len(index) > 1 or value.kind != "sequence" or value.trait is Mark.SLICE:
        return node, index
    written = part.elements if isinstance(part, ir.Sequence) and part.kind == "tuple" else ()
    items = value.items or ()
    if value.trait is Mark.INDEX:
        items = (FOREIGN, element_of(value))  # any number of dimensions
    elif not items or not (written or indexes(items)):
        return node, index
    nodes = written if len(written) == len(items) else (part,) * len(items)
    return ir.Subscript(node.start, node.end, node.value, nodes), list(items)


def indexes(parts: Sequence[AbstractValue]) -> bool:
    """Return whether a tuple of these parts indexes a tensor: a slice is among them."""
    return any(part.trait is Mark.SLICE for part in parts)


def index_of(parts: Sequence[AbstractValue]) -> AbstractValue:
    """Return the value of a tuple of which it is not known how many positions and slices it holds."""
    bounds = [
        bound for part in parts for bound in (part.items or () if part.trait is Mark.SLICE else (part,))
    ]
    numbers = [bound for bound in bounds if bound.kind == "number"]
    return AbstractValue("sequence", element=join_all(numbers, empty=NUMBER), trait=Mark.INDEX)


def keeps_dimension(part: ir.Expr, value: AbstractValue) -> bool:
    """Return whether an index keeps its dimension, or adds one."""
    return value.trait is Mark.SLICE or (isinstance(part, ir.Const) and part.value in (None, ...))


def bounds_of(part: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Return the expressions of the start and the end of a slice: `slice(i, j)` stands for both."""
    lower, upper = (part.lower, part.upper) if isinstance(part, ir.Slice) else (part, part)
    return lower or part, upper or part


class Slices:
    """Records slices whose start, counted from the end, is a number that is not known."""

    def __init__(self, state: State) -> None:
        self.m = state

    def record(self, node: ir.Subscript, part: ir.Slice, base: AbstractValue, access: str) -> None:
        """Record a slice that counts back from an end, where the dimension may be shorter."""
        bound = part.lower
        if bound is None or not sureness(base) or base.kind != "tensor" or not _counts_back(bound):
            return
        if _SIZE.search(self.m.source(bound)) or self._compares_size(node, bound):
            return
        if _is_known(node, part, base):
            return
        growing = base.cause == "growing" or self._grows(node)
        why = (Why("the tensor begins shorter and grows", (node.value.start, node.value.end)),)
        if not growing and (filled := self._filled(node, bound, base)) is not None:
            growing = True
            why = (Why("this fills up what a shorter tensor lacks", (filled.start, filled.end)),)
        self.m.record(
            NegativeSlice,
            node,
            LIKELY if growing else POSSIBLE,
            why if growing else base.why,
            access=access,
            tensor=short(self.m.source(node.value)),
            number=short(self.m.source(bound)),
            growing=growing,
            parts={"bound": (bound.start, bound.end)},
        )
        if start := self._clamped(node, part, bound):
            self.m.recorder.prove(node, {"start": start})

    def moved(self, part: ir.Expr, ends: Sequence[AbstractValue]) -> str:
        """Return how numbers move the bounds of a slice: one of them, both together, or each on its own, as
        two random numbers of which the end is not computed from the start do."""
        if any(end.kind == "none" or end.const is not MISSING for end in ends):
            return "length"
        start, end = bounds_of(part)
        drawn = all(bound.kind == "number" and bound.cause == "random" for bound in ends)
        inside = {self.m.source(node) for node in ir.walk(end)}
        return "window" if drawn and self.m.source(start) not in inside else "slice"

    def _compares_size(self, node: ir.Subscript, bound: ir.Expr) -> bool:
        """Return whether the function, the one around its only call, or one that returns the tensor or the
        bound compares the tensor's size with something, or takes the bound from a size."""
        tensor, function = self.m.source(node.value), self._function()
        bounds = {path for n in ir.walk(bound) if isinstance(n, ir.Expr) and (path := path_of(n))}
        for names, callee in self._returned(function):
            inner = {names[path] for path in bounds & names.keys()}
            if self._is_compared(names.get(tensor, _NO_NAME), inner, callee):
                return True
        for _ in range(_MAX_CALLERS):
            if self._is_compared(tensor, bounds, function):
                return True
            found = only_call(self.m.analysis.module, function)
            if found is None:
                return False
            call, function = found
            names = {param: self.m.source(value) for param, value in call.items()}
            tensor = _renamed(tensor, names)
            bounds = {_renamed(path, names) for path in bounds}
        return False

    def _returned(self, function: ir.Node) -> Iterator[tuple[Mapping[str, str], ir.Node]]:
        """Yield the functions of the module whose results a function keeps, each with the names there of what
        this one gives it and gets back."""
        for node in ir.walk(function):
            match node:
                case ir.Assign(targets=(target,), value=ir.Call() as call):
                    found = function_behind(call, self.m.frame.scope)
                case _:
                    continue
            last = found[0].body[-1] if found is not None else None
            if found is None or not isinstance(last, ir.Return) or last.value is None:
                continue
            given = {self.m.source(value): name for name, value in arguments(call, found[0]).items()}
            pairs = zip(_parts(target), _parts(last.value), strict=False)
            yield given | {self.m.source(one): self.m.source(other) for one, other in pairs}, found[0]

    def _is_compared(self, tensor: str, bounds: Set[str], function: ir.Node) -> bool:
        name = re.escape(tensor)
        own_size = re.compile(rf"(?<![\w.]){name}(\.shape\b|\.size\()|\blen\({name}\)")
        assigned = _assignments(function)
        sizes = {path for path, value in assigned if own_size.search(self.m.source(value))}
        if any(path in bounds and _SIZE.search(self.m.source(value)) for path, value in assigned):
            return True
        return any(
            own_size.search(self.m.source(test))
            or sizes & {path_of(n) for n in ir.walk(test) if isinstance(n, ir.Expr)}
            for test in _tests(function)
        )

    def _filled(self, node: ir.Subscript, bound: ir.Expr, base: AbstractValue) -> ir.Node | None:
        """Return what the function makes on the device of a tensor to fill up what a shorter slice lacks:
        `torch.zeros(n - x.shape[1], device=x.device)` below `x = x[:, -n:]`."""
        count = bound.operand if isinstance(bound, ir.Unary) and bound.op == "-" else None
        made = [path for path, value in self._assigned() if value is node]
        if count is None or not made or sureness(base) < LIKELY:
            return None
        size = re.escape(made[0])
        lacking = re.compile(
            rf"{re.escape(self.m.source(count))} ?- ?({size}(\.shape\[|\.size\()|len\({size}\))"
        )
        for call in (part for part in ir.walk(self._function()) if isinstance(part, ir.Call)):
            on_device = base.place == "device" or any(arg.keyword == "device" for arg in call.args)
            if (
                on_device
                and call.start > node.end
                and any(lacking.search(self.m.source(a)) for a in call.args)
            ):
                return call
        return None

    def _grows(self, node: ir.Subscript) -> bool:
        """Return whether the tensor is appended to: in a loop, or from one call to the next."""
        tensor = path_of(node.value)
        joins = [(path, value) for path, value in self._assigned() if _joins(value)]
        if any(path == tensor and path in _operands(value) for path, value in joins):
            return any(_within(node, loop) for loop in self._loops())
        made = [value for path, value in joins if path == tensor] or [node.value]
        kept = _operands(made[-1]) if _joins(made[-1]) else frozenset()
        everywhere = _assignments(self.m.analysis.module) if kept else ()
        return any(path in kept and _EMPTY.fullmatch(self.m.source(value)) for path, value in everywhere)

    def _clamped(self, node: ir.Subscript, part: ir.Slice, bound: ir.Expr) -> str:
        """Return the same start, clamped; "" where the dimension or the tensor has no simple name."""
        tensor = path_of(node.value)
        parts = [p for p in node.index if not (isinstance(p, ir.Const) and p.value is None)]
        place = parts.index(part)
        simple = all(isinstance(p, ir.Slice) or _is_ellipsis(p) for p in parts)
        if not tensor or not simple:
            return ""
        dimension = place - len(parts) if any(map(_is_ellipsis, parts[:place])) else place
        return f"max({self.m.source(bound)}, -{tensor}.shape[{dimension}])"

    def _function(self) -> ir.Node:
        return self.m.frame.scope.node or self.m.analysis.module

    def _assigned(self) -> tuple[tuple[str, ir.Expr], ...]:
        return _assignments(self._function())

    def _loops(self) -> Iterator[ir.Node]:
        return (n for n in ir.walk(self._function()) if isinstance(n, ir.For | ir.While))


def _parts(node: ir.Expr) -> tuple[ir.Expr, ...]:
    return node.elements if isinstance(node, ir.Sequence) else (node,)


def _renamed(path: str, names: Mapping[str, str]) -> str:
    """Return what a caller calls a path of names of the function that it calls."""
    first, dot, rest = path.partition(".")
    return f"{names.get(first, first)}{dot}{rest}"


def _is_known(node: ir.Subscript, part: ir.Slice, base: AbstractValue) -> bool:
    """Return whether the dimension is known to be as long as a bound that is written out."""
    place = node.index.index(part)
    if base.shape is None or place >= len(base.shape) or any(map(_is_ellipsis, node.index[:place])):
        return False
    match part.lower, base.shape[place]:
        case ir.Const(value=int(start)), int(size):
            return -start <= size
    return False


def _counts_back(bound: ir.Expr) -> bool:
    """Return whether a bound is written as minus something, `-n` or `-n + 1`, but not as -1."""
    match bound:
        case ir.Const(value=int(number)):
            return number < -1
        case ir.Unary(op="-", operand=operand):
            return not isinstance(operand, ir.Const) or operand.value != 1
        case ir.Binary(op="+" | "-", left=left):
            return _counts_back(left)
    return False


@per_file
@lru_cache
def _assignments(root: ir.Node) -> tuple[tuple[str, ir.Expr], ...]:
    """Return each path that is assigned to, with the value."""
    assigned = (node for node in ir.walk(root) if isinstance(node, ir.Assign))
    return tuple(
        (path, node.value) for node in assigned for target in node.targets if (path := path_of(target))
    )


@per_file
@lru_cache
def _tests(root: ir.Node) -> tuple[ir.Expr, ...]:
    tests = (node for node in ir.walk(root) if isinstance(node, ir.If | ir.IfExp | ir.While | ir.Assert))
    return tuple(node.test for node in tests)


def _operands(join: ir.Expr) -> frozenset[str]:
    return frozenset(path_of(n) for n in ir.walk(join) if isinstance(n, ir.Name | ir.Attribute)) - {""}


def _within(node: ir.Node, outer: ir.Node) -> bool:
    return outer.start <= node.start < outer.end


def _joins(value: ir.Expr) -> bool:
    """Return whether a value is longer than what it is made of: a join, or `F.pad(mask, (0, 1))`."""
    if not isinstance(value, ir.Call):
        return False
    name = path_of(value.func).rpartition(".")[2]
    amounts = value.args[1].value if name == "pad" and len(value.args) > 1 else None
    padded = amounts.elements if isinstance(amounts, ir.Sequence) else ()
    return name in table.names("torch", "concat") or any(
        isinstance(n, ir.Const) and n.value not in (0, False) for n in padded
    )


def _is_ellipsis(part: ir.Expr) -> bool:
    return isinstance(part, ir.Const) and part.value is ...
