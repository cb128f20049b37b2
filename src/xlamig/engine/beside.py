"""Count what is not shown: findings in files beside the program, and those that need no change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xlamig.config.settings import Settings
from xlamig.engine.installed import is_installed, library_folders
from xlamig.engine.source import Source
from xlamig.engine.superseded import superseded_files, superseded_modules
from xlamig.engine.unused import inner_files, unused_files
from xlamig.findings import ABOUT_THE_RUN, Aside, Finding
from xlamig.flow import ProjectIndex
from xlamig.flow.model.inner import is_inside
from xlamig.source.beside import aside_of, computes

# What is said of code that runs on the device, which that of a converter does not.
_ON_DEVICE = ("XLA0", "XLA1", "XLA2", "XLA3", "XLA4", "XLA5", "XLA8", "XLA906")
_FUNCTION = r"^(?:async )?def {}\(.*?(?=^[^\s)]|\Z)"
_BLOCK = re.MULTILINE | re.DOTALL


def asides_of(
    sources: Collection[Source], index: ProjectIndex, paths: Sequence[Path] = ()
) -> Mapping[str, Aside]:
    """Return the files that say themselves that they are beside the program; a converter calls no function
    of another file that computes. A file that `paths` name besides the folder around it is no test."""
    asked = _named_besides_folder(paths)
    named = (
        (source, aside_of(source.file.name, source.source.text, source.source.kind)) for source in sources
    )
    found = [
        (source, aside)
        for source, aside in named
        if aside and (aside != "tests" or source.file.path not in asked)
    ]
    modules = {source.module: source for source in sources}
    return {
        source.file.name: aside
        for source, aside in found
        if aside != "converters" or not any(map(computes, _texts_called(source, modules, index)))
    }


def _named_besides_folder(paths: Sequence[Path]) -> frozenset[Path]:
    whole = [path.resolve() for path in paths]
    folders = [path for path in whole if path.is_dir()]
    return frozenset(path for path in whole if any(folder in path.parents for folder in folders))


def _texts_called(source: Source, modules: Mapping[str, Source], index: ProjectIndex) -> Iterator[str]:
    """Yield the text of each function of other files that a file calls, directly or through others."""
    calls = source.loaded.interface.calls if source.loaded and source.loaded.interface else {}
    waiting = [(source.module, called) for names in calls.values() for called in names]
    seen: set[tuple[str, str]] = set()
    while waiting:
        origin, called = waiting.pop()
        place = (origin, called[1:]) if called.startswith(".") else index.locate(called, origin)
        if place is None or place in seen or place[0] not in modules:
            continue
        seen.add(place)
        home, name = modules[place[0]], re.escape(place[1])
        if home is not source and (found := re.search(_FUNCTION.format(name), home.source.text, _BLOCK)):
            yield found[0]
        if home.loaded and home.loaded.interface:
            waiting += [(home.module, one) for one in home.loaded.interface.calls.get(place[1], ())]


def files_beside(
    sources: Collection[Source],
    index: ProjectIndex,
    asides: Mapping[str, Aside],
    brought: Collection[str] = (),
) -> Mapping[str, Aside]:
    """Return the files that are no part of the program, with those that were `brought` along; where there are
    no others than `asides`, they are the program."""
    if not any(source.source.kind is None and source.file.name not in asides for source in sources):
        return {}
    exporting = _exporting(sources, index, asides)
    past = superseded_files(sources, index) | superseded_modules(sources, index)
    unused = {*unused_files(sources, index, asides), *past, *brought}
    return {**dict.fromkeys(unused, "unused"), **dict.fromkeys(exporting, "converters"), **asides}


def _exporting(sources: Collection[Source], index: ProjectIndex, beside: Collection[str]) -> frozenset[str]:
    """Return the files of scripts that only export a model, and of the modules that they alone import."""
    python = {s.module: s for s in sources if s.source.kind is None and s.file.name not in beside}
    libraries = library_folders(sources, index)
    inner = {
        s.module for s in inner_files(python.values(), index) if not is_installed(s.file.name, libraries)
    }
    exporters = {m for m in python.keys() - inner if _exports(python[m])}
    ours = index.reached_from(exporters)
    alone = ours - index.reached_from(python.keys() - exporters - (ours & inner))
    files = frozenset(python[module].file.name for module in alone & python.keys())
    return files if python.keys() - alone else frozenset()


def _exports(source: Source) -> bool:
    return source.loaded is not None and source.loaded.clues.exports


def split(
    findings: Iterable[Finding], beside: Aside | None, settings: Settings, unmentioned: Collection[str] = ()
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings to show, and those that are only counted; `unmentioned` are functions and
    classes of the file that nothing uses."""
    shown, aside = [], []
    for finding in findings:
        used = not unmentioned or not is_inside(finding.scope, unmentioned)
        why = _why_aside(finding, beside if used else beside or "unused", settings)
        aside.append(replace(finding, aside=why)) if why else shown.append(finding)
    return tuple(shown), tuple(aside)


def _why_aside(finding: Finding, beside: Aside | None, settings: Settings) -> Aside | None:
    if not finding.code.startswith(ABOUT_THE_RUN):
        if beside == "tests" and not settings.include_tests:
            return beside
        if beside == "unused" and not settings.include_unused:
            return beside
        on_device = finding.code.startswith(_ON_DEVICE)
        if beside == "converters" and not settings.include_converters and on_device:
            return beside
    asked = settings.include_no_action or finding.code in settings.select or finding.name in settings.select
    return "no-action" if finding.no_action and not asked else None
