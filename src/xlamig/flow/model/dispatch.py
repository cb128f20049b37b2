"""Methods that a class calls by a text, as `getattr(self, "_" + mode)(x)`, and those that replace others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from xlamig.flow.model.kinds import is_module_class
from xlamig.flow.model.name_parts import is_meant

_Locate = Callable[[str, str], tuple[str, str] | None]
_Place = tuple[str, str]
"""A module, and the name of a class or method there."""


class Dispatcher(NamedTuple):
    """A method "C.m" that calls the methods `prefix + text + suffix` of its object; `texts` are those that it
    gives itself, `keyword` and `position` say where callers give others ("" and -1: nowhere)."""

    method: str
    prefix: str
    suffix: str
    keyword: str = ""
    position: int = -1
    texts: tuple[str, ...] = ()


class Dispatch(NamedTuple):
    """A module's part in such calls: its dispatchers, and the words that its calls give as arguments, each
    with its keyword or, where a model is called, its position."""

    made: tuple[Dispatcher, ...] = ()
    given: tuple[tuple[str, str], ...] = ()


NO_DISPATCH = Dispatch()


class KnownClass(NamedTuple):
    """The names of a class's bases as its module has them, and those of its methods."""

    bases: tuple[str, ...]
    methods: tuple[str, ...]


def dispatched(
    parts: Mapping[str, Dispatch], classes: Mapping[_Place, KnownClass], locate: _Locate
) -> Mapping[_Place, list[_Place]]:
    """Return the methods that each dispatcher may call, of its class and of those that inherit from it."""
    made = [(module, one) for module, part in parts.items() for one in part.made]
    if not made:
        return {}
    given: dict[str, set[str]] = {}
    for part in parts.values():
        for where, text in part.given:
            given.setdefault(where, set()).add(text)
    heirs = _heirs({(module, one.method.partition(".")[0]) for module, one in made}, classes, locate)
    found: dict[_Place, list[_Place]] = {}
    for module, one in made:
        base, _, own = one.method.partition(".")
        words = given.get(one.keyword, set()) | given.get(str(one.position), set()) | {*one.texts}
        meant = {f"{one.prefix}{word}{one.suffix}" for word in words}
        for home, name in heirs[module, base]:
            methods = {
                m for m in classes[home, name].methods if m in meant or is_meant(m, one.prefix, one.suffix)
            } - {own}
            found.setdefault((module, one.method), []).extend((home, f"{name}.{m}") for m in sorted(methods))
    return found


def overriding(classes: Mapping[_Place, KnownClass], locate: _Locate) -> Mapping[_Place, list[_Place]]:
    """Return the methods of classes below that replace each method, or that a class leaves to them: what
    calls it on its own object calls them on theirs."""
    found: dict[_Place, list[_Place]] = {}
    for one, known in classes.items():
        own = {name for name in known.methods if not name.startswith("__")}
        for module, base in _lineage(one, classes, locate) - {one} if own else ():
            for name in own:
                found.setdefault((module, f"{base}.{name}"), []).append((one[0], f"{one[1]}.{name}"))
    return found


def registered_methods(
    registered: Collection[_Place], classes: Mapping[_Place, KnownClass], locate: _Locate
) -> Mapping[str, list[_Place]]:
    """Return by name the methods that the modules in registries have, also from classes above: an object
    that a factory makes of settings may be any of them."""
    found: dict[str, dict[_Place, None]] = {}
    for one in sorted(place for place in registered if place in classes):
        lineage = sorted(_lineage(one, classes, locate))
        known = [classes[place] for place in lineage]
        if not any("forward" in c.methods or any(map(is_module_class, c.bases)) for c in known):
            continue
        for (home, name), held in zip(lineage, known, strict=True):
            for method in held.methods:
                if not method.startswith("__"):
                    found.setdefault(method, {})[home, f"{name}.{method}"] = None
    return {method: list(places) for method, places in found.items()}


def _heirs(
    bases: set[_Place], classes: Mapping[_Place, KnownClass], locate: _Locate
) -> Mapping[_Place, list[_Place]]:
    """Return each of some classes with those that inherit from it, itself first."""
    found: dict[_Place, list[_Place]] = {base: [base] for base in bases}
    for one in classes:
        for base in (_lineage(one, classes, locate) - {one}) & bases:
            found[base].append(one)
    return found


def _lineage(one: _Place, classes: Mapping[_Place, KnownClass], locate: _Locate) -> set[_Place]:
    """Return a class and those above it."""
    found, waiting = {one}, [one]
    while waiting:
        new = [base for base in _above(waiting.pop(), classes, locate) if base not in found]
        found.update(new)
        waiting += new
    return found


def _above(one: _Place, classes: Mapping[_Place, KnownClass], locate: _Locate) -> Iterator[_Place]:
    """Yield the classes that a class names as its bases."""
    module = one[0]
    for base in classes[one].bases:
        named = (module, base), locate(base, module), locate(f"{module}.{base}", module)
        known = ((place[0], place[1].removesuffix(".__init__")) for place in named if place is not None)
        yield from [place for place in known if place in classes][:1]
