"""Lists and dictionaries that a function fills for its caller, `collect(batch, labels)`, tensors that it
writes in place, `reduce(total)`, modules that it moves, and objects of libraries that it sets up."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import AbstractValue, element_of
from xlamig.flow.interp.frames import Frame, Function
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of

_CHANGEABLE = frozenset({"sequence", "mapping", "tensor", "unknown"})


def is_filled_with(whole: AbstractValue, part: AbstractValue) -> bool:
    """Return whether a list of placeholders, `[None] * n`, or of tensors gets a tensor at some position; or
    any list an object or a number that varies."""
    if part.kind == "tensor":
        return element_of(whole).kind in ("none", "nothing", "tensor")
    return part.kind == "instance" or (part.kind == "number" and bool(part.cause))


def filled(frame: Frame, given: Mapping[str, AbstractValue]) -> dict[str, AbstractValue]:
    """Return the parameters that are containers or tensors and hold something else at the end of a run, and
    the modules that are somewhere else: `self.to(device)` moves the object that a constructor makes."""
    found: dict[str, AbstractValue] = {}
    for name, before in given.items():
        after = frame.env.get(name)
        if after is None or after is before or after.kind != before.kind:
            continue
        if len(frame.scope.bindings.get(name, ())) != 1:  # it may be another object
            continue
        differs = after.key() != before.key() or after.why != before.why
        moved = before.kind == "module" and after.place != before.place
        if moved or (before.kind in _CHANGEABLE and differs):
            found[name] = after
    return found


def hand_back(state: State, function: Function, args: Args) -> None:
    """Let the names that a caller passes hold what the function filled its parameters with."""
    plain = [arg for arg, _ in args.pairs if arg.keyword is None]
    if not args.filled or len(plain) != len(args.positional):
        return
    params = function.node.params[function.bound is not None :]
    by_position = iter([param.name for param in params if param.kind not in ("*", "**")])
    for arg, _ in args.pairs:
        value = args.filled.get(arg.keyword or next(by_position, ""))
        path = path_of(arg.value)
        if value is not None and path:
            state.put(path, value)
            if isinstance(arg.value, ir.Attribute):
                state.semantics.set_attribute(arg.value, value, None)
