"""Between the files: what the analysis of each finds out about the functions of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xlamig.findings import FileReport
from xlamig.flow import ProjectIndex
from xlamig.flow.interp.visits import NO_VISIT, Visit, joined, news
from xlamig.flow.model.summaries import Portable

MAX_ROUNDS = 3
"""How often a file is analysed at most, as its callers learn more."""


def visits_by_module(
    found: Mapping[str, Mapping[str, Visit]], own: Mapping[str, Visit]
) -> Mapping[str, Visit]:
    """Return what the analyses of other modules add to what each module's own found out; `found` is by
    module, and by the module that it is about."""
    about: dict[str, list[Visit]] = {}
    for module, visits in found.items():
        for other, visit in visits.items():
            if other != module and visit != NO_VISIT:
                about.setdefault(other, []).append(visit)
    added = {module: news(joined(visits), own.get(module, NO_VISIT)) for module, visits in about.items()}
    return {module: visit for module, visit in added.items() if visit != NO_VISIT}


def modules_named(visit: Visit, index: ProjectIndex) -> Iterator[str]:
    """The modules of the classes that the objects hold."""
    for _, _, value in visit.attributes:
        for ref in _references(value):
            place = index.locate(ref, "")
            if place is not None:
                yield place[0]


def _references(value: Portable) -> Iterator[str]:
    if value.ref:
        yield value.ref
    for part in (*(value.items or ()), *((value.element,) if value.element is not None else ())):
        yield from _references(part)


def mark_unfinished(report: FileReport) -> FileReport:
    """Return the report, saying that calls from other files were not followed to the end."""
    return replace(report, unfollowed=(*report.unfollowed, "functions that other files call"))
