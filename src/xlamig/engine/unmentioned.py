"""Find the functions and classes that nothing in a program mentions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from xlamig.engine.source import Source
from xlamig.engine.switches import texts_beside
from xlamig.engine.unused import is_installed, is_script, project_folders
from xlamig.flow.model.mentions import Defined, unmentioned

_COMMENT = re.compile(r"#[^\n]*\(")
_WORD = re.compile(r"[A-Za-z_]\w+")


def unmentioned_scopes(sources: Iterable[Source], beside: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the qualified names of the functions and classes that no module, setting or page mentions, by
    file. Nothing in a package that can be installed: its users may call anything; and nothing where no
    script runs what there is."""
    every = list(sources)
    python = [s for s in every if s.source.kind is None and s.loaded and s.loaded.interface]
    if not any(is_script(s) and s.file.name not in beside and "torch" in s.source.text for s in python):
        return {}
    roots = {part for source in python for part in source.module.split(".")}
    modules = [(s.file.name, s.loaded.mentions) for s in python if s.loaded]
    projects = project_folders(every)
    found: dict[str, list[Defined]] = {}
    for name, one in unmentioned(modules, roots.__contains__):
        if name not in beside and not is_installed(name, projects):
            found.setdefault(name, []).append(one)
    named = _named_elsewhere(every) if found else frozenset()
    return {
        name: tuple(sorted(one.scope for one in defined if one.name not in named))
        for name, defined in found.items()
    }


def _named_elsewhere(sources: Collection[Source]) -> frozenset[str]:
    """Return the words of calls in comments, which wait to be used, and of the files that are no modules, or
    were not read as such."""
    texts = [s.source.text for s in sources if not (s.loaded and s.loaded.interface)]
    texts += [found for s in sources if s.source.kind is None for found in _COMMENT.findall(s.source.text)]
    return frozenset(word for text in (*texts, *texts_beside(sources)) for word in _WORD.findall(text))
