"""Find the notebooks and scripts that run on the host alone, whose host reads and shapes cost nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.findings import Finding, Reason
from xlamig.flow import ProjectIndex
from xlamig.rulebook.guards import COSTS, STAYS_ON_HOST
from xlamig.source.notebook import SUFFIX

_WHY = "neither this file nor a module that it imports chooses a device, and it trains nothing"
_MAY_MOVE = re.compile(r"\.to\(|gpu|(?<!\.)device|distributed", re.IGNORECASE)


def host_scripts(sources: Collection[Source], index: ProjectIndex, beside: Collection[str]) -> frozenset[str]:
    """Return the notebooks, and the scripts that nothing else in the program names, which train nothing and
    choose no device, as no module that they import does. One that trains may stay on the host by mistake, and
    so may a script where the rest of the program, without the files `beside` it, chooses no device either."""
    modules = {source.module: source for source in sources if source.source.kind is None}
    on_device = index.may_choose_device(modules)
    runs = (s for s in modules.values() if s.is_script and _stays_on_host(s, index))
    return frozenset(
        source.file.name
        for source in runs
        if source.file.name.endswith(SUFFIX)
        or (
            on_device
            and source.file.name not in beside
            and not _may_move(source, modules, index)
            and not _is_named_elsewhere(source, sources)
        )
    )


def _stays_on_host(source: Source, index: ProjectIndex) -> bool:
    loaded = source.loaded
    if loaded is None or loaded.interface is None or loaded.clues.trains or loaded.clues.computes_imports:
        return False
    modules = index.imported_by(source.module)
    return not any(map(index.misses_module, modules)) and not index.may_choose_device(modules)


def _may_move(script: Source, modules: dict[str, Source], index: ProjectIndex) -> bool:
    """Return whether a script, or a module that it imports, may move something by a device of any name."""
    used = (modules.get(name) for name in index.imported_by(script.module))
    return any(one is not None and _MAY_MOVE.search(one.source.text) for one in used)


def _is_named_elsewhere(script: Source, sources: Collection[Source]) -> bool:
    """Return whether another module, or a setting, has the script's name, without `.py`, and may import
    it."""
    name = re.compile(rf"\b{re.escape(PurePosixPath(script.file.name).stem)}\b(?!\.py)")
    others = (s for s in sources if s is not script and not s.file.name.endswith((".md", ".rst", ".sh")))
    return any(name.search(other.source.text) for other in others)


def as_no_action(findings: Iterable[Finding], filename: str) -> Iterator[Finding]:
    """Yield the findings of such a file: what costs time on a device asks for no change."""
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
