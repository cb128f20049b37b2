"""The arguments that other modules' bodies give functions of each step, as one analysis hands them on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from xlamig.flow.interp.domain import TOP, AbstractValue, join
from xlamig.flow.interp.interpreter import AbstractInterpreter
from xlamig.flow.interp.portable import portable, restored
from xlamig.flow.interp.visits import Given, Visit


def given_arguments(machine: AbstractInterpreter) -> Iterator[Given]:
    """Yield where each function starts that no step calls, with what its last call gives its parameters: its
    own module, or another one, may run it again for a step."""
    contexts = machine.calls.call_contexts
    for node, _, owner in contexts.definitions.values():
        ran = contexts.ran.get(id(node))
        if ran is not None and "step" not in ran.frequencies:
            for param in node.params[owner is not None :]:
                value = portable(ran.given.get(param.name, TOP), machine.names)
                if value.kind != "unknown" or value.place:
                    yield Given(node.start, param.name, value)


def restored_arguments(
    visit: Visit, defined: Callable[[str], AbstractValue | None]
) -> Mapping[int, Mapping[str, AbstractValue]]:
    """Return the arguments by function and parameter; what several programs give is joined."""
    found: dict[int, dict[str, AbstractValue]] = {}
    for start, name, value in visit.given:
        given, of_function = restored(value, defined), found.setdefault(start, {})
        of_function[name] = join(of_function[name], given) if name in of_function else given
    return found
