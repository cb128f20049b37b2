"""Reads of a tensor's elements, one in each iteration of a loop: one copy before the loop serves them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from xlamig import ir
from xlamig.flow.interp.carried_names import names_in
from xlamig.flow.interp.domain import AbstractValue, element_of
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.same_reads import is_unchanged
from xlamig.flow.interp.state import State
from xlamig.flow.interp.stored_paths import StoredPaths, stored_in
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of

_Header = tuple[ir.Expr, ir.Expr]
"""The target of a loop, and what it goes through."""
_DEPTH = 3  # names that stand for one another
_WRAPPERS = frozenset({"enumerate", "reversed", "tqdm", "zip"})


@dataclass(frozen=True, slots=True)
class LoopNames:
    """The names that the iterations of a loop bind: `stored` are those and the paths that they assign to or
    write into, `counted` those that they count up; `inner` are this loop and those in it, where they have
    targets."""

    stored: frozenset[str]
    counted: frozenset[str]
    inner: tuple[ir.For, ...]

    @classmethod
    def of(cls, loop: ir.For | ir.While) -> LoopNames:
        """Return the names of a loop."""
        parts = tuple(ir.walk(loop))
        return cls(
            frozenset(stored_in(loop).by_path),
            frozenset(part.target.id for part in parts if isinstance(part, ir.AugAssign)
                      and isinstance(part.target, ir.Name) and isinstance(part.value, ir.Const)),
            tuple(part for part in parts if isinstance(part, ir.For)),
        )  # fmt: skip

    def changing(self, place: ir.Node) -> Set[str]:
        """Return the names at `place` that differ from iteration to iteration."""
        targets = (names_in(loop.target) for loop in self.inner if ir.encloses(loop, place))
        return self.counted.union(*targets)


class ElementReads:
    """Finds the tensors that loops read element by element."""

    def __init__(self, state: State) -> None:
        self.m = state
        self._names: dict[int, LoopNames] = {}  # of the loops that were asked for: the same for each read

    def tensor(self, node: ir.Node) -> str:
        """Return the tensor of the device of which each iteration of a loop or comprehension takes another
        element in `node`, and that the loop leaves as it is: `x` of `x[i]` and of `for v in x`; "" where
        there is none."""
        for made in ir.walk(self.m.statement):
            if isinstance(made, ir.Comprehension) and ir.encloses(made, node):
                headers = [(generator.target, generator.iter) for generator in made.generators]
                counters = frozenset[str]().union(*(names_in(target) for target, _ in headers))
                if found := _elements(self.m, node, counters, frozenset(), headers):
                    return found
        for loop in self.m.loops_around(node):
            names = self._names_of(loop)
            headers = _headers(self.m.loops)
            changing = names.changing(node)
            found = _elements(self.m, node, changing, names.stored, headers)
            rows = {} if found else _Rows(self.m, loop.node, names).of(node)
            for value in rows.values():
                found = found or _elements(self.m, value, changing, names.stored, headers)
            parts = (part for part in ir.walk(node) if not isinstance(part, ir.Name) or part.id not in rows)
            if found and not any(_is_computed(self.m, part, names.stored, found) for part in parts):
                return found
        return ""

    def is_unchanged(self, node: ir.Node) -> bool:
        """Return whether every iteration of the innermost loop or comprehension reads the same value."""
        made = [
            part
            for part in ir.walk(self.m.statement)
            if isinstance(part, ir.Comprehension) and ir.encloses(part.element, node)
        ]
        if made:
            targets = frozenset[str]().union(*(names_in(part.target) for part in made[-1].generators))
            stored = StoredPaths((name, made[-1]) for name in targets)
            return is_unchanged(self.m, node, made[-1], stored)
        around = self.m.loops_around(node)
        if not around:
            return False
        return is_unchanged(self.m, node, around[-1].node, stored_in(around[-1].node))

    def _names_of(self, loop: Loop) -> LoopNames:
        names = self._names.get(loop.id)
        if names is None:
            names = self._names[loop.id] = LoopNames.of(loop.node)
        return names


class _Rows:
    """Finds what names stand for that an iteration takes out of a tensor: `t` after `t = x[i, j]`, also
    after `t = t[1:]`."""

    def __init__(self, state: State, loop: ir.For | ir.While, names: LoopNames) -> None:
        self.m, self.loop, self.names = state, loop, names

    def of(self, node: ir.Node) -> dict[str, ir.Expr]:
        """Return the elements and rows that the names in an expression stand for, if these are all tensors
        that the iteration makes."""
        found: dict[str, ir.Expr] = {}
        for part in ir.walk(node):
            if not isinstance(part, ir.Name) or part.id not in self.names.stored:
                continue
            if (row := self._row(part, part.start, _DEPTH)) is not None:
                found.setdefault(part.id, row)
        return found

    def _row(self, node: ir.Expr, before: int, depth: int) -> ir.Expr | None:
        """Return the subscript of a tensor that an expression is a part of."""
        match node:
            case ir.Name(id=name) if depth:
                made = self._last_assignment(name, before)
                return None if made is None else self._row(made.value, made.start, depth - 1)
            case ir.Subscript(value=ir.Name(id=name)) if name in self.names.stored:
                return self._row(node.value, before, depth)
            case ir.Subscript():
                return node
            case ir.IfExp(body=body, orelse=orelse):
                rows = [self._row(side, before, depth) for side in (body, orelse)]
                return rows[0] if None not in rows and rows[0] is rows[1] else None
        return None

    def _last_assignment(self, name: str, before: int) -> ir.Assign | None:
        """Return what gives a name its value above a place; None where a branch may give it another."""
        stores = stored_in(self.loop).by_path.get(name, ())
        made = [part for part in stores if part.start < before and isinstance(part, ir.Stmt)]
        last = max(made, key=lambda part: part.start, default=None)
        match last:
            case ir.Assign(targets=(ir.Name(id=target),)) if target == name and self._is_above(last, before):
                return last
        return None

    def _is_above(self, statement: ir.Stmt, before: int) -> bool:
        """Return whether a statement runs whenever a place below it does: one that its block holds too."""
        around = [*ir.path_down(self.loop, statement)]
        blocks = ir.blocks_of(around[-1]) if around else ()
        return any(any(part is statement for part in block) and before < block[-1].end for block in blocks)


def _elements(
    m: State, node: ir.Node, counters: Set[str], stored: Set[str], headers: Iterable[_Header]
) -> str:
    for part in ir.walk(node):
        match part:
            case ir.Subscript(value=base, index=index) if any(names_in(one) & counters for one in index):
                if _is_kept_tensor(m, base, stored) and not _has_keys(m, base, index, counters):
                    return path_of(base) or short(m.source(base))
            case ir.Name(id=name) if name in counters:
                for source in _sources(headers, name):
                    if _is_kept_tensor(m, source, stored) and not m.env[path_of(source)].loose:
                        return path_of(source)
    return ""


def _is_kept_tensor(m: State, base: ir.Expr, stored: Set[str]) -> bool:
    listed = _list_of(base)
    path = path_of(listed or base)
    if not path or path in stored or path.partition(".")[0] in stored:
        return False
    value: AbstractValue | None = m.env.get(path)
    if listed is not None:
        value = element_of(value) if value is not None and value.kind == "sequence" else None
    return value is not None and value.kind == "tensor" and value.place != "host"


def _has_keys(m: State, base: ir.Expr, index: Sequence[ir.Expr], counters: Set[str]) -> bool:
    """Return whether what may be a mapping is asked for what no loop counts: its keys, most likely."""
    value = m.env.get(path_of(base))
    counted = (m.env.get(name) for one in index for name in names_in(one) & counters)
    return value is not None and value.loose and any(one is None or one.kind != "number" for one in counted)


def _list_of(base: ir.Expr) -> ir.Expr | None:
    """Return `tokens` of `tokens[-1]`, an element that is the same in every iteration."""
    match base:
        case ir.Subscript(value=listed, index=(ir.Const() | ir.Unary(operand=ir.Const()),)):
            return listed
    return None


def _is_computed(m: State, part: ir.Node, stored: Set[str], source: str) -> bool:
    """Return whether a part of what is read is a tensor that the iterations compute."""
    if not isinstance(part, ir.Name) or part.id not in stored or part.id == source:
        return False
    value = m.env.get(part.id)
    return value is not None and value.kind == "tensor" and not _is_target(m.loops, part.id)


def _is_target(loops: list[Loop], name: str) -> bool:
    return any(isinstance(loop.node, ir.For) and name in names_in(loop.node.target) for loop in loops)


def _headers(loops: Iterable[Loop]) -> list[_Header]:
    return [(loop.node.target, loop.node.iter) for loop in loops if isinstance(loop.node, ir.For)]


def _sources(headers: Iterable[_Header], name: str) -> Iterator[ir.Expr]:
    """Yield the names that loops take a target from: `x` of `for i, name in enumerate(x)`."""
    for target, iterable in headers:
        if name in names_in(target):
            yield from _unwrapped(_drawn_from(target, iterable, name))


def _drawn_from(target: ir.Expr, iterable: ir.Expr, name: str) -> ir.Expr:
    """Return the sequence that a target's name is an element of: `y` for `b` of `a, b` in `zip(x, y)`."""
    match target, iterable:
        case ir.Sequence(elements=elements), ir.Call(func=ir.Name(id="zip"), args=args):
            if len(elements) == len(args) and not any(arg.star for arg in args):
                pairs = zip(elements, args, strict=True)
                return next((arg.value for part, arg in pairs if name in names_in(part)), iterable)
        case ir.Sequence(elements=(_, element)), ir.Call(func=ir.Name(id="enumerate"), args=(arg, *_)):
            return _drawn_from(element, arg.value, name) if name in names_in(element) else iterable
    return iterable


def _unwrapped(node: ir.Expr) -> Iterator[ir.Expr]:
    match node:
        case ir.Call(func=func, args=args) if path_of(func).rpartition(".")[2] in _WRAPPERS:
            for arg in args:
                yield from _unwrapped(arg.value)
        case ir.Subscript(value=value):
            yield from _unwrapped(value)
        case ir.Name() | ir.Attribute():
            yield node
