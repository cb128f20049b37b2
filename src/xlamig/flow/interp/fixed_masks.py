"""Masks that are made of constants and sizes alone: they select as many elements in every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache

from xlamig import ir
from xlamig.flow.interp.state import State
from xlamig.flow.model.local_values import only_result
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_DEPTH = 48  # expressions, one in or behind the other
_SIZED = frozenset({"shape", "ndim", "dtype", "device"})
_ASKS_SIZE = frozenset({"size", "dim", "numel", "nelement", "len"})
_MOVES = frozenset({"to", "cuda", "cpu", "type", "type_as", "astype", "expand_as", "view_as", "reshape_as"})
_RANGES = frozenset({"range", "len", "int", "bool", "abs", "min", "max"})
_PACKAGES = ("torch.", "numpy.")
_STATES = ("torch.cuda.", "torch.random.", "torch.distributed.", "numpy.random.")


def fixed_mask(m: State, mask: ir.Expr) -> bool:
    """Return whether a mask is made of constants and sizes: `~torch.eye(n, dtype=torch.bool)`, also by names,
    attributes that `__init__` sets, and functions of the module."""
    return _Mask(m).is_fixed(mask, m.frame.scope)


class _Mask:
    """`seen` are the names that are followed already: nothing else they stand for changes the answer."""

    def __init__(self, state: State) -> None:
        self.m = state
        self.seen: set[tuple[int, str]] = set()
        self.depth = 0

    def is_fixed(self, node: ir.Node, scope: Scope, size: bool = False) -> bool:
        """Return whether an expression is the same in every step as long as the shapes are; a name of which
        nothing else is known is a number where it is a `size`."""
        self.depth += 1
        try:
            return self.depth < _DEPTH and self._is_fixed(node, scope, size)
        finally:
            self.depth -= 1

    def _are_fixed(self, nodes: Iterable[ir.Node], scope: Scope, size: bool = False) -> bool:
        return all(self.is_fixed(node, scope, size) for node in nodes)

    def _is_fixed(self, node: ir.Node, scope: Scope, size: bool) -> bool:
        match node:
            case ir.Const() | ir.BigLiteral():
                return True
            case ir.Attribute(attr=attr) if attr in _SIZED:
                return True
            case ir.Attribute(value=value, attr="T" | "mT"):
                return self.is_fixed(value, scope)
            case ir.Name() | ir.Attribute() if path := path_of(node):
                return self._is_fixed_name(node, path, scope, size)
            case ir.Call():
                return self._is_fixed_call(node, scope)
            case ir.Comprehension(element=element, value=None, generators=generators):
                return self._is_counted(element, generators, scope)
            case (
                ir.Sequence()
                | ir.Slice()
                | ir.Unary()
                | ir.Binary()
                | ir.Compare()
                | ir.Subscript()
                | ir.Arg()
            ):
                return self._are_fixed(ir.children(node), scope, size)
        return False

    def _is_counted(self, element: ir.Expr, generators: tuple[ir.Generator, ...], scope: Scope) -> bool:
        """Return whether a comprehension makes fixed elements, as many as a fixed `range` counts."""
        counted = {path_of(part.target) for part in generators}
        if "" in counted or any(
            part.ifs or not _counts(part.iter) or scope.find(path_of(part.target)) for part in generators
        ):
            return False
        self.seen |= {(id(scope), name) for name in counted}
        return self._are_fixed((element, *(part.iter for part in generators)), scope)

    def _is_fixed_call(self, node: ir.Call, scope: Scope) -> bool:
        func = node.func
        args = [arg for arg in node.args if arg.keyword not in ("device", "dtype")]
        last = func.attr if isinstance(func, ir.Attribute) else path_of(func)
        dotted = self.m.names.dotted(func, scope) or ""
        if last in _ASKS_SIZE:
            return True
        if last in table.names("sizes", "draws") or dotted.startswith(_STATES):
            return False
        makes = last.removeprefix("new_") in table.names("sizes", "makes-of-sizes")
        if dotted.startswith(_PACKAGES):
            if last.endswith("_like"):
                args = args[1:]
            return self._are_fixed(args, scope, makes)
        if isinstance(func, ir.Name) and func.id in _RANGES:
            return self._are_fixed(args, scope, func.id == "range")
        if result := only_result(node, scope):
            return self.is_fixed(*result)
        if not isinstance(func, ir.Attribute):
            return False
        if makes and last.startswith("new_"):
            return self._are_fixed(args, scope, True)
        return self.is_fixed(func.value, scope) and (last in _MOVES or self._are_fixed(args, scope, True))

    def _is_fixed_name(self, node: ir.Expr, path: str, scope: Scope, size: bool) -> bool:
        key = (id(scope), path)
        if key in self.seen:
            return True
        bound = scope.find(path)
        if not bound:
            known = (self.m.names.dotted(node, scope) or "").startswith(_PACKAGES)
            return known or self._is_fixed_buffer(path, scope) or self._is_number(path, scope, size)
        self.seen.add(key)
        first, _, rest = path.partition(".")
        around = scope.class_scope if first == "self" and rest else bound[0].scope
        root = around.node if around is not None and around.node is not None else self.m.analysis.module
        changed = _changed_in(root)
        return all(
            self._is_fixed_binding(b, path, scope, size, changed) for b in bound
        ) and self._are_writes_fixed(path, scope, root)

    def _is_fixed_binding(self, b: Binding, path: str, scope: Scope, size: bool, changed: Set[int]) -> bool:
        if b.kind == "value" and b.value is not None:
            return self.is_fixed(b.value, b.scope, size)
        if b.kind == "opaque" and not size:
            if counted := _counted(b, path):
                return self._are_fixed(counted, b.scope)
            if (whole := _taken_apart(b, path)) and self.is_fixed(*whole):
                return True
        if b.kind == "import" or b.start in changed or _is_setting(b, scope):
            return True
        return self._is_number(path, scope, size, b.kind == "param")

    def _is_fixed_buffer(self, path: str, scope: Scope) -> bool:
        """Return whether `__init__` registers a buffer that is fixed."""
        around = scope.class_scope
        inits = around.bindings.get("__init__", []) if around is not None and path.startswith("self.") else []
        inner = inits[0].inner if len(inits) == 1 else None
        for node in ir.walk(inner.node) if inner is not None and inner.node is not None else ():
            match node:
                case ir.Call(
                    func=ir.Attribute(attr="register_buffer"),
                    args=(ir.Arg(value=ir.Const(value=str(name))), ir.Arg(value=value), *_),
                ) if path == f"self.{name}" and inner is not None:
                    return self.is_fixed(value, inner)
        return False

    def _is_number(self, path: str, scope: Scope, size: bool, given: bool = False) -> bool:
        """Return whether a name is a number that no value of a tensor decides: one that is known, or one that
        is `given` to a function which makes a tensor of that size, or counts so far."""
        value = self.m.env.get(path) if scope is self.m.frame.scope else None
        if value is not None and value.kind not in ("unknown", "none"):
            return value.kind == "number" and not value.cause
        return size or (given and path in _sizes_of(scope.node))

    def _are_writes_fixed(self, path: str, scope: Scope, root: ir.Node) -> bool:
        """Return whether all that is written into a tensor in place is fixed, and where."""
        return all(self._are_fixed(written, scope) for written in _writes_in(root).get(path, ()))


@per_file
@lru_cache(maxsize=64)  # each name of each mask asks again
def _changed_in(root: ir.Node) -> Set[int]:
    """Return where the statements start that change a name: `n += 1`."""
    return {part.start for part in ir.walk(root) if isinstance(part, ir.AugAssign)}


@per_file
@lru_cache(maxsize=64)
def _writes_in(root: ir.Node) -> Mapping[str, Sequence[tuple[ir.Node, ...]]]:
    """Return the indices and values of each write into a tensor, by its path."""
    found: dict[str, list[tuple[ir.Node, ...]]] = {}
    for node in ir.walk(root):
        for owner, written in _writes(node):
            found.setdefault(path_of(owner), []).append(written)
    return found


def _writes(node: ir.Node) -> Iterator[tuple[ir.Expr, tuple[ir.Node, ...]]]:
    """Yield the tensors that a node writes into, with the indices and values."""
    match node:
        case ir.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ir.Subscript):
                    yield target.value, (*target.index, value)
        case ir.AugAssign(target=ir.Subscript(value=owner, index=index), value=value):
            yield owner, (*index, value)
        case ir.AugAssign(target=target, value=value):
            yield target, (value,)
        case ir.Call(func=ir.Attribute(value=owner, attr=attr), args=args) if attr.endswith("_"):
            yield owner, args


def _counts(iterated: ir.Expr) -> bool:
    return (
        isinstance(iterated, ir.Call) and isinstance(iterated.func, ir.Name) and iterated.func.id == "range"
    )


def _counted(b: Binding, path: str) -> tuple[ir.Arg, ...]:
    """Return what the loop counts to that binds a name: `n` of `for i in range(n)`."""
    return _counted_in(b.scope.node).get((path, b.start), ()) if b.scope.node is not None else ()


@per_file
@lru_cache(maxsize=64)
def _counted_in(root: ir.Node) -> Mapping[tuple[str, int], tuple[ir.Arg, ...]]:
    """Return what loops count to, by the name and place of their target."""
    found: dict[tuple[str, int], tuple[ir.Arg, ...]] = {}
    for node in ir.walk(root):
        match node:
            case ir.For(target=ir.Name(id=name), iter=ir.Call(func=ir.Name(id="range"), args=args)) if args:
                found[name, node.start] = args
    return found


def _is_setting(b: Binding, scope: Scope) -> bool:
    """Return whether a name of a constructor is a parameter that is a number by its default."""
    constructs = isinstance(scope.node, ir.FunctionDef) and scope.node.name == "__init__"
    default = b.value.value if b.kind == "param" and isinstance(b.value, ir.Const) else None
    return constructs and isinstance(default, int | float)


def _taken_apart(b: Binding, path: str) -> tuple[ir.Expr, Scope] | None:
    """Return what a name is a part of, `torch.meshgrid(...)` of `y, x = torch.meshgrid(...)`, or the part
    itself where a function of the module returns it."""
    found = _taken_apart_in(b.scope.node).get((path, b.start)) if b.scope.node is not None else None
    if found is None:
        return None
    value, position, count = found
    result = only_result(value, b.scope) if isinstance(value, ir.Call) else None
    match result:
        case ir.Sequence(elements=parts), inner if len(parts) == count:
            return parts[position], inner
    return value, b.scope


@per_file
@lru_cache(maxsize=64)
def _taken_apart_in(root: ir.Node) -> Mapping[tuple[str, int], tuple[ir.Expr, int, int]]:
    """Return what assignments take apart, by the names and places that they bind, with the position of the
    name among how many."""
    found: dict[tuple[str, int], tuple[ir.Expr, int, int]] = {}
    for node in ir.walk(root):
        match node:
            case ir.Assign(targets=(ir.Sequence(elements=names),), value=value):
                for position, name in enumerate(names):
                    found[path_of(name), node.start] = value, position, len(names)
    return found


@per_file
@lru_cache(maxsize=64)
def _sizes_of(root: ir.Node | None) -> frozenset[str]:
    """Return the names that a function gives to `range`, or as the size of a tensor."""
    calls = [node for node in ir.walk(root) if isinstance(node, ir.Call)] if root is not None else []
    given = [arg for call in calls if _takes_sizes(call.func) for arg in call.args]
    return frozenset(path for arg in given for path in _counts_in(arg.value))


def _counts_in(size: ir.Expr) -> Iterator[str]:
    """Yield the names that a size is computed from as they are: `n` of `2 * n`, none of `len(x)`, `x[0]`."""
    match size:
        case ir.Name() | ir.Attribute():
            yield path_of(size)
        case ir.Binary() | ir.Unary() | ir.Sequence():
            for part in ir.children(size):
                if isinstance(part, ir.Expr):
                    yield from _counts_in(part)


def _takes_sizes(func: ir.Expr) -> bool:
    last = path_of(func).rpartition(".")[2]
    return last == "range" or last in table.names("sizes", "makes-of-sizes")
