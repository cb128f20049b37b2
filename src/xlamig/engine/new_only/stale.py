"""Entries of a baseline that nothing in the program accounts for any more: XLA091."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from xlamig.config.load import Resolver
from xlamig.config.settings import Settings
from xlamig.engine.new_only.baseline import Baseline, Entry, Known
from xlamig.engine.options import Options, caught
from xlamig.engine.session import Session, session_for
from xlamig.facts import ToolEvent
from xlamig.findings import CONFIDENCES, SEVERITIES, FileReport, Report
from xlamig.source.text import SourceText


def stale_entries(
    baseline: Baseline, known: Known, report: Report, paths: Sequence[Path], options: Options
) -> tuple[FileReport, ...]:
    """The baseline's own report, if an entry is stale."""
    is_stale = outdated_test(baseline, report, paths, options)
    left = dict(known.used)
    events = []
    for entry, span in _placed(baseline):
        left[entry] = left.get(entry, 0) - 1
        if left[entry] < 0 and is_stale(entry):
            events.append(_event(entry, span))
    if not events:
        return ()
    session = _session(baseline, options)
    name = Path(os.path.relpath(baseline.path)).as_posix()
    codes = session.rulebook.active & session.selection.enabled
    judged = session.rulebook.judge(events, SourceText(name, baseline.text), codes)
    return (FileReport(name, tuple(judgement.finding for judgement in judged)),)


def outdated_test(
    baseline: Baseline, report: Report, paths: Sequence[Path], options: Options
) -> Callable[[Entry], bool]:
    """Return whether this run would have found what an entry speaks of: another target, a rule that is not
    selected or a file that is not part of the run say nothing about it."""
    session = _session(baseline, options)
    checked = {baseline.name(file.filename) for file in report.files if not file.skipped}
    folders = [path.absolute() for path in paths if path.is_dir()]

    def is_outdated(entry: Entry) -> bool:
        if entry.target != report.target or entry.code not in session.rulebook.codes:
            return entry.target == report.target
        evaluated = entry.code in session.rulebook.active and entry.code in session.selection
        if not evaluated or not _is_reported(entry, session.settings):
            return False
        path = Path(os.path.normpath(baseline.path.parent.absolute() / entry.filename))
        gone = not path.exists() and any(path.is_relative_to(folder) for folder in folders)
        return entry.filename in checked or gone

    return is_outdated


def _is_reported(entry: Entry, settings: Settings) -> bool:
    serious = SEVERITIES.index(entry.severity) <= SEVERITIES.index(settings.severity)
    return serious and CONFIDENCES.index(entry.confidence) <= CONFIDENCES.index(settings.confidence)


def _session(baseline: Baseline, options: Options) -> Session:
    with caught():
        resolver = Resolver(options.overrides, options.config, options.isolated)
        return session_for(resolver.settings_for(baseline.path.absolute()))


def _placed(baseline: Baseline) -> Iterator[tuple[Entry, tuple[int, int]]]:
    """Each entry with the place of its fingerprint; entries stand in the order of the text."""
    at = 0
    for entry in baseline.entries:
        found = baseline.text.find(f'"{entry.fingerprint}"', at)
        start = found if found >= 0 else at
        at = start + len(entry.fingerprint) + 2 if found >= 0 else at
        yield entry, (start, max(start, at))


def _event(entry: Entry, span: tuple[int, int]) -> ToolEvent:
    return ToolEvent(
        span=span,
        statement=span,
        scope=f"{entry.filename} {entry.fingerprint}",
        frequency="once",
        event="stale-baseline-entry",
        subject=entry.code,
        detail=entry.filename,
    )
