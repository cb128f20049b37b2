"""Attributes: which ones methods count or move, and the join of what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.interp.domain import TOP, AbstractValue, join
from xlamig.flow.model.scopes import path_of


def counted(method: ir.FunctionDef) -> Iterator[str]:
    """Yield the attributes that a method adds to, or gives a value that is computed from the old one, also
    by a variable: `end = self.i + n`, `self.i = end % size`."""
    sums = _sums_of_attributes(method)
    for node in ir.walk(method):
        match node:
            case ir.AugAssign(target=ir.Attribute(value=ir.Name(id="self"), attr=name)):
                yield name
            case ir.Assign(
                targets=(ir.Attribute(value=ir.Name(id="self"), attr=name),), value=ir.Binary() as value
            ):
                if any(isinstance(n, ir.Attribute) and path_of(n) == f"self.{name}" for n in ir.walk(value)):
                    yield name
        match node:
            case ir.Assign(
                targets=(ir.Attribute(value=ir.Name(id="self"), attr=name),),
                value=ir.Name() | ir.Binary() as given,
            ) if any(isinstance(n, ir.Name) and name in sums.get(n.id, ()) for n in ir.walk(given)):
                yield name


def _sums_of_attributes(method: ir.FunctionDef) -> Mapping[str, set[str]]:
    """Return the variables of a method that are an attribute and something more, with the attributes."""
    found: dict[str, set[str]] = {}
    for node in ir.walk(method):
        match node:
            case ir.Assign(targets=(ir.Name(id=variable),), value=ir.Binary(op="+", left=left, right=right)):
                for side in (left, right):
                    if isinstance(side, ir.Attribute) and path_of(side) == f"self.{side.attr}":
                        found.setdefault(variable, set()).add(side.attr)
    return found


def differs(known: AbstractValue, both: AbstractValue) -> bool:
    """Return whether an attribute is something else now, for which methods have to run again."""
    other_function = both.kind == "function" and known.ref != both.ref
    return other_function or (known.kind, known.trait, known.cause) != (both.kind, both.trait, both.cause)


def join_held(known: AbstractValue, new: AbstractValue, moved: bool) -> AbstractValue:
    """Return the join of what an attribute holds; a function that a caller passes is more than a guess, and a
    tensor that is moved is on the device."""
    for guess, value in ((known, new), (new, known)):
        if value.kind == "function" and guess.key() == TOP.key():
            return value
    if moved and known.kind == new.kind == "tensor" and {known.place, new.place} == {"host", "device"}:
        return new if new.place == "device" else known
    return join(known, new)


def starts_as_int(init: ir.FunctionDef | None, name: str) -> bool:
    """Return whether a constructor gives an attribute a whole number."""
    return any(isinstance(v, ir.Const) and type(v.value) is int for v in _given(init, name))


def moved_tensors(methods: Mapping[str, ir.FunctionDef]) -> frozenset[str]:
    """Return the attributes for which `__init__` calls a function of torch, and that a method replaces by
    their own copy on another device, but none by one on the CPU."""
    found: dict[str, set[str]] = {}
    for method in methods.values():
        for node in ir.walk(method):
            match node:
                case ir.Assign(
                    targets=(ir.Attribute(value=ir.Name(id="self"), attr=name),),
                    value=ir.Call(func=ir.Attribute(value=source, attr="to" | "cuda" | "cpu" as move)),
                ) if path_of(source) == f"self.{name}":
                    found.setdefault(name, set()).add(move)
    init = methods.get("__init__")
    return frozenset(
        name
        for name, moves in found.items()
        if "cpu" not in moves
        and any(isinstance(v, ir.Call) and path_of(v.func).startswith("torch.") for v in _given(init, name))
    )


def _given(init: ir.FunctionDef | None, name: str) -> Iterator[ir.Expr]:
    for node in ir.walk(init) if init is not None else ():
        match node:
            case ir.Assign(
                targets=(ir.Attribute(value=ir.Name(id="self"), attr=attribute),), value=value
            ) if attribute == name:
                yield value
