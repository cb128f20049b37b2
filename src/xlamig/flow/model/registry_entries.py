"""Read what a module has to do with registries, from its own statements."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xlamig import ir
from xlamig.flow.model.names import Names
from xlamig.flow.model.pieces import Pieces
from xlamig.flow.model.registries import NO_REGISTRIES, OWN, Entry, Registries
from xlamig.flow.model.scopes import ScopeTable, path_of
from xlamig.knowledge import values as table

_PUTS = frozenset({"add", "append", "setdefault"})
_DICTIONARIES = frozenset({"dict", "OrderedDict", "defaultdict"})


def registries_of(module: ir.Module, scopes: ScopeTable, names: Names, pieces: Pieces) -> Registries:
    """Read a module's part in registries, from its own statements."""
    made: dict[str, str] = {}
    adders: dict[str, str] = {}
    entries: list[Entry] = []
    for statement in module.body:
        match statement:
            case (
                ir.Assign(targets=(ir.Name(id=name),), value=value)
                | ir.AnnAssign(target=ir.Name(id=name), value=ir.Expr() as value)
            ):
                made.update(_made(name, value, names, scopes))
                entries.extend(_listed(f"{scopes.module_name}.{name}", value, names, scopes))
            case ir.Assign(targets=(ir.Subscript(value=container, index=(key,)),), value=value):
                entries.extend(_entry(_name(container, names, scopes), key, value, names, scopes))
            case ir.ExprStmt(value=ir.Call(func=ir.Attribute(value=container, attr="update"), args=args)):
                for arg in args:
                    entries.extend(_listed(_name(container, names, scopes), arg.value, names, scopes))
        if isinstance(statement, ir.FunctionDef | ir.ClassDef):
            adders.update(pieces.of(_adders, statement, scopes))
            entries.extend(_decorated(statement, names, scopes))
    return Registries(made, adders, tuple(entries)) if made or adders or entries else NO_REGISTRIES


def _name(node: ir.Expr, names: Names, scopes: ScopeTable) -> str:
    """Return the full name that an expression at module level means."""
    dotted = names.dotted(node, scopes.module)
    path = path_of(node)
    return dotted or (f"{scopes.module_name}.{path}" if path else "")


def _made(name: str, value: ir.Expr, names: Names, scopes: ScopeTable) -> Iterator[tuple[str, str]]:
    match value:
        case ir.Dict():
            yield name, ""
        case ir.Call(func=func):
            maker = _name(func, names, scopes)
            last = maker.rpartition(".")[2]
            if last in _DICTIONARIES:
                yield name, ""
            elif table.name_like("registry").search(last):
                yield name, maker


def _listed(container: str, value: ir.Expr, names: Names, scopes: ScopeTable) -> Iterator[Entry]:
    if isinstance(value, ir.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            yield from _entry(container, key, item, names, scopes)


def _entry(
    container: str, key: ir.Expr | None, item: ir.Expr, names: Names, scopes: ScopeTable
) -> Iterator[Entry]:
    if container and isinstance(item, ir.Name | ir.Attribute) and (dotted := _name(item, names, scopes)):
        text = key.value if isinstance(key, ir.Const) and isinstance(key.value, str) else ""
        yield Entry(container, text, dotted)


def _decorated(node: ir.FunctionDef | ir.ClassDef, names: Names, scopes: ScopeTable) -> Iterator[Entry]:
    for decorator in node.decorators:
        called = decorator.func if isinstance(decorator, ir.Call) else decorator
        adder = _name(called, names, scopes)
        if adder and not adder.startswith("torch."):
            args = decorator.args if isinstance(decorator, ir.Call) else ()
            keys = (arg.value.value for arg in args if isinstance(arg.value, ir.Const))
            key = next((key for key in keys if isinstance(key, str)), "" if args else node.name)
            yield Entry(adder, key, f"{scopes.module_name}.{node.name}")


def _adders(node: ir.Stmt, scopes: ScopeTable) -> dict[str, str]:
    """Return what a function, or the methods of a class, add arguments to."""
    if isinstance(node, ir.ClassDef):
        return _methods_that_add(node)
    adders: dict[str, str] = {}
    if isinstance(node, ir.FunctionDef):
        adders.update((node.name, container) for container in _Additions(node).containers())
    return adders


def _methods_that_add(node: ir.ClassDef) -> dict[str, str]:
    """The methods that add to their own object, directly or through another."""
    methods = [
        (method.name, _Additions(method)) for method in node.body if isinstance(method, ir.FunctionDef)
    ]
    found: dict[str, str] = {}
    for _ in methods:
        known = len(found)
        for name, additions in methods:
            for container in additions.containers({path.rpartition(".")[2] for path in found}):
                found[f"{node.name}.{name}"] = container
        if len(found) == known:
            break
    return found


class _Additions:
    """The containers to which a function, or one that it defines, may add an argument of its own: by
    assigning to an entry (method ""), or by calling a method."""

    def __init__(self, function: ir.FunctionDef) -> None:
        self._given: set[str] = set()
        self._found: list[tuple[ir.Expr, str, list[str]]] = []  # container, method, names that it gets
        for node in ir.walk(function):
            match node:
                case ir.FunctionDef(params=params):
                    self._given.update(param.name for param in params)
                case ir.Assign(targets=(ir.Subscript(value=container),), value=ir.Name(id=name)):
                    self._found.append((container, "", [name]))
                case ir.Call(func=ir.Attribute(value=container, attr=method), args=args):
                    names = [arg.value.id for arg in args if isinstance(arg.value, ir.Name)]
                    if names:
                        self._found.append((container, method, names))
        self._given.discard("self")

    def containers(self, own: Collection[str] = ()) -> Iterator[str]:
        """Yield the containers; `own` are the methods of the object that add to it."""
        for container, method, names in self._found:
            if self._given.isdisjoint(names):
                continue
            if method in own and path_of(container) == "self":
                yield OWN
            elif not method or method in _PUTS:
                yield from _container(path_of(container), self._given)


def _container(path: str, given: set[str]) -> Iterator[str]:
    if path.startswith("self."):
        yield OWN
    elif path and path not in given and "." not in path:
        yield path
