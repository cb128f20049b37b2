"""Find the expressions of a file that are device tensors once its modules and tensors are moved."""

from __future__ import annotations

from collections.abc import Iterator, Set

from xlamig import ir
from xlamig.fix.adoption.calls import Calls, follows_tensor
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.names import last_name
from xlamig.fix.scopes import all_bindings, bindings, dotted_name
from xlamig.knowledge import values


class DeviceValues:
    """The names that hold device tensors and modules, found by a fixpoint over all assignments.

    A name is that of its function; an attribute (`self.x`) is the same in all of the file.
    """

    def __init__(self, tree: Tree, calls: Calls, stays: frozenset[int] = frozenset()) -> None:
        self.tree = tree
        self.calls = calls
        self.stays = stays  # calls that make a tensor for the host
        self._names: dict[int, Set[str]] = {}
        self.tensors: set[tuple[int, str]] = set()
        self.entered: set[tuple[int, str]] = set()  # those that a statement of the fix moves
        self.modules = set(self._modules())
        self.returning: set[str] = set()  # functions of the file that return device tensors
        while self._grow():
            pass

    def is_tensor(self, node: ir.Node | None) -> bool:
        """Return whether an expression is a tensor on the device, or a tuple with one."""
        match node:
            case ir.Name():
                return self._key(node) in self.tensors and not self._came_to_host(node)
            case ir.Attribute(value=value, attr=attr):
                return self._key(node) in self.tensors or (
                    attr in values.names("placing", "parts") and self.is_tensor(value)
                )
            case ir.Subscript(value=value) | ir.Starred(value=value):
                return self.is_tensor(value)
            case ir.Binary(left=left, right=right):
                return self.is_tensor(left) or self.is_tensor(right)
            case ir.Compare(left=left, comparators=(right,)):
                return self.is_tensor(left) or self.is_tensor(right)
            case ir.Unary(op=op, operand=operand):
                return op != "not" and self.is_tensor(operand)
            case ir.IfExp(body=body, orelse=orelse):
                return self.is_tensor(body) or self.is_tensor(orelse)
            case ir.Sequence(kind="tuple", elements=elements):
                return any(map(self.is_tensor, elements))
            case ir.Call():
                return self._call(node)
        return False

    def is_always_tensor(self, node: ir.Expr) -> bool:
        """Return whether an expression is a device tensor, and a name is never bound to anything else."""
        if not isinstance(node, ir.Name):
            return self.is_tensor(node)
        key = self._key(node)
        owner = next((n for n in (*self.tree.above(node), self.tree.module) if key and id(n) == key[0]), None)
        others = all_bindings(owner).get(node.id, []) if owner else []
        return self.is_tensor(node) and all(
            isinstance(n, ir.Assign | ir.AugAssign) or key in self.entered for n in others
        )

    def is_module(self, node: ir.Expr) -> bool:
        """Return whether an expression is a module, or a submodule of the class around it."""
        if dotted_name(node) == "self":
            around = next((n for n in self.tree.above(node) if isinstance(n, ir.ClassDef)), None)
            return around is not None and self.calls.kind_of_class(around) == "module"
        return self._key(node) in self.modules

    def add(self, names: list[ir.Expr]) -> None:
        """Add names that hold device tensors, and follow them to a fixpoint."""
        self.entered.update(key for name in names if (key := self._key(name)))
        self.tensors |= self.entered
        while self._grow():
            pass

    def _came_to_host(self, use: ir.Name) -> bool:
        """Return whether the last statement above that binds the name stands in the block of its use, and
        copied it to the host."""
        above = [node for node in bindings(self.tree.owner(use), use.id) if node.end <= use.start]
        last = max(above, key=lambda node: node.end, default=None)
        if not isinstance(last, ir.Assign) or not self._is_on_host(last.value):
            return False
        return any(statement is last for statement in self.tree.before(use))

    def _is_on_host(self, value: ir.Expr) -> bool:
        copied = isinstance(value, ir.Call) and last_name(value.func) in values.names("placing", "host")
        return copied or self.calls.kind(value) == "foreign"

    def _call(self, node: ir.Call) -> bool:
        kind = self.calls.kind(node)
        if kind == "tensor":
            return id(node) not in self.stays
        given = [arg.value for arg in node.args]
        if kind == "function":
            name = self.calls.canonical(node.func)
            return not name.startswith("torch.save") and any(map(self.is_tensor, given))
        if kind:
            return False
        match node.func:
            case ir.Attribute(value=value, attr=attr) if attr in values.names("placing", "host"):
                return False
            case ir.Attribute(value=value, attr=attr) if self.is_tensor(value):
                return follows_tensor(attr)
            case ir.Attribute(attr="forward") | ir.Call():
                return True
            case func if self.is_module(func):
                return True
            case ir.Attribute(attr=name) | ir.Name(id=name):
                return name in self.returning
        return False

    def _grow(self) -> bool:
        before = len(self.tensors), len(self.modules), len(self.returning)
        for node in self.tree.nodes:
            match node:
                case ir.Assign(targets=targets, value=value):
                    self._assign(targets, value)
                case ir.AugAssign(target=target, value=value):
                    self._assign((target,), value)
                case ir.Return(value=ir.Expr() as value) if self.is_tensor(value):
                    function = self.tree.function(node)
                    self.returning.update([function.name] if function else [])
                case ir.Call(func=ir.Name(id=name) | ir.Attribute(attr=name)) if name in self.calls.functions:
                    self._pass(node, self.calls.functions[name])
        return (len(self.tensors), len(self.modules), len(self.returning)) != before

    def _pass(self, call: ir.Call, functions: list[ir.FunctionDef]) -> None:
        """Give the parameters of functions of the file the kinds of the arguments of a call."""
        for function in functions:
            for name, value in given_to(call, function):
                if self.is_tensor(value):
                    self.tensors.add((id(function), name))
                elif self.is_module(value):
                    self.modules.add((id(function), name))

    def _assign(self, targets: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        for target in targets:
            match target, value:
                case ir.Sequence(elements=names), ir.Sequence(elements=parts) if len(names) == len(parts):
                    for name, part in zip(names, parts, strict=True):
                        self._assign((name,), part)
                case ir.Sequence(elements=names), _ if self.is_tensor(value):
                    known = self._results(value, len(names))
                    held = [name for i, name in enumerate(names) if known is None or i in known]
                    self.tensors.update(key for name in held if (key := self._key(name)))
                case ir.Name() | ir.Attribute(), _ if self.is_tensor(value):
                    self.tensors.update(key for key in (self._key(target),) if key)

    def _results(self, value: ir.Expr, count: int) -> set[int] | None:
        """Return which results of a function of the file are device tensors; None for another value, and
        where not each of its returns gives that many."""
        if not isinstance(value, ir.Call) or self.is_module(value.func):
            return None
        functions = self.calls.functions.get(last_name(value.func), [])
        returns = [
            node.value
            for node in self.tree.nodes
            if isinstance(node, ir.Return) and self.tree.function(node) in functions
        ]
        known: set[int] = set()
        for given in returns:
            if not isinstance(given, ir.Sequence) or len(given.elements) != count:
                return None
            known.update(i for i, element in enumerate(given.elements) if self.is_tensor(element))
        return known if returns else None

    def _modules(self) -> Iterator[tuple[int, str]]:
        for node in self.tree.nodes:
            match node:
                case ir.Assign(targets=(target,), value=value) if self.calls.kind(value) == "module":
                    yield from filter(None, (self._key(target),))
                case ir.Call(func=ir.Attribute(value=owner, attr="parameters" | "named_parameters")):
                    yield from filter(None, (self._key(owner),))
                case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=owner, attr="train" | "eval"))):
                    yield from filter(None, (self._key(owner),))

    def _key(self, node: ir.Expr) -> tuple[int, str] | None:
        name = dotted_name(node)
        if not name.strip(".") or name.startswith("."):
            return None
        if "." in name:
            return 0, name
        function = self.tree.function(node)
        while function is not None and name not in self._bound_names(function):
            function = self.tree.function(function)
        return (id(function or self.tree.module), name)

    def _bound_names(self, function: ir.FunctionDef) -> Set[str]:
        found = self._names.get(id(function))
        if found is None:
            outside = {n for node in ir.walk(function) if isinstance(node, ir.Scoping) for n in node.names}
            found = self._names[id(function)] = all_bindings(function).keys() - outside
        return found


def given_to(call: ir.Call, function: ir.FunctionDef) -> Iterator[tuple[str, ir.Expr]]:
    """Yield the parameters of a function with what a call passes for them."""
    names = [param.name for param in function.params if param.kind in ("", "positional-only")]
    if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ir.Attribute):
        del names[0]
    for index, arg in enumerate(call.args):
        if arg.star:
            return
        if arg.keyword is not None:
            yield arg.keyword, arg.value
        elif index < len(names):
            yield names[index], arg.value
