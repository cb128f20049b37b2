"""Count what is not shown: findings in files beside the program, and those that need no change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from xlamig.config.settings import Settings
from xlamig.engine.source import Source
from xlamig.engine.unused import inner_files, is_installed, published_folders, unused_files
from xlamig.findings import ABOUT_THE_RUN, Aside, Finding
from xlamig.flow import ProjectIndex
from xlamig.source.beside import aside_of

# What is said of code that runs on the device, which that of a converter does not.
_ON_DEVICE = ("XLA0", "XLA1", "XLA2", "XLA3", "XLA4", "XLA5", "XLA8")


def asides_of(sources: Iterable[Source]) -> Mapping[str, Aside]:
    """Return the files that say themselves that they are beside the program."""
    return {
        source.file.name: aside
        for source in sources
        if (aside := aside_of(source.file.name, source.source.text, source.source.kind))
    }


def files_beside(
    sources: Collection[Source], index: ProjectIndex, asides: Mapping[str, Aside]
) -> Mapping[str, Aside]:
    """Return the files that are no part of the program; where there are no others than `asides`, they are the
    program."""
    if not any(source.source.kind is None and source.file.name not in asides for source in sources):
        return {}
    exporting = _exporting(sources, index, asides)
    unused = unused_files(sources, index, asides)
    return {**dict.fromkeys(unused, "unused"), **dict.fromkeys(exporting, "converters"), **asides}


def _exporting(sources: Collection[Source], index: ProjectIndex, beside: Collection[str]) -> frozenset[str]:
    """Return the files of scripts that only export a model, and of the modules that they alone import."""
    python = {s.module: s for s in sources if s.source.kind is None and s.file.name not in beside}
    projects = published_folders(sources)
    inner = {s.module for s in inner_files(python.values()) if not is_installed(s.file.name, projects)}
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


def is_inside(scope: str, around: Collection[str]) -> bool:
    """Return whether a scope is one of others, or lies in one."""
    return any(scope == one or scope.startswith(f"{one}.") for one in around)


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
