"""Modules that keep something of a call: running statistics, attributes, hooks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.carried_names import assignments
from xlamig.flow.interp.domain import AbstractValue, TorchModule
from xlamig.flow.interp.frames import ClassInfo, Loop, modules_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_HOOKS = re.compile(r"\.register_\w*forward\w*hook\(")
_RUN_BY_CALL = ("__call__", "forward")


def may_keep_state(m: State, loop: Loop, call: ir.Call, module: AbstractValue, differs: bool) -> bool:
    """Return whether a module may keep something of its calls in a loop: running statistics in training mode,
    what `forward` assigns to `self`, what hooks collect. `differs` says whether it gets something else in
    each iteration: of a module of which nothing is known that may be meant to change it."""
    if _HOOKS.search(m.analysis.text):
        return True
    mode = _mode(m, loop, path_of(call.func))
    if mode == "train":
        return True
    found = [*_parts(module, set())]
    if any(_keeps_attributes(part.ref) for part in found if isinstance(part.ref, ClassInfo)):
        return True
    if mode == "eval":
        return False
    if any(isinstance(part.trait, TorchModule) and _is_norm(part.trait.class_name) for part in found):
        return True
    return differs and not all(isinstance(part.trait, TorchModule) or modules_of(part.ref) for part in found)


def _is_norm(name: str) -> bool:
    return name in table.names("modules", "batch-norms")


def _mode(m: State, loop: Loop, path: str) -> str:
    """Return "eval" or "train" where the function puts a module into that mode above a loop; "" if not."""
    found: list[tuple[int, str]] = []
    for node in ir.walk(m.frame.scope.node or m.analysis.module):
        match node:
            case ir.Call(func=ir.Attribute(value=owner, attr="eval" | "train" as name), args=args):
                of = path_of(owner)
                if node.start < loop.node.end and of and f"{path}.".startswith(f"{of}."):
                    off = bool(args) and isinstance(args[0].value, ir.Const) and args[0].value.value is False
                    found.append((node.start, "eval" if off else name))
            case ir.Assign(targets=(target,), value=ir.Call(func=ir.Attribute(attr="eval"))):
                if path_of(target) == path and node.start < loop.node.start:
                    found.append((node.start, "eval"))
    return max(found)[1] if found else ""


def _parts(module: AbstractValue, seen: set[int]) -> Iterator[AbstractValue]:
    """Yield a module and the modules in it, each class once; one that may be of several classes as each."""
    for inner in (*(module.items or ()), *((module.element,) if module.element is not None else ())):
        if inner.kind == "module":
            yield from _parts(inner, seen)
    classes = [ref for ref in modules_of(module.ref) if isinstance(ref, ClassInfo)]
    if not classes:
        yield module
    for info in classes:
        if id(info) not in seen:
            seen.add(id(info))
            yield module.replace(ref=info, items=None, element=None)
            for cls in info.lineage():
                for held in cls.attributes.values():
                    if held.kind == "module":
                        yield from _parts(held, seen)


def _keeps_attributes(info: ClassInfo) -> bool:
    """Return whether calling an object of a class changes its attributes: `self.state = h`,
    `self.features.append(h)`."""
    methods = {name: method for cls in reversed(info.lineage()) for name, method in cls.methods.items()}
    waiting = [name for name in _RUN_BY_CALL if name in methods]
    met: set[str] = set()
    while waiting:
        name = waiting.pop()
        met.add(name)
        method = methods[name]
        own = method.params[0].name if method.params else "self"
        if any(_root(target) == own for target, _ in assignments(method.body)):
            return True
        paths = (path_of(node.func) for node in ir.walk(method) if isinstance(node, ir.Call))
        called = {path.removeprefix(f"{own}.") for path in paths if path.startswith(f"{own}.")}
        waiting += sorted((called & methods.keys()) - met)
    return False


def _root(target: ir.Expr) -> str:
    """Return the name whose attribute or element a target is; "" of a plain name."""
    node = target
    while isinstance(node, ir.Attribute | ir.Subscript):
        node = node.value
    return node.id if isinstance(node, ir.Name) and node is not target else ""
