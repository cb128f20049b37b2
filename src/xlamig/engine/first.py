"""Reports on the files that somebody edits, before the rest of their program is checked."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

from xlamig.engine.big_stack import on_deep_stack
from xlamig.engine.garbage import young_only
from xlamig.engine.load import Loaded, edited_module, is_risky
from xlamig.engine.loader import job_of
from xlamig.engine.memory import Memory
from xlamig.engine.program import once_in_program
from xlamig.engine.run import Run
from xlamig.engine.source import Source
from xlamig.findings import FileReport
from xlamig.flow.interface import imports_of
from xlamig.flow.model.scopes import ScopeTable
from xlamig.source.decode import Undecodable
from xlamig.source.files import too_large
from xlamig.source.text import SourceText

First = Callable[[FileReport, SourceText], None]
"""Takes the report on a file, and the text that it is about."""

_FEW = 2  # files edited since the last check; a tool edits more


@young_only()
def report_first(before: Run, memory: Memory, buffers: Mapping[Path, bytes], first: First) -> None:
    """Give `first` the reports on the files edited since the run before, as that run knows all else. What the
    edit changes in other files, and through them in these, the check finds out right after. Where nothing
    is, it takes the analyses over from the memory: their keys say all that they depend on."""
    edited = list(_edited(before, memory, buffers))
    if not 0 < len(edited) <= _FEW:
        return
    parsed = on_deep_stack(_parse_edits, edited, memory)
    if len(parsed) < len(edited):
        return
    found = _edited_run(before, parsed).reports_on([source.file.name for source in parsed])
    survey = before.program.survey
    reports = once_in_program({**before.reports, **found}, survey.once, survey.scripts)
    texts = {source.file.name: source.source for source in parsed}
    for report in before.asked_of(reports):
        if report.filename in texts and report.skipped is None:
            first(report, texts[report.filename])


def _edited_run(before: Run, edited: Sequence[Source]) -> Run:
    """Return a run as if some of its files had other texts, and the rest of the program did not care."""
    run = copy(before)
    run.sources = {**before.sources, **{source.file.name: source for source in edited}}
    run.program = before.program.with_edits(edited)
    return run


def _edited(before: Run, memory: Memory, buffers: Mapping[Path, bytes]) -> Iterator[Source]:
    """Yield the sources of the run before that have another text now, with that."""
    for source in before.sources.values():
        text = buffers.get(source.file.path)
        if text is None or too_large(source.file.name, len(text), source.file.settings):
            continue
        try:
            now = memory.text_of(source.file, text)
        except Undecodable:
            continue
        if now is not source.source:
            yield replace(source, source=now, key="")


def _parse_edits(sources: Sequence[Source], memory: Memory) -> list[Source]:
    """Return the sources with their trees, without those that need a whole parse, and those that import
    other modules now: the run before may not know these. A single tree, which no other analysis runs, is
    not pickled."""
    found = [now for source in sources if (now := _parse_edit(source, memory)) is not None]
    return found if len(sources) == 1 else [_at_rest(now) for now in found]


def _at_rest(source: Source) -> Source:
    """Return a source with its tree pickled, for others to run."""
    loaded = source.loaded or Loaded()
    return replace(source, loaded=replace(loaded, tree=pickle.dumps(loaded.tree, 5)))


def _parse_edit(source: Source, memory: Memory) -> Source | None:
    loaded, parsed = source.loaded, memory.parsed.get(source.file.path)
    if loaded is None or loaded.interface is None or parsed is None:
        return None
    job = job_of(source, True, parsed)
    module = None if is_risky(job) else edited_module(job.text, parsed)
    if module is None:
        return None
    scopes = ScopeTable(module, job.text, source.module, source.is_package)
    if imports_of(scopes) != loaded.interface.imports:
        return None
    return replace(source, loaded=replace(loaded, tree=module), key=job.key())
