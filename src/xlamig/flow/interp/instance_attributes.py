"""The attributes that objects of a module's classes hold, as one analysis hands them to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.interpreter import AbstractInterpreter
from xlamig.flow.interp.portable import portable, restored
from xlamig.flow.interp.visits import Visit
from xlamig.flow.model.summaries import Portable


def held_attributes(machine: AbstractInterpreter) -> Iterator[tuple[str, str, Portable]]:
    """Yield the attributes of the objects that a run made of a module's classes."""
    for name, value in sorted(machine.top.env.items()):
        info = value.ref
        if not isinstance(info, ClassInfo) or value.kind != "class" or info.frame is not machine.top:
            continue
        for attribute in sorted(info.assigned & info.attributes.keys()):
            held = portable(info.attributes[attribute], machine.names)
            if held.kind != "unknown" or held.place or held.ref:
                yield name, attribute, held


def restore_attributes(
    machine: AbstractInterpreter, visit: Visit, defined: Callable[[str], AbstractValue | None]
) -> None:
    """Let the classes of a module hold what the objects hold that other modules make of them."""
    for name, attribute, held in visit.attributes:
        known = machine.top.env.get(name)
        if known is not None and isinstance(known.ref, ClassInfo):
            known.ref.hold(attribute, restored(held, defined))
