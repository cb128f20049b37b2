"""Find a variable in scope that holds the program's device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.flow.model.site import CodeContext
from xlamig.per_file import per_file

_NAMES = ("device", "DEVICE", "torch_device", "dev")
_MOST_FOLLOWED = 20
_NUMBERS = frozenset({"int", "bool", "float"})
_QUIET_BASES = re.compile(r"^(?:object|(?:\w+\.)*Module)$")  # their __init__ calls no method


def device_in_scope(place: CodeContext, offset: int) -> Mapping[str, str]:
    """The proof `{"device-in-scope": name}` if a device variable is certainly bound at `offset`."""
    if "default-argument" in place.context:
        return {}
    hidden: set[str] = set()
    scope = place.scope
    while scope.kind == "expression" and scope.parent is not None:
        hidden.update(scope.bindings)
        scope = scope.parent
    place = replace(place, scope=scope)
    name = _local(place, offset) or _outer(place) or _attribute(place)
    return {"device-in-scope": name} if name and name.partition(".")[0] not in hidden else {}


def _dominates(binding: Binding, place: CodeContext, offset: int) -> bool:
    if binding.kind == "param":
        return True
    above = place.block[: len(binding.block)] == binding.block
    return above and binding.scope is place.scope and binding.end <= offset


@per_file
@lru_cache(maxsize=64)  # every place of a scope asks about the same few names
def _holds_device(scope: Scope, name: str) -> bool:
    """Return whether each binding of `name` in the scope itself may be the program's device."""
    return _hold_devices(scope.bindings.get(name, []))


@per_file
@lru_cache(maxsize=64)
def _attribute_holds_device(owner: Scope) -> bool:
    """Return whether `self.device` of a class may be the program's device, and is set before a method uses
    it."""
    bindings = owner.attributes.get("device", [])
    return _hold_devices(bindings) and any(map(_is_set_first, bindings))


def _hold_devices(bindings: list[Binding]) -> bool:
    seen: set[tuple[Scope, str]] = set()
    return all(_is_device(binding, seen) for binding in bindings)


def _is_device(binding: Binding, seen: set[tuple[Scope, str]]) -> bool:
    """Return whether the binding may hold the program's device: one that is CPU or nothing is another. `seen`
    are names that were followed."""
    value = binding.value
    made = isinstance(value, ir.Call) and path_of(value.func).endswith("device")
    if made and isinstance(value, ir.Call) and value.args:
        value = value.args[0].value
    match value:
        case ir.Const(value=str(text)):
            fits = text.startswith(("cuda", "xla"))
        case ir.Const(value=constant):
            fits = made and type(constant) is int
        case ir.Lambda() | ir.Sequence() | ir.Dict() | ir.Comprehension() | ir.Compare() | ir.Unary():
            fits = False
        case ir.Name(id=other):
            known = (binding.scope, other) in seen
            seen.add((binding.scope, other))
            behind = [] if known else binding.scope.lookup(other)
            fits = len(seen) < _MOST_FOLLOWED and all(
                _is_device(b, seen) for b in behind if b.kind in ("param", "value")
            )
        case _:
            fits = binding.annotation is None or path_of(binding.annotation) not in _NUMBERS
    return fits and binding.kind in ("param", "value")


def _local(place: CodeContext, offset: int) -> str | None:
    for name in _NAMES:
        bindings = place.scope.bindings.get(name, [])
        if any(_dominates(b, place, offset) for b in bindings) and _holds_device(place.scope, name):
            return None if place.scope.kind == "class" else name
    return None


def _outer(place: CodeContext) -> str | None:
    """A module-level device, for functions defined after it: they cannot run before it is set."""
    scope, node = place.scope, place.scope.node
    if scope.kind != "function" or node is None:
        return None
    for name in _NAMES:
        bindings = scope.module.bindings.get(name, [])
        first = any(b.scope is scope.module and not b.block and b.end <= node.start for b in bindings)
        if first and scope.lookup(name) is bindings and _holds_device(scope.module, name):
            return name
    return None


def _attribute(place: CodeContext) -> str | None:
    """`self.device`, once `__init__` has set it and the place is in another method."""
    scope, owner = place.scope, place.scope.class_scope
    if owner is None or scope.kind != "function" or not isinstance(scope.node, ir.FunctionDef):
        return None
    params = scope.node.params
    if not params or params[0].name != "self" or scope.parent is not owner or scope.node.name == "__init__":
        return None
    return "self.device" if _attribute_holds_device(owner) else None


def _is_set_first(binding: Binding) -> bool:
    """Return whether `__init__` always gets to this binding, before it calls a method of the class."""
    scope, node = binding.scope, binding.scope.node
    if (
        binding.block
        or scope.parent is None
        or not isinstance(node, ir.FunctionDef)
        or node.name != "__init__"
    ):
        return False
    return not any(
        _may_use_device(inner, scope.parent)
        for statement in node.body
        if statement.start <= binding.start
        for inner in ir.walk(statement)
    )


def _may_use_device(node: ir.Node, owner: Scope) -> bool:
    """A way out of `__init__`, a method of the class, or a base's `__init__` that may call one."""
    match node:
        case ir.Return():
            return True
        case ir.Attribute(value=ir.Name(id="self"), attr=attr):
            return attr in owner.bindings
        case ir.Call(func=ir.Attribute(attr="__init__")):
            bases = owner.node.args if isinstance(owner.node, ir.ClassDef) else ()
            return not all(_QUIET_BASES.match(path_of(base.value)) for base in bases)
    return False
