"""Finds functions that compute the same on copies of their tensors on the host."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from functools import lru_cache

from xlamig import ir
from xlamig.fix.names import last_name
from xlamig.fix.scopes import all_bindings, dotted_name
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_TRAINS = table.names("host-code", "trains")
_TRANSPARENT = table.names("host-code", "decorators")
_ATTRIBUTES = table.names("host-code", "attributes")
_CONTAINERS = table.names("host-code", "containers")
_WEIGHTS = table.names("host-code", "weights")
_SCALARS = frozenset({"bool", "float", "int", "str"})
_DEVICES = ("device", "cuda", "gpu", "xla")


class HostCode:
    """Answers for the functions of one module; each is asked about once."""

    def __init__(self, module: ir.Module) -> None:
        self.globals: dict[str, list[ir.Node]] = {}
        for statement in module.body:
            if isinstance(statement, ir.FunctionDef | ir.ClassDef):
                self.globals.setdefault(statement.name, []).append(statement)
            else:
                for name, nodes in all_bindings(statement).items():
                    self.globals.setdefault(name, []).extend(nodes)
        stored = (target for node in ir.walk(module) for target in _targets_of(node))
        written = {id(target) for target in stored}
        self.attributes = [
            node for node in ir.walk(module) if isinstance(node, ir.Attribute) and id(node) not in written
        ]
        self.lists = _unpacked(module, self.attributes)
        self._known: dict[int, str] = {}

    def reason_against(self, function: ir.FunctionDef, owner: ir.ClassDef | None) -> str:
        """Return why the function may need more of the device than its arguments; "" if nothing shows that.

        A function that it calls has to hold to the same, but need not return anything."""
        if id(function) not in self._known:
            self._known[id(function)] = ""  # where it calls itself
            found = next(_Reading(self, function, owner).reasons(), "")
            self._known[id(function)] = found
        return self._known[id(function)]


class _Reading:
    """Reads the body of one function."""

    def __init__(self, code: HostCode, function: ir.FunctionDef, owner: ir.ClassDef | None) -> None:
        self.code, self.function, self.owner = code, function, owner
        static = any(last_name(decorator) == "staticmethod" for decorator in function.decorators)
        names = [param.name for param in function.params]
        self.receiver = names[0] if owner is not None and not static and names else ""
        self.params = frozenset(names) - {self.receiver}
        self.local = all_bindings(function)

    def reasons(self) -> Iterator[str]:
        """Yield what stands against it."""
        if self.function.is_async or not {last_name(d) for d in self.function.decorators} <= _TRANSPARENT:
            yield "a decorator may change what it does"
        if any(_is_device(name) for name in self.params):
            yield "it is given a device"
        for statement in self.function.body:
            for node in ir.walk(statement):
                if why := self._against(node):
                    yield why

    def _against(self, node: ir.Node) -> str:
        match node:
            case ir.Yield() | ir.Await() | ir.Scoping():
                return "it yields, waits or sets outer names"
            case ir.Const(value=str(text)) if text.partition(":")[0] in ("cuda", "xla"):
                return "it names a device"
            case ir.Call(func=ir.Name(id=name)) if name in self.params:
                return f"`{name}` may have parameters on the device"
            case ir.Call(func=func) if last_name(func) in _TRAINS:
                return f"it calls `{last_name(func)}`"
            case ir.Attribute(value=ir.Name(id=name), attr=attr) if name == self.receiver and (
                attr != "cuda" or self._is_tested(attr)
            ):
                return self._of_receiver(attr)
            case ir.Attribute(attr="cuda"):
                return "it asks for CUDA"
            case ir.Attribute(value=ir.Name(id=name), attr=attr) if name in self.params:
                if attr.endswith("_") and not attr.endswith("__") and not self._is_rebound(name):
                    return f"it changes `{name}`"
                return "" if _may_be_copied(attr) else f"`{name}` may be an object with tensors"
            case ir.Subscript(value=ir.Name(id=name)) if name in self.params and self._is_written(node):
                return "" if self._is_rebound(name) else f"it changes `{name}`"
            case ir.AugAssign(target=ir.Name(id=name)) if name in self.params and not self._is_rebound(name):
                return f"it changes `{name}`"
            case ir.Name(id=name) if name not in self.local:
                return self._of_module(name)
        return ""

    def _is_rebound(self, name: str) -> bool:
        return any(isinstance(node, ir.Assign) for node in self.local.get(name, ()))

    def _is_written(self, subscript: ir.Subscript) -> bool:
        for node in ir.walk(self.function):
            match node:
                case ir.Assign(targets=targets) if any(target is subscript for target in targets):
                    return True
                case ir.AugAssign(target=target) if target is subscript:
                    return True
        return False

    def _of_module(self, name: str) -> str:
        """Return why a name of the module may stand for something on the device."""
        bound = self.code.globals.get(name, [])
        if not bound:
            return "" if hasattr(builtins, name) else f"`{name}` is unknown"
        for node in bound:
            match node:
                case ir.Alias() if not _is_device(name):
                    continue
                case ir.Assign(value=value) if _is_constant(value):
                    continue
                case ir.FunctionDef() if not self.code.reason_against(node, None):
                    continue
            return f"`{name}` may be on the device"
        return ""

    def _of_receiver(self, attr: str) -> str:
        """Return why an attribute of the object may stand for something on the device."""
        against = f"`{self.receiver}.{attr}` may be on the device"
        if attr == "training":
            return ""
        if self.owner is None or (_is_device(attr) and not self._is_tested(attr)):
            return against
        for node in self.owner.body:
            if isinstance(node, ir.FunctionDef) and node.name == attr:
                return against if self.code.reason_against(node, self.owner) else ""
        values = list(_values_of(self.owner, attr))
        if not values:
            return against
        for method, value in values:
            if method is self.function or _is_state(value):
                if self._is_used_elsewhere(attr):
                    return against
            elif not _is_setting(value, method) and attr not in self.code.lists:
                return against
        return ""

    def _is_tested(self, attr: str) -> bool:
        """Return whether the function only tests an attribute, as `if self.cuda:`: what stands under the test
        counts by itself."""
        nodes = list(ir.walk(self.function))
        tests = (node.test for node in nodes if isinstance(node, ir.If | ir.IfExp))
        tested = {id(part) for test in tests for part in _operands(test)}
        return all(id(node) in tested for node in nodes if dotted_name(node) == f"{self.receiver}.{attr}")

    def _is_used_elsewhere(self, attr: str) -> bool:
        """Return whether other code than this function reads an attribute."""
        return any(
            node.attr == attr and not ir.encloses(self.function, node) for node in self.code.attributes
        )


def _unpacked(module: ir.Module, attributes: list[ir.Attribute]) -> frozenset[str]:
    """Return the attributes whose elements are unpacked, `for w, h in self.anchors`, and that are otherwise
    counted alone: lists of numbers."""
    loops, counted = set[int](), set[int]()
    for node in ir.walk(module):
        match node:
            case ir.For(target=ir.Sequence()) | ir.Generator(target=ir.Sequence()):
                loops.add(id(node.iter))
            case ir.Call(func=ir.Name(id="len"), args=(ir.Arg(value=value),)):
                counted.add(id(value))
    others = {node.attr for node in attributes if id(node) not in loops | counted}
    return frozenset(node.attr for node in attributes if id(node) in loops) - others


def _operands(test: ir.Expr) -> Iterator[ir.Expr]:
    """Yield what `not`, `and` and `or` join in a test."""
    match test:
        case ir.Bool(values=values):
            for value in values:
                yield from _operands(value)
        case ir.Unary(op="not", operand=operand):
            yield from _operands(operand)
        case _:
            yield test


def _targets_of(node: ir.Node) -> tuple[ir.Expr, ...]:
    match node:
        case ir.Assign(targets=targets):
            return targets
        case ir.AnnAssign(target=target) | ir.AugAssign(target=target):
            return (target,)
    return ()


def _values_of(owner: ir.ClassDef, attr: str) -> Iterator[tuple[ir.FunctionDef | None, ir.Expr]]:
    """Yield what a class sets an attribute to, each with the method that does it."""
    for part in owner.body:
        method = part if isinstance(part, ir.FunctionDef) else None
        for node in ir.walk(part):
            for target in _targets_of(node):
                of_class = method is None and dotted_name(target) == attr
                of_object = isinstance(target, ir.Attribute) and target.attr == attr
                value = getattr(node, "value", None)
                if (of_class or of_object) and isinstance(value, ir.Expr):
                    yield method, value


def _is_setting(value: ir.Expr, method: ir.FunctionDef | None) -> bool:
    """Return whether an attribute is a number or text that the program sets, or a loss without weights."""
    match value:
        case ir.Name(id=name):
            param = next((p for p in method.params if p.name == name), None) if method is not None else None
            return param is not None and _is_scalar(param)
        case ir.Call(func=func, args=args) if last_name(func).endswith("Loss"):
            return all(arg.keyword and arg.keyword not in _WEIGHTS for arg in args)
        case ir.Binary(left=left, right=right):
            return _is_setting(left, method) and _is_setting(right, method)
        case ir.Subscript(value=ir.Name() as sizes, index=(index,)) if _is_constant(index):
            return _is_setting(sizes, method)
    return _is_constant(value)


def _is_scalar(param: ir.Param) -> bool:
    """Return whether a parameter is a number or a text, by its annotation, its default or its name."""
    if param.annotation is not None:
        return dotted_name(param.annotation) in _SCALARS
    if param.default is not None:
        return _is_constant(param.default) and not (
            isinstance(param.default, ir.Const) and param.default.value is None
        )
    return not table.name_like("module").search(param.name) and param.name not in _WEIGHTS


def _is_constant(value: ir.Expr) -> bool:
    match value:
        case ir.Const():
            return True
        case ir.Unary(operand=operand):
            return _is_constant(operand)
        case ir.Sequence(elements=elements):
            return all(map(_is_constant, elements))
        case ir.Binary(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
    return False


def _is_state(value: ir.Expr) -> bool:
    """Return whether a container is made that is filled later."""
    match value:
        case ir.Sequence(elements=()):
            return True
        case ir.Dict():
            return True
        case ir.Call(func=func):
            return last_name(func) in _CONTAINERS
    return False


def _may_be_copied(attr: str) -> bool:
    """Return whether tensors, or containers of tensors that are copied as well, have an attribute."""
    return attr in _ATTRIBUTES or signatures.signature(f"Tensor.{attr}") is not None


def _is_device(name: str) -> bool:
    return any(word in name.lower() for word in _DEVICES)


@per_file
@lru_cache(maxsize=2)
def host_code(module: ir.Module) -> HostCode:
    """Return the answers for a module."""
    return HostCode(module)
