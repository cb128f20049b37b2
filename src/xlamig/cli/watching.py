"""`check --watch`: check again whenever a file changes, and show what came and what went."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING

from xlamig.cli.output import Output
from xlamig.findings import FileReport, Report
from xlamig.report import render
from xlamig.report.numbers import number

if TYPE_CHECKING:
    from xlamig.engine import Options

_SILENCE = 200  # milliseconds without a change
_SECOND_LOOK = 6  # silences after a change, together more than a second


def watch(
    paths: Sequence[Path], options: Options, out: Output, output_format: str, changes: Iterable[object]
) -> None:
    """Show all findings, then those of files whose findings changed, after each of `changes`. An empty
    change is a second look, which shows nothing where there is nothing new."""
    from xlamig.engine import UsageError, open_workspace

    workspace = open_workspace(paths, options)
    before: Report | None = None
    complaint = ""
    for change in changes:
        workspace.refresh()
        try:
            workspace.free()
            report = workspace.check()
        except UsageError as error:  # a configuration that is being written
            if change or str(error) != complaint:
                complaint = str(error)
                out.complain(f"Error: {complaint}")
            continue
        changed = report if before is None else _changed_files(before, report)
        if before is not None and not change and not changed.files:
            continue
        before = report

        def text_of(name: str) -> str | None:
            text = workspace.text_of(name)
            return text.text if text else None

        out.write(render(output_format, changed, out.context(text_of)))
        _note(out, report, changed)


def _changed_files(before: Report, report: Report) -> Report:
    """The files whose findings are not what they were; one that lost all its findings is among them."""
    old = {file.filename: file.findings for file in before.files}
    new = {file.filename: file.findings for file in report.files}
    files = [file for file in report.files if file.findings != old.get(file.filename, ())]
    gone = [FileReport(name) for name, findings in old.items() if findings and name not in new]
    return replace(report, files=(*files, *gone))


def _note(out: Output, report: Report, changed: Report) -> None:
    clean = [file.filename for file in changed.files if not file.findings]
    out.note(*(f"{name}: nothing left" for name in clean if changed is not report))
    out.note(f"{number(len(report.findings), 'problem')}. Watching for changes; Ctrl-C ends it.")


@contextmanager
def interrupts() -> Iterator[Event]:
    """Yield an event that Ctrl-C sets, beside raising KeyboardInterrupt: Python drops what is raised in a
    destructor. A process that was started to ignore Ctrl-C goes on ignoring it."""
    asked = Event()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield asked
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        asked.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def file_changes(paths: Sequence[Path], stop: Event) -> Iterator[object]:
    """One value once the files are watched, so that no change is missed, then one whenever some changed.

    Where files are polled (WSL, network disks), watchfiles compares whole seconds and misses a change in
    the second of the one before: an empty value follows each change after more than a second.

    Raises KeyboardInterrupt when `stop` is set.
    """
    from watchfiles import DefaultFilter, watch

    ignored = (*DefaultFilter.ignore_dirs, ".xlamig_cache")
    silences = -1
    for changed in watch(
        *paths,
        watch_filter=DefaultFilter(ignore_dirs=ignored),
        yield_on_timeout=True,
        rust_timeout=_SILENCE,
        raise_interrupt=True,
        stop_event=stop,
    ):
        silences = 0 if changed else silences + 1
        if silences in (0, _SECOND_LOOK):
            yield changed
    if stop.is_set():
        raise KeyboardInterrupt
