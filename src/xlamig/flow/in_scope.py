"""Whether a variable that holds the program's device can be used at a place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xlamig import ir
from xlamig.flow.scopes import Binding, Scope, path_of
from xlamig.flow.site import Place

_NAME = re.compile(r"^(?:device|dev|DEVICE|torch_device)$")


def device_in_scope(place: Place, offset: int) -> Mapping[str, str]:
    """The proof `{"device-in-scope": name}` if a device variable is certainly bound at `offset`."""
    if "default-argument" in place.context:
        return {}
    name = _local(place, offset) or _outer(place) or _attribute(place)
    return {"device-in-scope": name} if name else {}


def _dominates(binding: Binding, place: Place, offset: int) -> bool:
    above = place.block[: len(binding.block)] == binding.block
    return above and (binding.kind == "param" or binding.end <= offset)


def _is_device(binding: Binding) -> bool:
    """Whether the binding may hold the program's device: one that is CPU or nothing is another."""
    value = binding.value
    if isinstance(value, ir.Call) and path_of(value.func).endswith("device") and value.args:
        value = value.args[0].value
    fixed = isinstance(value, ir.Const) and (value.value is None or str(value.value).startswith("cpu"))
    return binding.kind in ("param", "value") and not fixed and not isinstance(value, ir.Lambda)


def _local(place: Place, offset: int) -> str | None:
    for name, bindings in place.scope.bindings.items():
        if not _NAME.match(name) or not all(_is_device(b) for b in bindings):
            continue
        if any(_dominates(b, place, offset) for b in bindings):
            return None if place.scope.kind == "class" else name
    return None


def _outer(place: Place) -> str | None:
    """A module-level device, for code in functions, which runs after the module's own."""
    scope: Scope | None = place.scope.parent if place.scope.kind == "function" else None
    while scope is not None and scope.kind != "module":
        scope = scope.parent
    if scope is None:
        return None
    for name, bindings in scope.bindings.items():
        unconditional = any(not b.block for b in bindings)
        if _NAME.match(name) and unconditional and all(_is_device(b) for b in bindings):
            return None if name in place.scope.bindings else name
    return None


def _attribute(place: Place) -> str | None:
    """`self.device`, once `__init__` has set it and the place is in another method."""
    scope, owner = place.scope, place.scope.class_scope
    if owner is None or scope.kind != "function" or not isinstance(scope.node, ir.FunctionDef):
        return None
    params = scope.node.params
    if not params or params[0].name != "self" or scope.parent is not owner or scope.node.name == "__init__":
        return None
    for binding in owner.attributes.get("device", ()):
        node = binding.scope.node
        if isinstance(node, ir.FunctionDef) and node.name == "__init__" and not binding.block:
            return "self.device"
    return None
