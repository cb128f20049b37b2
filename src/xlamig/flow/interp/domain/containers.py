"""Containers of abstract values, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from xlamig.flow.interp.domain.join import join_all, known_parts
from xlamig.flow.interp.domain.traits import Mark
from xlamig.flow.interp.domain.values import LIKELY, TOP, AbstractValue, Residence

_MAX_ITEMS = 32
_CONTAINERS = ("sequence", "mapping")


def sequence(items: list[AbstractValue] | tuple[AbstractValue, ...]) -> AbstractValue:
    """Return a sequence of these elements."""
    if len(items) > _MAX_ITEMS:
        return AbstractValue("sequence", element=join_all(items))
    return AbstractValue("sequence", items=tuple(items))


def element_of(value: AbstractValue) -> AbstractValue:
    """Return the join of what a sequence or mapping holds."""
    known = known_parts(value)
    return join_all(known) if known is not None else value.element or TOP


def updated(
    value: AbstractValue, given: AbstractValue | None, keywords: Mapping[str, AbstractValue]
) -> AbstractValue:
    """Return a mapping after `value.update(given, **keywords)`; what is no mapping as it is."""
    parts = [given] if given is not None and given.kind == "mapping" else []
    known = all(part.fields is not None and part.element is None for part in (value, *parts))
    if value.kind != "mapping" or (given is not None and not parts) or not (parts or keywords):
        return value
    if known:
        fields = {key: thing for part in (value, *parts) for key, thing in (part.fields or {}).items()}
        return value.replace(fields={**fields, **keywords})
    held = [element_of(part) for part in (value, *parts) if part.fields or part.element]
    return AbstractValue("mapping", element=join_all([*held, *keywords.values()]))


def inside(value: AbstractValue) -> AbstractValue:
    """Return what a sequence or mapping holds; of anything else, the value itself."""
    return element_of(value) if value.kind in _CONTAINERS else value


def join_parameters(values: Iterable[AbstractValue]) -> AbstractValue:
    """Return the parameters of several modules as one value."""
    held = [value for value in values if value.kind == "parameters"]
    made = join_all(held)
    return (
        made.replace(items=tuple(module for value in held for module in value.items or ())) if held else made
    )


def over(thing: AbstractValue, whole: bool = False) -> str:
    """Return the name of what a loop over a value goes through: "batch", "parameters", "state-dict" or ""."""
    element = element_of(thing) if thing.kind in ("sequence", "mapping") else thing
    if element.kind == "sequence" and element.items:
        element = element.items[-1]
    if thing.kind == "parameters" or element.trait is Mark.PARAMETER:
        return "parameters"
    if element.trait is Mark.STATE or thing.trait is Mark.STATE:
        return "state-dict"
    return "batch" if element.kind == "tensor" and not whole else ""


def tensors_in(thing: AbstractValue, depth: int = 3) -> Iterator[AbstractValue]:
    """The tensor, or those in a container."""
    if thing.kind == "tensor":
        yield thing
    elif thing.kind == "sequence" and depth:
        for item in (*(thing.items or ()), *((thing.element,) if thing.element else ())):
            yield from tensors_in(item, depth - 1)


def map_sequence(
    value: AbstractValue, change: Callable[[AbstractValue], AbstractValue], depth: int = 3
) -> AbstractValue:
    """Return `change(value)`; of a sequence, the sequence with each of its parts changed, to a depth."""
    if value.kind != "sequence":
        return change(value)
    if not depth:
        return value
    items = value.items and tuple(map_sequence(item, change, depth - 1) for item in value.items)
    element = value.element and map_sequence(value.element, change, depth - 1)
    return value.replace(items=items, element=element)


def batch_of(value: AbstractValue) -> AbstractValue:
    """Return what a loader gives: host tensors, also those in its containers, belong to a batch."""
    if value.kind == "tensor" and value.place == "host":
        return value.replace(trait=Mark.BATCH)
    if value.kind == "sequence" and value.items:
        return value.replace(items=tuple(batch_of(item) for item in value.items))
    if value.kind == "mapping" and value.fields:
        return value.replace(fields={key: batch_of(part) for key, part in value.fields.items()})
    return value


def holds_unknown(value: AbstractValue) -> bool:
    """Return whether nothing is known of a part of a value, or of all of it."""
    parts = [*(value.items or ()), *(value.fields or {}).values()]
    parts += [value.element] if value.element is not None else []
    return value.kind == "unknown" or any(map(holds_unknown, parts))


def placed(thing: AbstractValue, owner: AbstractValue) -> AbstractValue:
    """Return the value with the residence of the module that it is part of; what was made on the device for a
    module of the host stays there."""
    if owner.kind != "module" or not owner.place:
        return thing
    if thing.kind == "module" and thing.place in ("host", ""):
        return thing.replace(place=owner.place, sure=min(thing.sure, owner.sure), why=thing.why or owner.why)
    if thing.kind == "tensor" and thing.trait in (Mark.PARAMETER, Mark.BUFFER):
        if owner.place == "host" and thing.place in ("device", "either"):
            return thing
        return thing.replace(place=owner.place, sure=min(thing.sure, owner.sure), why=thing.why or owner.why)
    if thing.kind == "sequence" and thing.trait is Mark.PARAMETER:  # a `ParameterList`, no plain list
        items = None if thing.items is None else tuple(_registered(one, owner) for one in thing.items)
        element = None if thing.element is None else _registered(thing.element, owner)
        return thing.replace(items=items, element=element)
    return thing


def _registered(thing: AbstractValue, owner: AbstractValue) -> AbstractValue:
    return placed(thing.replace(trait=Mark.PARAMETER) if thing.kind == "tensor" else thing, owner)


def as_tensor(value: AbstractValue) -> AbstractValue:
    """The tensor that something unknown is computed from, or is."""
    sure = min(value.sure, LIKELY) if value.place != "host" else LIKELY
    return AbstractValue("tensor", value.place, sure=sure, loose=True, cause=value.cause, why=value.why)


def groups_of(place: Residence) -> AbstractValue:
    """Return the `param_groups` of an optimizer: parameters, and numbers such as the learning rate."""
    parameter = AbstractValue("tensor", place or "device", sure=LIKELY, trait=Mark.PARAMETER)
    return AbstractValue(
        "sequence",
        element=AbstractValue(
            "mapping",
            fields={"params": AbstractValue("parameters", element=parameter)},
            element=AbstractValue("number"),
        ),
    )
