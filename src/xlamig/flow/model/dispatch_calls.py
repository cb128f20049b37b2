"""Read where a module calls methods by a text, and which words its calls give."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.dispatch import Dispatch, Dispatcher
from xlamig.flow.model.name_parts import NameParts, name_parts
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_TAKES = frozenset({"get", "pop"})
_WORD = re.compile(r"[a-z]\w{0,31}", re.IGNORECASE)


def dispatch_of(module: ir.Module, text: str) -> Dispatch:
    """Read a module's part in calls of methods by a text, from its own statements."""
    classes = [node for node in module.body if isinstance(node, ir.ClassDef)] if "getattr" in text else []
    made = (
        dispatcher
        for owner in classes
        for method in owner.body
        if isinstance(method, ir.FunctionDef) and "getattr" in text[method.start : method.end]
        for dispatcher in _dispatchers(owner, method)
    )
    given = {word for call in of_kind(module, ir.Call) for word in _given(call)}
    return Dispatch(tuple(made), tuple(sorted(given)))


def _given(call: ir.Call) -> Iterator[tuple[str, str]]:
    of_model = table.name_like("module").search(path_of(call.func).rpartition(".")[2]) is not None
    for i, arg in enumerate(call.args):
        match arg:
            case ir.Arg(keyword=keyword, star="", value=ir.Const(value=str(text))) if _WORD.fullmatch(text):
                if keyword is not None or of_model:
                    yield keyword or str(i), text


def _dispatchers(owner: ir.ClassDef, method: ir.FunctionDef) -> Iterator[Dispatcher]:
    own = method.params[0].name if method.params else ""
    nodes = [node for statement in method.body for node in ir.walk(statement)]
    called = {id(node.func) for node in nodes if isinstance(node, ir.Call)}
    named = {node.func.id for node in nodes if isinstance(node, ir.Call) and isinstance(node.func, ir.Name)}
    held = {
        id(node.value)
        for node in nodes
        if isinstance(node, ir.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ir.Name)
        and node.targets[0].id in named
    }
    for node in nodes:
        match node:
            case ir.Call(func=ir.Name(id="getattr"), args=(subject, name, *_)):
                parts = name_parts(name.value)
                if path_of(subject.value) == own and parts is not None and id(node) in called | held:
                    yield _dispatcher(f"{owner.name}.{method.name}", parts, method, nodes)


def _dispatcher(name: str, parts: NameParts, method: ir.FunctionDef, nodes: list[ir.Node]) -> Dispatcher:
    made = Dispatcher(name, parts.prefix, parts.suffix)
    value: ir.Expr | None = parts.variable
    if isinstance(value, ir.Name):
        for i, param in enumerate(method.params):
            if param.name == value.id:
                return made._replace(keyword=value.id, position=i - 1, texts=_text(param.default))
        values = [node.value for node in nodes if isinstance(node, ir.Assign) and _sets(node, value.id)]
        value = values[0] if len(values) == 1 else None
    mappings = {param.name for param in method.params if param.kind == "**"}
    match value:
        case ir.Call(func=ir.Attribute(value=ir.Name(id=mapping), attr=attr), args=(key, *rest)) if (
            mapping in mappings and attr in _TAKES
        ):
            default = _text(rest[0].value) if rest else ()
            return made._replace(keyword="".join(_text(key.value)), texts=default)
        case ir.Subscript(value=ir.Name(id=mapping), index=(key,)) if mapping in mappings:
            return made._replace(keyword="".join(_text(key)))
    return made


def _sets(node: ir.Assign, name: str) -> bool:
    return any(isinstance(target, ir.Name) and target.id == name for target in node.targets)


def _text(node: ir.Expr | None) -> tuple[str, ...]:
    return (node.value,) if isinstance(node, ir.Const) and isinstance(node.value, str) else ()
