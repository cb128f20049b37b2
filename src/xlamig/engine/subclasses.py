"""Classes below another, of which a program picks one by name: `issubclass(cls, BaseModel)`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from xlamig.engine.source import Source
from xlamig.flow.interp.domain import MAX_ALTERNATIVES
from xlamig.flow.model.closure import closure
from xlamig.flow.model.registries import BELOW


def subclasses_named(
    sources: Collection[Source], keys: Collection[str], words: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the classes below each that is asked for, by its key; of many those that the values of options
    name: `cycle_gan` the class `CycleGANModel` below `BaseModel`."""
    asked = [key.removeprefix(BELOW) for key in keys if key.startswith(BELOW)]
    below = _heirs(sources) if asked else {}
    given = {word.replace("_", "").replace("-", "").lower() for word in words}
    for base in asked:
        every = _all_below(base, below)
        meant = [one for one in every if _is_meant(one.rpartition(".")[2].lower(), base.lower(), given)]
        for dotted in every if len(every) <= MAX_ALTERNATIVES else meant:
            yield BELOW + base, dotted


def _heirs(sources: Collection[Source]) -> Mapping[str, list[str]]:
    """Return the full names of the classes that name a class as their base, by its name."""
    found: dict[str, list[str]] = {}
    for source in sources:
        interface = source.loaded.interface if source.loaded else None
        for name, export in interface.exports.items() if interface else ():
            if export.kind == "class":
                for base in export.value.split():
                    found.setdefault(base.rpartition(".")[2], []).append(f"{source.module}.{name}")
    return found


def _all_below(base: str, below: Mapping[str, list[str]]) -> list[str]:
    """Return the full names of the classes below another, directly or through others."""
    return sorted(closure(below.get(base, ()), lambda dotted: below.get(dotted.rpartition(".")[2], ())))


def _is_meant(name: str, base: str, given: Collection[str]) -> bool:
    """Return whether a word that is given is a class's name, maybe without the end that its base has too."""
    return any(name.startswith(word) and base.endswith(name.removeprefix(word)) for word in given if word)
