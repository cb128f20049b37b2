"""The names whose tensors a block moves to a device further down, statement by statement.

A backward analysis: a name that is moved below was on the host before, and so was what it is computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.tensor_methods import keeps_kind
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

Names = frozenset[str]
_NONE: Names = frozenset()
_ELSEWHERE = frozenset({"cpu", "to", "cuda", "xla", "type", "type_as"})
_TENSORS = frozenset({"tensor", "tensors"})
_AROUND = frozenset(
    {
        "isinstance", "list", "tuple", "dict", "type", "len", "zip", "map", "hasattr", "getattr", "items",
        "keys", "values", "append", "is_available", "is_tensor", "range", "enumerate", "Variable", "device",
        "contiguous", "pin_memory", "current_device",
    }
)  # fmt: skip
"""Calls that a function which only moves things makes around the moves."""
_PASSED_ON = frozenset({"Variable", "torch.autograd.Variable", "zip", "enumerate", "list", "tuple", "map"})


class MovedBelow:
    """Finds the names that one function or module moves. `is_move` tells whether a call of a function moves
    its arguments, `keeps_place` whether one leaves them where they are, and what it makes of them;
    `returns_moved` whether callers move what it returns."""

    def __init__(
        self,
        body: ir.Block,
        text: str,
        is_move: Callable[[ir.Call], bool],
        keeps_place: Callable[[ir.Call], bool],
        returns_moved: bool = False,
    ) -> None:
        self._text = text
        self._is_move, self._keeps_place = is_move, keeps_place
        self._returns_moved = returns_moved
        self._after: dict[int, Names] = {}
        self.at_entry = self._block(body, _NONE)

    def after(self, statement: ir.Stmt) -> Names:
        """Return the names that are moved below a statement, those in it included if it holds others."""
        return self._after.get(statement.start, _NONE)

    # ------------------------------------------------------------------ statements

    def _block(self, body: ir.Block, after: Names) -> Names:
        for statement in reversed(body):
            self._after[statement.start] = after
            after = self._before(statement, after)
        return after

    def _before(self, node: ir.Stmt, after: Names) -> Names:
        match node:
            case ir.Assign(targets=targets, value=value):
                return self._assigned(targets, value, after)
            case ir.AnnAssign(target=target, value=ir.Expr() as value):
                return self._assigned((target,), value, after)
            case ir.AugAssign(target=ir.Name(id=name), value=value):
                held = self._operands(value) if name in after else ()
                return after.union(held, self._moved(value))
            case ir.If(test=test, body=body, orelse=orelse):
                inside = self._block(body, after) | self._block(orelse, after)
                return after if _asks_where(self._source(test)) else inside
            case ir.For(target=target, iter=source, body=body, orelse=orelse):
                self._after[node.start] = inside = self._block(body, after) | after
                own = frozenset(names_of(target))
                held = self._operands(source) if own & inside else ()
                return (inside - own).union(held, self._moved(source), self._block(orelse, after))
            case ir.While(body=body, orelse=orelse):
                return self._block(body, after) | self._block(orelse, after) | after
            case ir.With(items=items, body=body):
                self._after[node.start] = inside = self._block(body, after)
                return inside.union(*(self._moved(item.value) for item in items))
            case ir.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                end = self._block(final, after)
                caught = [self._block(handler.body, end) for handler in handlers]
                return self._block(body, self._block(orelse, end)).union(*caught)
            case ir.Match(cases=cases):
                return after.union(*(self._block(case.body, after) for case in cases))
            case ir.Return(value=value):
                held = self._operands(value) if value is not None and self._returns_moved else ()
                return frozenset(held).union(self._moved(value) if value is not None else ())
            case ir.Raise() | ir.Jump(kind="break" | "continue"):
                return _NONE
            case ir.FunctionDef(name=name) | ir.ClassDef(name=name):
                return after - {name}
            case ir.ExprStmt(value=value):
                return after.union(self._moved(value))
        return after

    def _assigned(self, targets: Iterable[ir.Expr], value: ir.Expr, after: Names) -> Names:
        own = frozenset(name for target in targets for name in names_of(target))
        held: set[str] = set()
        for target in targets:
            for part, source in _pairs(target, value):
                if not after.isdisjoint(names_of(part)):
                    held.update(self._operands(source))
        return (after - own).union(held, self._moved(value))

    # ------------------------------------------------------------------ expressions

    def _moved(self, value: ir.Expr) -> Iterator[str]:
        """Yield the names whose tensors an expression moves."""
        for node in ir.walk(value):
            match node:
                case ir.Call(func=ir.Attribute(value=owner)) if _moves_owner(node, self._is_device):
                    yield from self._operands(owner)
                case ir.Call(args=args) if self._is_move(node):
                    yield from (name for arg in args for name in self._operands(arg.value))
                case ir.Call(func=ir.Name(id="map"), args=(ir.Arg(value=ir.Lambda() as each), *given)):
                    if not {param.name for param in each.params}.isdisjoint(self._moved(each.body)):
                        yield from (name for arg in given for name in self._operands(arg.value))
                case ir.Comprehension(generators=(ir.Generator(target=target, iter=source), *_)):
                    inner = (part for part in (node.element, node.value) if part is not None)
                    if not set(names_of(target)).isdisjoint(n for part in inner for n in self._moved(part)):
                        yield from self._operands(source)

    def _is_device(self, node: ir.Expr) -> bool:
        """Return whether an argument of `to` is a device that the program chose: where another tensor is,
        `y.device`, this one may be as well."""
        match node:
            case ir.Const(value=str() as text):
                return text.startswith(("cuda", "xla"))
            case ir.Name(id=name):
                return table.name_like("device").search(name) is not None
            case ir.Call(func=func):
                return path_of(func).rpartition(".")[2] in ("xla_device", "device") and "cpu" not in (
                    self._source(node)
                )
        owner, _, last = path_of(node).rpartition(".")
        chooser = owner.rpartition(".")[2]
        settles = chooser == "self" or any(
            table.name_like(kind).search(chooser) for kind in ("settings", "module")
        )
        return settles and table.name_like("device").search(last) is not None

    def _operands(self, node: ir.Expr) -> Iterator[str]:
        """Yield the names of the tensors that an expression is computed from, on the device they are on."""
        match node:
            case ir.Name(id=name):
                yield name
            case ir.Binary(left=left, right=right):
                yield from self._operands(left)
                yield from self._operands(right)
            case ir.Compare(left=left, comparators=comparators):
                for part in (left, *comparators):
                    yield from self._operands(part)
            case ir.Unary(operand=inner) | ir.Subscript(value=inner) | ir.Starred(value=inner):
                yield from self._operands(inner)
            case ir.Attribute(value=inner, attr="data" | "T"):
                yield from self._operands(inner)
            case ir.IfExp(body=body, orelse=orelse):
                yield from self._operands(body)
                yield from self._operands(orelse)
            case ir.Sequence(elements=elements):
                for part in elements:
                    yield from self._operands(part)
            case ir.Call(func=ir.Attribute(value=inner, attr=attr)) if attr not in _ELSEWHERE and keeps_kind(
                attr
            ):
                yield from self._operands(inner)
            case ir.Call(args=args) if _is_of_operands(node) or self._keeps_place(node):
                for arg in args:
                    yield from self._operands(arg.value)

    def _source(self, node: ir.Node) -> str:
        return self._text[node.start : node.end]


def moves_arguments(function: ir.FunctionDef, by_name: bool = False) -> bool:
    """Return whether a function does nothing but move what it is given; `by_name` if its name says so."""
    calls = [node for node in ir.walk(function) if isinstance(node, ir.Call)]
    moves = [call for call in calls if _moves_owner(call, _may_be_device)]
    inner = {node.name for node in ir.walk(function) if isinstance(node, ir.FunctionDef)}
    others = (path_of(call.func).rpartition(".")[2] for call in calls if call not in moves)
    return bool(moves) and (by_name or inner.union(_AROUND).issuperset(others))


def names_called(function: ir.Node) -> Iterator[str]:
    """Yield the last words of what a function calls."""
    for node in ir.walk(function):
        if isinstance(node, ir.Call):
            yield node.func.attr if isinstance(node.func, ir.Attribute) else path_of(node.func)


def _moves_owner(node: ir.Call, is_device: Callable[[ir.Expr], bool]) -> bool:
    """Return whether a call is `x.cuda()`, or `x.to(device)`."""
    name = node.func.attr if isinstance(node.func, ir.Attribute) else ""
    named = [arg.value for arg in node.args if arg.keyword in (None, "device") and not arg.star][:1]
    return name in ("cuda", "xla") or (name == "to" and any(map(is_device, named)))


def _may_be_device(node: ir.Expr) -> bool:
    return not (isinstance(node, ir.Const) and node.value == "cpu")


def _is_of_operands(node: ir.Call) -> bool:
    """Return whether a call computes tensors from its arguments, on the device they are on."""
    path = path_of(node.func)
    if path in _PASSED_ON:
        return True
    made = signatures.returns(path) if path.startswith("torch.") else frozenset()
    elsewhere = path.rpartition(".")[2] in table.names("sizes", "from-lists")
    return bool(made) and made <= _TENSORS and not elsewhere and all(a.keyword != "device" for a in node.args)


def _asks_where(test: str) -> bool:
    """Return whether a test asks where a tensor is: what it guards says nothing of where it was."""
    return ".is_cuda" in test or ".device" in test


def names_of(target: ir.Expr) -> Iterator[str]:
    """Yield the names that a target gives a value."""
    return (name.id for name in ir.target_names(target))


def _pairs(target: ir.Expr, value: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield what is assigned to what: of `x, y = a, b` each part by itself."""
    match target, value:
        case ir.Sequence(elements=targets), ir.Sequence(elements=values) if len(targets) == len(values):
            yield from zip(targets, values, strict=True)
        case _:
            yield target, value
