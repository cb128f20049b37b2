"""Names that hold a number of Python until a branch gives them a tensor, or nothing unless a caller does."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.flow.interp.domain import POSSIBLE, AbstractValue
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import Binding

_AUGMENTED = re.compile(r"^[\w.]+\s*[-+*/@|&^%]+=")


def starts_as_number(m: State, test: ir.Expr) -> bool:
    """Return whether a test asks for such a name, `loss != 0`: whether a branch gave it a tensor is what the
    test wants to know."""
    asked = test.left if isinstance(test, ir.Compare) else test
    bindings = m.frame.scope.bindings.get(asked.id, []) if isinstance(asked, ir.Name) else []
    numbers = [one for one in bindings if _is_number(one)]
    others = [one for one in bindings if not _is_number(one)]
    return bool(numbers and others) and all(_is_in_a_branch(m, one, numbers) for one in others)


def is_left_out(m: State, test: ir.Expr, thing: AbstractValue) -> bool:
    """Return whether a test asks whether a caller passes a parameter, `if weights:` where the default is None
    or False: a tensor of several elements has no truth value on any device, so what the function does with
    one is no evidence that it gets one. A number in a tensor is one that a caller is seen to pass."""
    bound = m.frame.scope.bindings.get(test.id, []) if isinstance(test, ir.Name) else []
    default = bound[0].value if bound and bound[0].kind == "param" else None
    unset = isinstance(default, ir.Const) and (default.value is None or default.value is False)
    return unset and not thing.why and not thing.scalar


def as_number(node: ir.Expr | None, thing: AbstractValue) -> AbstractValue:
    """Return what Python uses as an integer; a guessed tensor that an object or a mapping holds under a name,
    `range(out["count"])`, is as likely a number there."""
    match node:
        case ir.Attribute() | ir.Subscript(index=(ir.Const(value=str()),)) if thing.loose:
            return thing.replace(sure=POSSIBLE)
    return thing


def _is_number(binding: Binding) -> bool:
    return isinstance(binding.value, ir.Const) and isinstance(binding.value.value, int | float | None)


def _is_in_a_branch(m: State, binding: Binding, numbers: list[Binding]) -> bool:
    """Return whether a tensor does not replace the number wherever that is given, and is not added to it."""
    if binding.kind not in ("value", "opaque"):
        return False
    text = m.analysis.text[binding.start : binding.end]
    return not _AUGMENTED.search(text) and all(binding.block != number.block for number in numbers)
