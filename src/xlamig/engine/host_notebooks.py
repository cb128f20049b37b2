"""Find the notebooks that run on the host alone, whose host reads and shapes cost nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from xlamig.engine.source import Source
from xlamig.findings import Finding, Reason
from xlamig.flow import ProjectIndex
from xlamig.rulebook.guards import COSTS, STAYS_ON_HOST
from xlamig.source.notebook import SUFFIX

_WHY = "neither this notebook nor a module that it imports chooses a device, and it trains nothing"


def host_notebooks(sources: Iterable[Source], index: ProjectIndex) -> frozenset[str]:
    """Return the notebooks that train nothing and choose no device, as no module that they import does. One
    that trains may stay on the host by mistake."""
    notebooks = (source for source in sources if source.file.name.endswith(SUFFIX))
    return frozenset(source.file.name for source in notebooks if _stays_on_host(source, index))


def _stays_on_host(notebook: Source, index: ProjectIndex) -> bool:
    loaded = notebook.loaded
    if loaded is None or loaded.interface is None or loaded.clues.trains or loaded.clues.computes_imports:
        return False
    modules = index.imported_by(notebook.module)
    return not any(map(index.misses_module, modules)) and not index.may_choose_device(modules)


def as_no_action(findings: Iterable[Finding], filename: str) -> Iterator[Finding]:
    """Yield the findings of such a notebook: what costs time on a device asks for no change."""
    for finding in findings:
        if finding.mechanism not in COSTS:
            yield finding
            continue
        why = Reason(_WHY, filename, finding.place)
        effort = replace(finding.effort, optional=True)
        yield replace(
            finding,
            severity="info",
            help=STAYS_ON_HOST,
            fix=None,
            reasons=(why, *finding.reasons),
            effort=effort,
            no_action=True,
        )
