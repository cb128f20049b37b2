"""Abstract values on their way from one module's interpreter to another's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from xlamig.flow.interp.domain import (
    LIKELY,
    OF_NUMBERS,
    OPTION,
    POSSIBLE,
    TOP,
    AbstractValue,
    Changes,
    Mark,
    Residence,
    known_parts,
    text_of,
    trait_of,
)
from xlamig.flow.interp.domain.shapes import UNKNOWN, Shape
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.model.names import Names
from xlamig.flow.model.summaries import Portable

_OPAQUE = Portable("unknown")
_PLAIN = frozenset(
    {"tensor", "module", "optimizer", "scheduler", "scaler", "loader", "dataset", "device", "dtype", "number"}
    | {"bool", "text", "none", "foreign", "parameters", "distribution", "writer", "logger"}
)
_KEPT_TRAITS = frozenset(
    {
        Mark.NAN,
        Mark.CONSTANT,
        Mark.LEAF,
        Mark.PARAMETER,
        Mark.BUFFER,
        Mark.DEVICE_LOADER,
        Mark.PLATEAU,
        Mark.SET,
        Mark.SHAPE,
        Mark.SPARSE,
        Mark.INSTANCE,
        Mark.AWAITS_MOVE,
    }
)
_MAX_ITEMS = 12


def of_project(thing: AbstractValue) -> bool:
    """Return whether a module's class is one of another file: its `ref` is the class's dotted name."""
    return thing.kind == "module" and isinstance(thing.ref, str) and "#" not in thing.ref


def portable(thing: AbstractValue, names: Names, depth: int = 3) -> Portable:
    """Return what another module may know of a value; `names` are those of the module that made it."""
    if thing.kind in ("sequence", "mapping"):
        return _container(thing, names, depth)
    if thing.kind == "tensor" and thing.sure == POSSIBLE:
        return _OPAQUE  # the callee's own guess is as good
    ref = _reference(thing, names)
    if thing.kind in ("class", "function", "instance", "unknown"):
        return Portable(thing.kind, thing.place, ref=ref, tag=_tag(thing)) if ref else _opaque(thing)
    if thing.kind not in _PLAIN:
        return _OPAQUE
    known = isinstance(thing.const, str | int | float | None)
    return Portable(
        thing.kind, thing.place, thing.sure, thing.dtype, _sizes(thing.shape), thing.loose, thing.cause,
        _tag(thing), ref, known, thing.const if known else None,
    )  # fmt: skip


def _sizes(shape: Shape) -> tuple[int | None, ...] | None:
    """Return the sizes of the dimensions; symbols and causes are of the module that made the value."""
    return None if shape is None else tuple(size if isinstance(size, int) else None for size in shape)


def _shape(sizes: tuple[int | None, ...] | None) -> Shape:
    return None if sizes is None else tuple(UNKNOWN if size is None else size for size in sizes)


def _opaque(thing: AbstractValue) -> Portable:
    if not thing.place:
        return _OPAQUE
    return _OPAQUE._replace(place=thing.place, sure=thing.sure, tag=_tag(thing))


def _tag(thing: AbstractValue) -> str:
    """Tags that speak of loops and places of the module that made the value are left behind."""
    if thing.kind in ("instance", "unknown"):
        if thing.trait is Mark.AWAITS_MOVE:
            return text_of(thing.trait)
        return "instance" if thing.kind == "instance" or thing.trait is Mark.INSTANCE else ""
    if thing.const is OF_NUMBERS:
        return text_of(Mark.CONSTANT)
    kept = thing.trait in _KEPT_TRAITS or thing.kind == "module"
    return text_of(thing.trait) if kept else ""


def _reference(thing: AbstractValue, names: Names) -> str:
    match thing.ref:
        case ClassInfo(node=node, scope=scope) if scope.parent is not None and scope.parent.kind == "module":
            return f"{thing.ref.frame.home}.{node.name}"
        case Function(node=node, owner=None, scope=scope) if scope.parent and scope.parent.kind == "module":
            return f"{thing.ref.frame.home}.{getattr(node, 'name', '')}".rstrip(".")
        case str(name) if thing.kind == "unknown" or of_project(thing):
            place = names.project.locate(name, names.module)
            return f"{place[0]}.{place[1].removesuffix('.__init__')}" if place is not None else name
        case str(name) if name == OPTION.ref:
            return name
    return ""


def _container(thing: AbstractValue, names: Names, depth: int) -> Portable:
    tag = _tag(thing)
    if not depth:
        return Portable(thing.kind, tag=tag)
    known = known_parts(thing)
    if known is not None and len(known) <= _MAX_ITEMS:
        keys = tuple(thing.fields or ())
        parts = tuple(portable(value, names, depth - 1) for value in known)
        return Portable(thing.kind, cause=thing.cause, tag=tag, keys=keys, items=parts)
    element = portable(thing.element, names, depth - 1) if thing.element is not None else None
    return Portable(thing.kind, cause=thing.cause, tag=tag, element=element)


Defined = Callable[[str], AbstractValue | None]
"""The class or function of the own module that a dotted name means."""


def _nothing_own(dotted: str) -> AbstractValue | None:
    return None


def restored(value: Portable, own: Defined = _nothing_own) -> AbstractValue:
    """Return the value of this interpreter that stands for one of another; `own` finds what it is made of
    in this module."""
    if value == _OPAQUE:
        return TOP
    defined = own(value.ref) if value.ref else None
    if defined is not None and value.kind in ("class", "function"):
        return defined
    if defined is not None and defined.kind == "class" and value.kind in ("instance", "module"):
        return AbstractValue(value.kind, value.place, LIKELY, ref=defined.ref)  # type: ignore[arg-type]
    unknown = value.kind in ("class", "function", "instance")
    made = AbstractValue(
        "unknown" if unknown else value.kind,  # type: ignore[arg-type]
        value.place,  # type: ignore[arg-type]
        min(value.sure, LIKELY) if value.kind == "module" else value.sure,
        value.dtype, _shape(value.shape), value.loose,
        ref=value.ref or None, cause=value.cause,  # type: ignore[arg-type]
        trait=trait_of(value.tag),
    )  # fmt: skip
    changes: Changes = {}
    if made.kind == "tensor" and made.place == "device" and made.trait is Mark.CONSTANT:
        changes["const"] = OF_NUMBERS
    if value.known:
        changes["const"] = value.const
    if value.items is not None:
        parts = tuple(restored(item, own) for item in value.items)
        if value.kind == "mapping":
            changes["fields"] = dict(zip(value.keys, parts, strict=True))
        else:
            changes["items"] = parts
    if value.element is not None:
        changes["element"] = restored(value.element, own)
    if value.kind == "module" and value.ref:
        changes["loose"] = True
    return made.replace(**changes) if changes else made


def moved(value: AbstractValue, place: Residence) -> AbstractValue:
    """Return a function's result for arguments that are on `place` rather than on the device."""

    def move(part: AbstractValue) -> AbstractValue:
        if part.kind in ("tensor", "unknown") and part.place == "device" and place:
            return part.replace(place=place, sure=min(part.sure, LIKELY))
        return part

    return change_parts(value, move)


def placed(value: AbstractValue, place: Residence) -> AbstractValue:
    """Return a value with all tensors in it on `place`."""

    def put(part: AbstractValue) -> AbstractValue:
        return part.replace(place=place) if part.kind == "tensor" and part.place != place else part

    return change_parts(value, put)


def places_of(values: Iterable[AbstractValue]) -> Set[Residence]:
    """Return where the tensors in some values are."""
    found: set[Residence] = set()

    def note(part: AbstractValue) -> AbstractValue:
        found.update([part.place] if part.kind == "tensor" else ())
        return part

    for value in values:
        change_parts(value, note)
    return found


def change_parts(
    value: AbstractValue, change: Callable[[AbstractValue], AbstractValue], depth: int = 3
) -> AbstractValue:
    """Return a value with `change` applied to it, or to all that it contains."""
    if value.kind not in ("sequence", "mapping"):
        return change(value)
    if not depth:
        return value

    def inner(part: AbstractValue) -> AbstractValue:
        return change_parts(part, change, depth - 1)

    fields = value.fields and {key: inner(item) for key, item in value.fields.items()}
    items = value.items and tuple(map(inner, value.items))
    element = inner(value.element) if value.element is not None else None
    return value.replace(items=items, fields=fields, element=element)
