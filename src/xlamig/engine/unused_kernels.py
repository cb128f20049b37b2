"""Find the sources of CUDA kernels that only code runs which nothing in a program uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from xlamig.artifacts.native import NativeIndex
from xlamig.engine.source import Source
from xlamig.findings import Aside
from xlamig.flow.model.inner import is_inside

_EXTENSION = re.compile(r"""Extension\(\s*(?:name\s*=\s*)?["']([\w.]+)["']\s*,[^\[\]]*\[([^\]]*)\]""")
_PARTS = re.compile(r"[.@=]")
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
    natives: NativeIndex,
    beside: Collection[str],
    unmentioned: Mapping[str, Collection[str]],
) -> Mapping[str, Aside]:
    """Return the native sources with kernels that only unused functions and files `beside` call, by operators
    or by the module that a build makes of them; one that nothing calls may be loaded in another way."""
    kernels = [s for s in sources if s.loaded and s.loaded.native and s.loaded.native.kernels]
    if not kernels or not unmentioned:
        return {}
    python = {source.file.name: source for source in sources if source.source.kind is None}
    modules = [found for source in python.values() for found in _EXTENSION.findall(source.source.text)]

    def is_unused(kernel: Source) -> bool:
        users = [(user.filename, user.end) for user in natives.users(kernel.file.name)]
        operators = {name.rpartition("::")[2] for name in natives.operators(kernel.file.name)}
        names = operators if users else _modules_of(kernel, modules)
        places = [(name, _scope_at(python[name].source.text, end)) for name, end in users if name in python]
        places += _mentions(frozenset(names), python.values())
        return bool(places) and all(
            name in beside or is_inside(scope, unmentioned.get(name, ())) for name, scope in places
        )

    return {kernel.file.name: "unused" for kernel in kernels if is_unused(kernel)}


def _scope_at(text: str, offset: int) -> str:
    """Return the name of the function or class at the top of a file that holds a place; "" for none."""
    names = [found[1] for found in _AT_TOP.finditer(text, 0, offset)]
    return names[-1] or "" if names else ""


def _modules_of(kernel: Source, modules: Collection[tuple[str, str]]) -> set[str]:
    """Return the names of the modules that builds make of a source, from their names and lists of sources."""
    file = re.compile(rf"(?<![\w-]){re.escape(PurePosixPath(kernel.file.name).name)}\b")
    return {name.rpartition(".")[2] for name, listed in modules if file.search(listed)}


def _mentions(names: frozenset[str], python: Collection[Source]) -> Iterator[tuple[str, str]]:
    """Yield the files and scopes that mention one of the names; a build is no use."""
    for source in python:
        text = source.source.text
        mentions = source.loaded.mentions if source.loaded else None
        if mentions is None or not any(name in text for name in names) or _EXTENSION.search(text):
            continue
        for block in mentions.get().blocks:
            if any(not names.isdisjoint(_PARTS.split(one)) for one in block.names):
                yield source.file.name, block.scope
