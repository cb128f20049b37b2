"""Find signs that the objects of a class may hold parameters or other modules."""

from __future__ import annotations

import builtins

from xlamig import ir
from xlamig.flow.model.scopes import Binding, path_of

_NUMBERS = frozenset({"bool", "float", "int", "str"})
_REGISTERING = frozenset({"add_module", "__dict__"})
_LEAVING_AS_IT_IS = frozenset(dir(builtins)) - {"setattr"}
"""Functions that give an object they get no attributes: `super(Net, self)`, `print(self)`."""


def may_be_part(binding: Binding) -> bool:
    """Return whether an attribute may get a module, a parameter or a container of them."""
    match binding.value:
        case ir.Name(id=name):
            given = binding.scope.lookup(name)
            return not given or not all(_is_plain_setting(one) for one in given)
        case ir.Expr() as value:
            return any(isinstance(node, ir.Call | ir.Attribute | ir.Name) for node in ir.walk(value))
    return True


def _is_plain_setting(given: Binding) -> bool:
    """`size: int`, `size=224`"""
    plain = isinstance(given.value, ir.Const) and given.value.value is not None
    annotation = path_of(given.annotation) if given.annotation is not None else ""
    return given.kind == "param" and (plain or annotation in _NUMBERS)


def registers(method: ir.FunctionDef) -> bool:
    """Return whether a method may give its object parts other than by an assignment to `self`:
    `self.register_buffer(...)`, `self.add_module(...)`, `add_layers(self)`, `this.layers = ...`"""
    own = method.params[0].name if method.params else ""
    for node in ir.walk(method):
        match node:
            case ir.Attribute(attr=name) if name.startswith("register_") or name in _REGISTERING:
                return True
            case ir.Assign(targets=targets) if own != "self":
                if any(path_of(target).startswith(f"{own}.") for target in targets):
                    return True
            case ir.Call(func=func, args=args) if path_of(func) not in _LEAVING_AS_IT_IS:
                if any(isinstance(arg.value, ir.Name) and arg.value.id == own for arg in args):
                    return True
    return False
