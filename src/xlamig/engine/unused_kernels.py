"""Find the sources of CUDA kernels that only code runs which nothing in a program uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from xlamig.artifacts.native import NativeIndex
from xlamig.engine.source import Source
from xlamig.engine.unmentioned import Unreached
from xlamig.findings import Aside
from xlamig.flow import ProjectIndex
from xlamig.flow.model.inner import is_inside
from xlamig.flow.model.mentions import DOCSTRING
from xlamig.flow.model.references import ATTRIBUTE, IMPORTED, OWN

_EXTENSION = re.compile(r"""Extension\(\s*(?:name\s*=\s*)?["']([\w.]+)["']\s*,[^\[\]]*\[([^\]]*)\]""")
_AT_TOP = re.compile(r"^(?:(?:async )?def|class) (\w+)|^[^\s#)\]}@\"']", re.MULTILINE)
"""Matches what begins a statement at the top of a file: a function or class has its name."""


def native_index(sources: Collection[Source]) -> NativeIndex:
    """Return the index of the native sources of a run, and of the Python that calls them."""
    return NativeIndex(
        {s.file.name: s.loaded.native for s in sources if s.loaded and s.loaded.native},
        [(s.file.name, s.source.text) for s in sources if s.source.kind is None],
    )


def unused_kernels(
    sources: Collection[Source],
    index: ProjectIndex,
    natives: NativeIndex,
    beside: Mapping[str, Aside],
    unreached: Unreached,
) -> tuple[Mapping[str, Aside], Mapping[str, str]]:
    """Return the files `beside` the program, with the native sources whose kernels only unused functions and
    such files call, by operators or by the module that a build makes of them; one that nothing calls may be
    loaded in another way. Then those that code calls too which a test keeps off, each with the reason."""
    kernels = [s for s in sources if s.loaded and s.loaded.native and s.loaded.native.kernels]
    if not kernels or not (unreached.unmentioned or unreached.off):
        return beside, {}
    unmentioned = unreached.unmentioned
    python = {source.file.name: source for source in sources if source.source.kind is None}
    modules = [found for source in python.values() for found in _EXTENSION.findall(source.source.text)]

    def is_used(name: str, scope: str) -> bool:
        return name not in beside and not is_inside(scope, unmentioned.get(name, ()))

    def places_of(kernel: Source) -> list[tuple[str, str]]:
        users = [(user.filename, user.end) for user in natives.users(kernel.file.name)]
        operators = {name.rpartition("::")[2] for name in natives.operators(kernel.file.name)}
        names = operators if users else _modules_of(kernel, modules)
        places = [(name, _scope_at(python[name].source.text, end)) for name, end in users if name in python]
        places += _mentions(frozenset(names), python.values(), index)
        return places

    unused: dict[str, Aside] = {}
    off: dict[str, str] = {}
    for kernel in kernels:
        places = places_of(kernel)
        used = [(name, scope) for name, scope in places if is_used(name, scope)]
        tests = [_test_of(scope, unreached.off.get(name, ())) for name, scope in used]
        if places and not used:
            unused[kernel.file.name] = "unused"
        elif used and all(tests):
            off[kernel.file.name] = f"only code under `{tests[0]}` calls it, which never holds on a TPU"
    return {**beside, **unused}, off


def _test_of(scope: str, off: Collection[tuple[str, str]]) -> str:
    """Return the test that keeps a scope from running; "" for one that may run."""
    return next((test for one, test in off if is_inside(scope, (one,))), "")


def _scope_at(text: str, offset: int) -> str:
    """Return the name of the function or class at the top of a file that holds a place; "" for none."""
    names = [found[1] for found in _AT_TOP.finditer(text, 0, offset)]
    return names[-1] or "" if names else ""


def _modules_of(kernel: Source, modules: Collection[tuple[str, str]]) -> set[str]:
    """Return the names of the modules that builds make of a source, from their names and lists of sources."""
    file = re.compile(rf"(?<![\w-]){re.escape(PurePosixPath(kernel.file.name).name)}\b")
    return {name.rpartition(".")[2] for name, listed in modules if file.search(listed)}


def _mentions(
    names: frozenset[str], python: Collection[Source], index: ProjectIndex
) -> Iterator[tuple[str, str]]:
    """Yield the files and scopes that mention one of the names; a build and a docstring are no use."""
    for source in python:
        text = source.source.text
        mentions = source.loaded.mentions if source.loaded else None
        if mentions is None or not any(name in text for name in names) or _EXTENSION.search(text):
            continue
        for block in mentions.get().blocks:
            used = not block.scope.endswith(DOCSTRING)
            if used and not names.isdisjoint(_unexplained(block.names, source.module, index)):
                yield source.file.name, block.scope


def _unexplained(references: Collection[str], module: str, index: ProjectIndex) -> Iterator[str]:
    """Yield the names in references that do not lead to modules, functions and classes of the project."""
    known: set[str] = set()
    for dotted in (one[1:] for one in references if one.startswith(IMPORTED)):
        parts = dotted.split(".")
        inside = (i for i in range(len(parts), 0, -1) if index.is_module(".".join(parts[:i]), module))
        rest = parts[next(inside, 0) :]
        export = index.resolve(dotted, module)
        if export is not None and export.kind in ("function", "class"):
            known.update(rest)
        else:
            yield from rest
    for one in references:
        if not one.startswith((IMPORTED, OWN)) and one.removeprefix(ATTRIBUTE) not in known:
            yield one.removeprefix(ATTRIBUTE)
