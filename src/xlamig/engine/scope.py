"""The part of a program that some of its scripts reach."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from xlamig.engine.options import UsageError
from xlamig.engine.run import Run
from xlamig.findings import Report


def within(report: Report, run: Run, entries: Sequence[Path]) -> Report:
    """Return the report on the files that the entries import, directly or through others.

    Files that are not Python stay: requirements and images serve every entry.

    Raises:
        UsageError: an entry is not one of the Python files that were checked.
    """
    names = [name for name, source in run.sources.items() if source.source.kind is None]
    found = {_entry(entry, names) for entry in entries}
    reached = run.program.index.reached_from(run.sources[name].module for name in found)
    outside = {name for name in names if run.sources[name].module not in reached} - found
    return replace(report, files=tuple(file for file in report.files if file.filename not in outside))


def _entry(entry: Path, names: Collection[str]) -> str:
    """The checked file that an entry means: its path, or a unique end of one."""
    wanted = PurePosixPath(entry.as_posix()).parts
    ends = [name for name in names if PurePosixPath(name).parts[-len(wanted) :] == wanted]
    if len(ends) == 1 or entry.as_posix() in ends:
        return entry.as_posix() if entry.as_posix() in ends else ends[0]
    if ends:
        raise UsageError(f"--entry {entry}: several files end like this: {', '.join(sorted(ends)[:3])}")
    close = get_close_matches(entry.as_posix(), names, 1) or get_close_matches(
        entry.name, {PurePosixPath(name).name for name in names}, 1
    )
    hint = f"; did you mean {close[0]}?" if close else ""
    raise UsageError(f"--entry {entry}: no such Python file among those checked{hint}")
