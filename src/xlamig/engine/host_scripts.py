"""Find the notebooks and scripts that run on the host alone, whose host reads and shapes cost nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from xlamig.engine.source import Source
from xlamig.findings import Finding, Reason
from xlamig.flow import ProjectIndex
from xlamig.rulebook.guards import COSTS, STAYS_ON_HOST
from xlamig.source.notebook import SUFFIX

_WHY = "neither this file nor a module that it imports chooses a device, and it trains nothing"
_WORD = re.compile(r"\w+\b(?!\.py)")
_MAY_MOVE = re.compile(r"\.to\(|gpu|(?<!\.)device|distributed", re.IGNORECASE)


def host_scripts(sources: Collection[Source], index: ProjectIndex, beside: Collection[str]) -> frozenset[str]:
    """Return the notebooks, and the scripts that nothing else in the program names, which train nothing and
    choose no device, as no module that they import does. One that trains may stay on the host by mistake, and
    so may a script where the rest of the program, without the files `beside` it, chooses no device either."""
    modules = {source.module: source for source in sources if source.source.kind is None}
    runs = [source for source in modules.values() if source.is_script and _stays_on_host(source, index)]
    found = [source for source in runs if source.file.name.endswith(SUFFIX)]
    own = (source for source in runs if not source.file.name.endswith(SUFFIX))
    scripts = [source for source in own if source.file.name not in beside]
    if scripts and index.may_choose_device(modules):
        named, moving = _named_elsewhere(scripts, sources), _may_move(modules)
        found += [
            source
            for source in scripts
            if _stem(source) not in named and moving.isdisjoint(index.imported_by(source.module))
        ]
    return frozenset(source.file.name for source in found)


def _stays_on_host(source: Source, index: ProjectIndex) -> bool:
    loaded = source.loaded
    if loaded is None or loaded.interface is None or loaded.clues.trains or loaded.clues.computes_imports:
        return False
    modules = index.imported_by(source.module)
    return not any(map(index.misses_module, modules)) and not index.may_choose_device(modules)


def _may_move(modules: Mapping[str, Source]) -> frozenset[str]:
    """Return the modules that may move something by a device of any name."""
    return frozenset(name for name, source in modules.items() if _MAY_MOVE.search(source.source.text))


def _named_elsewhere(scripts: Iterable[Source], sources: Iterable[Source]) -> frozenset[str]:
    """Return the names of scripts, without `.py`, that another module or a setting has and may import."""
    names = frozenset(map(_stem, scripts))
    found: set[str] = set()
    for source in sources:
        if not source.file.name.endswith((".md", ".rst", ".sh")):
            own = {_stem(source)} if source.source.kind is None else set()
            found |= names.intersection(_WORD.findall(source.source.text)) - own
    return frozenset(found)


def _stem(source: Source) -> str:
    return PurePosixPath(source.file.name).stem


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
