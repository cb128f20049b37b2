"""The join of abstract values: what a name is after either of two branches.

A join is commutative, associative and idempotent, and BOTTOM is its identity (tests hold it), so what is
found does not depend on the order of branches. A value's kind goes up from BOTTOM over None to the kinds of
Python, then to TOP, and from there to a tensor that is only possible: calling such a value is still followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from xlamig.facts import Why
from xlamig.flow.interp.domain.common_marks import with_common_marks
from xlamig.flow.interp.domain.shapes import join_shapes
from xlamig.flow.interp.domain.traits import Mark, text_of
from xlamig.flow.interp.domain.values import (
    BOTTOM,
    LIKELY,
    MISSING,
    ON_HOST,
    POSSIBLE,
    TOP,
    AbstractValue,
    Alternatives,
    Cause,
    Changes,
    Definition,
    Kind,
    Made,
    Ref,
    Residence,
)

_CONTAINERS = ("sequence", "mapping")
_NUMERIC = frozenset({"number", "bool"})
_DEFINED = frozenset({"function", "class", "instance", "api"})  # nothing is known of one without its `ref`
_SEVERAL = frozenset({"function", "class", "instance", "module"})
_CAUSES = {cause: rank for rank, cause in enumerate(get_args(Cause))}
_NO_CAUSE: Cause = ""
_CHOSEN: dict[Residence, int] = {"": 0, "host": 1, "either": 2, "device": 3}
MAX_ALTERNATIVES = 4
_LEAST: tuple[Kind, ...] = ("nothing", "none")


def join(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the least value that stands for both."""
    if one is other:
        return one
    for least in _LEAST:
        if one.kind == least:
            return other
        if other.kind == least:
            return one
    if one.kind == other.kind:
        return _join_alike(one, other)
    if one.kind == "tensor":
        return _join_tensor(one, other)
    if other.kind == "tensor":
        return _join_tensor(other, one)
    if one.kind in _NUMERIC and other.kind in _NUMERIC:
        number, flag = (one, other) if one.kind == "number" else (other, one)
        return _join_alike(number, flag.replace(kind="number", const=MISSING))
    return _join_unlike(one, other)


def join_branches(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the join of what two branches give; what is a list of numbers on one of them is possibly a
    tensor, and no more."""
    both = join(one, other)
    for tensor, listed in ((one, other), (other, one)):
        if tensor.kind == "tensor" and listed.kind in _CONTAINERS:
            held = _element(listed)
            if held is not BOTTOM and not _hidden_tensor(held)[0]:
                return both.replace(sure=POSSIBLE)
    return both


def join_all(values: Iterable[AbstractValue], empty: AbstractValue = TOP) -> AbstractValue:
    """Return the join of all values, `empty` if there are none."""
    found: AbstractValue | None = None
    for value in values:
        found = value if found is None else join(found, value)
    return found or empty


def join_place(one: Residence, other: Residence) -> Residence:
    """Return the place of a value that is one or the other."""
    return one if one == other else "either" if one and other else one or other


def _join_alike(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the join of two values of one kind."""
    kind = one.kind
    one, other = with_common_marks(one, other)
    if _differ_in_reasons_alone(one, other) and (kind != "unknown" or one.ref is not None):
        return one if one.why is _reasons(one, other, one.cause) else other
    same_ref = one.ref is other.ref or one.ref == other.ref
    several = kind in _SEVERAL or (kind == "api" and one.trait is other.trait is Mark.NAMESPACE)
    either = _either(one.ref, other.ref) if several and not same_ref else None
    if kind in _DEFINED and not same_ref and either is None:
        return TOP
    const = _joined_constant(one, other)
    cause = _worse(one.cause, other.cause)
    marked = _marked(one, other, cause)
    trait, ref = marked.trait, marked.ref if same_ref else None
    if kind == "tensor" and not same_ref:
        ref = _reason_of(one, other, cause).ref if cause else marked.ref
    if several and not same_ref:
        ref = either
    if kind == "unknown" and ref is None:
        trait = None
    changes: Changes = {
        "place": _joined_place(one, other),
        "sure": min(one.sure, other.sure),
        "dtype": one.dtype if one.dtype == other.dtype else "",
        "shape": join_shapes(one.shape, other.shape),
        "loose": one.loose or other.loose,
        "ref": ref,
        "cause": cause,
        "loop": marked.loop,
        "trait": trait,
        "source": one.source if one.source == other.source else "",
        "const": const,
        "why": _reasons(one, other, cause),
        **_join_parts(one, other),
    }
    for name, value in changes.items():
        known = getattr(one, name)
        if known is not value and known != value:
            return one.replace(**changes)
    return one


def _differ_in_reasons_alone(one: AbstractValue, other: AbstractValue) -> bool:
    """Return whether two values of one kind share all parts but their reasons, as most that meet do."""
    return (
        one.ref is other.ref
        and one.trait is other.trait
        and one.place == other.place
        and one.sure == other.sure
        and one.shape is other.shape
        and one.const is other.const
        and one.cause == other.cause
        and one.loop == other.loop
        and one.loose == other.loose
        and one.dtype == other.dtype
        and one.source == other.source
        and one.items is other.items
        and one.fields is other.fields
        and one.element is other.element
    )


def _join_unlike(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the join of two values of different kinds, neither of them a tensor."""
    (place, sure), (there, as_sure) = _hidden_tensor(one), _hidden_tensor(other)
    causes: list[Cause] = [value.cause for value in (one, other) if value.kind == "unknown"]
    place, sure = join_place(place, there), min(sure, as_sure)
    cause = max(causes, key=_rank, default=_NO_CAUSE)
    if not place and not cause and sure == TOP.sure:
        return TOP
    return AbstractValue("unknown", place, sure=sure, cause=cause)


def _join_tensor(tensor: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the join of a tensor and something else: it may still be one."""
    place, sure = _hidden_tensor(other)
    place, sure = join_place(tensor.place, place), min(tensor.sure, sure)
    loose = tensor.loose or other.kind not in _NUMERIC
    if (place, sure, loose) == (tensor.place, tensor.sure, tensor.loose):
        return tensor
    return tensor.replace(place=place, sure=sure, loose=loose)


def _hidden_tensor(value: AbstractValue) -> tuple[Residence, int]:
    """Where the tensors are that something else may hold or be made of, and how sure a tensor is that may
    as well be this: `total = 0`, then `total += loss`."""
    if value.kind in _CONTAINERS:
        return _hidden_tensor(_element(value))
    if value.kind in ("tensor", "unknown"):
        return value.place, min(value.sure, LIKELY)
    return "", LIKELY if value.kind in _NUMERIC or value.kind in _LEAST else POSSIBLE


# ---------------------------------------------------------------------- the parts of a value


def _joined_place(one: AbstractValue, other: AbstractValue) -> Residence:
    """Join two devices or device names: where availability decides, only the accelerator matters."""
    if one.kind in ("text", "device"):
        return max(one.place, other.place, key=_CHOSEN.__getitem__)
    return join_place(one.place, other.place)


def _worse(one: Cause, other: Cause) -> Cause:
    return max(one, other, key=_rank)


def decisive(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the operand whose cause, with its loop, a result of both has: the order does not matter."""
    return max(one, other, key=lambda value: (_rank(value.cause), value.loop))


def _rank(cause: Cause) -> int:
    return _CAUSES[cause]


def _joined_constant(one: AbstractValue, other: AbstractValue) -> Any:  # Any: a constant of the program
    if one.const is other.const or _same_constant(one, other):
        return one.const
    return ON_HOST if one.on_host and other.on_host else MISSING


def _same_constant(one: AbstractValue, other: AbstractValue) -> bool:
    return type(one.const) is type(other.const) and bool(one.const == other.const)


def _marked(one: AbstractValue, other: AbstractValue, cause: Cause) -> AbstractValue:
    """Return the one whose trait, `loop` and `ref` the join keeps: with a trait, then with the cause."""
    same = one.trait is other.trait and one.ref is other.ref
    if same and (one.cause, one.loop) == (other.cause, other.loop):
        return one

    def rank(value: AbstractValue) -> tuple[object, ...]:
        holds = value.cause == cause and cause != ""
        has = value.trait is not None
        return has, text_of(value.trait), has or holds, value.loop, _position(value.ref)

    return max(one, other, key=rank)


def _reason_of(one: AbstractValue, other: AbstractValue, cause: Cause) -> AbstractValue:
    """Return the one of two tensors whose `ref` made the shape that varies by `cause`."""
    holders = [value for value in (one, other) if value.cause == cause]
    return max(holders, key=lambda value: (value.loop, _position(value.ref)))


def alternatives(ref: Ref) -> frozenset[str | int | Definition]:
    """Return the modules, classes or functions that a reference may stand for; none where it is unknown."""
    if isinstance(ref, Alternatives):
        return ref.refs
    return frozenset() if ref is None or isinstance(ref, Made) else frozenset((ref,))


def _either(one: Ref, other: Ref) -> Alternatives | None:
    """Return what two branches may give; None where one is not known, or they are many."""
    sides = alternatives(one), alternatives(other)
    both = sides[0] | sides[1]
    return Alternatives(both) if all(sides) and len(both) <= MAX_ALTERNATIVES else None


def _position(ref: Ref) -> tuple[int, int]:
    """Where the operation stands that a tensor's `ref` names."""
    return (ref.node.start, ref.node.end) if isinstance(ref, Made) else (-1, -1)


def _reasons(one: AbstractValue, other: AbstractValue, cause: Cause) -> tuple[Why, ...]:
    """The reasons of the one that has the cause; of both that stand first, with what one of them adds."""
    if one.why == other.why:
        return one.why
    told = [value for value in (one, other) if value.why]
    told = [value for value in told if value.cause == cause] or told
    return min((value.why for value in told), key=_first, default=())


def _first(why: tuple[Why, ...]) -> tuple[object, ...]:
    """Return a key that puts longer reasons before those that they begin with."""
    return (*((False, link.span or (0, 0), link.message) for link in why), (True,))


def _join_parts(one: AbstractValue, other: AbstractValue) -> Changes:
    """Return the `items`, `fields` and `element` of the join."""
    if one.items is other.items and one.fields is other.fields and one.element is other.element:
        return {"items": one.items, "fields": one.fields, "element": one.element}
    if one.kind != "instance" and one.kind not in _CONTAINERS:
        known = [value.element for value in (one, other) if value.element is not None]
        element = join_all(known) if len(known) == 2 or (known and one.kind == "module") else None
        return {"items": one.items if one.items == other.items else None, "fields": None, "element": element}
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        pairs = zip(one.items, other.items, strict=True)
        return {"items": tuple(join(a, b) for a, b in pairs), "fields": None, "element": None}
    here, there = one.fields, other.fields
    if here is not None and there is not None and here.keys() == there.keys():
        fields = {key: join(value, there[key]) for key, value in here.items()}
        return {"items": None, "fields": fields, "element": None}
    element = None if one.kind == "instance" else join(_element(one), _element(other))
    return {"items": None, "fields": None, "element": element}


def _element(container: AbstractValue) -> AbstractValue:
    """Return the join of what a container holds; an empty one holds nothing."""
    known = known_parts(container)
    return join_all(known, empty=BOTTOM) if known is not None else container.element or TOP


def known_parts(container: AbstractValue) -> tuple[AbstractValue, ...] | None:
    """Return what a container holds, None where that is not known one by one."""
    return container.items if container.fields is None else tuple(container.fields.values())
