"""The references that names and attributes make, coded as words.

"x" refers to anything of that name, ".x" to a method or attribute alone, "=x" to the function or class of the
module itself, "@package.module.x" to what an import leads to, and "'x" is a text of one word, by which
something may be looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from xlamig import ir
from xlamig.flow.model.name_index import NameIndex
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.per_file import per_file

ATTRIBUTE, OWN, IMPORTED, TEXT = ".", "=", "@", "'"
UNFOUND = "*"
"""The file, as it were, of a module of the project that is not found."""


def references_of(node: ir.Name | ir.Attribute, scope: Scope) -> Iterator[str]:
    """Yield the references of a name, or of a chain of attributes with all its parts; of an object that is no
    name those of the last attribute alone."""
    path = path_of(node)
    if not path and isinstance(node, ir.Attribute):
        yield ATTRIBUTE + node.attr
        return
    first, *rest = path.split(".")
    yield from (ATTRIBUTE + name for name in rest)
    if not scope.lookup(first):  # of a star import, for example
        yield from (first, *rest)
    for head in _heads(first, scope):
        yield ".".join((head, *rest)) if head.startswith(IMPORTED) else head


@per_file
@lru_cache(maxsize=256)  # each mention of a name asks again
def _heads(name: str, scope: Scope) -> Collection[str]:
    """Return the references of a name, without the attributes behind an import."""
    found = dict.fromkeys(_head(binding, name) for binding in scope.lookup(name))
    return [head for head in found if head]


def _head(binding: Binding, name: str) -> str:
    if binding.kind == "import":
        return IMPORTED + binding.dotted
    if binding.scope.kind == "class" and binding.kind not in ("param", "opaque"):
        return name
    is_own = binding.kind in ("function", "class") or stands_for(binding.value)
    return OWN + name if is_own and binding.scope.kind == "module" else ""


def stands_for(value: ir.Expr | None) -> bool:
    """Return whether a name at the top of a module only stands for another: `conv = ConvFunction.apply`."""
    return isinstance(value, ir.Name | ir.Attribute) and bool(path_of(value))


class Referring:
    """Resolves the references of the `modules` of a project, by file, to what they define. Where it
    `finds_modules`, any object may be a module."""

    def __init__(
        self, index: NameIndex, modules: Mapping[str, str], is_own: Callable[[str], bool], finds_modules: bool
    ) -> None:
        self._index = index
        self._modules = modules
        self._files = {module: file for file, module in modules.items()}
        self._is_own = is_own
        self._finds_modules = finds_modules
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def resolved(self, references: Iterable[str], file: str) -> frozenset[str]:
        """Return references with those to imports and to the module itself resolved; what an import from
        outside of the project leads to is left out."""
        return frozenset(found for one in references for found in self._resolved_once(one, file))

    def modules_in(self, references: Iterable[str], file: str) -> Iterator[str]:
        """Yield the files of the modules that are used as objects: they may be asked for anything that they
        hold; the last name of one that has no file here."""
        for one in references:
            if one.startswith(IMPORTED) and (module := self._index.module_of(one[1:], self._modules[file])):
                yield self._files.get(module) or module.rpartition(".")[2]

    def starred_in(self, file: str) -> Iterator[str]:
        """Yield the files of the project that a module imports all names from."""
        module = self._modules.get(file)
        for dotted in self._index.stars_of(module) if module is not None else ():
            found = self._files.get(self._index.module_of(dotted, module or ""))
            if found is not None:
                yield found
            elif not (first := dotted.partition(".")[0]) or self._is_own(first):
                yield UNFOUND

    def _resolved_once(self, reference: str, file: str) -> tuple[str, ...]:
        key = reference, file
        if key not in self._known:
            self._known[key] = tuple(self._resolved(reference, file))
        return self._known[key]

    def _resolved(self, reference: str, file: str) -> Iterator[str]:
        if reference.startswith(OWN):
            yield defined_in(file, reference[1:])
            return
        if not reference.startswith(IMPORTED):
            yield reference.lstrip(ATTRIBUTE + TEXT) if self._finds_modules else reference
            return
        dotted = reference[1:]
        place = self._index.locate(dotted, self._modules[file])
        if place is not None and place[0] in self._files:
            yield defined_in(self._files[place[0]], place[1].partition(".")[0])
        elif self._is_own(dotted.partition(".")[0]):
            yield from dotted.split(".")


def defined_in(file: str, name: str) -> str:
    """Return the resolved reference to the function or class of a name at the top of a module."""
    return f"{OWN}{file}{OWN}{name}"
