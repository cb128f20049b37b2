"""Files to findings: the one place that orchestrates all others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlamig.config.load import Resolver
from xlamig.config.select import ALL, codes_of
from xlamig.config.settings import Settings
from xlamig.engine.cache import folder_of, remove
from xlamig.engine.options import Options, UsageError, caught
from xlamig.findings import Applicability, Report
from xlamig.source.decode import Undecodable
from xlamig.source.read import read_source

if TYPE_CHECKING:
    from xlamig.engine.fixing import FixOutcome
    from xlamig.engine.history import Commit
    from xlamig.engine.ignoring import Ignored
    from xlamig.engine.inventory import Inventory
    from xlamig.engine.workspace import Workspace
    from xlamig.findings import Provenance

__all__ = [
    "Options",
    "UsageError",
    "add_ignores",
    "check",
    "clean",
    "fix",
    "history",
    "open_workspace",
    "previews",
    "provenance",
    "show_files",
    "show_settings",
    "take_inventory",
    "text_of",
    "update_baseline",
]


def check(paths: Sequence[Path], options: Options, entries: Sequence[Path] = ()) -> Report:
    """The findings of all files below `paths`, in a fixed order; with `entries`, of those they import.

    Raises:
        UsageError: a path or an entry does not exist, or the configuration or a rule page is broken.
    """
    if entries:
        from xlamig.engine.run import Run
        from xlamig.engine.scope import within

        run = Run(paths, options)
        report = within(run.report(), run, entries)
    else:
        report = _report(paths, options)
    if options.baseline is None and options.diff_base is None:
        return report
    from xlamig.engine.new_only import narrow

    return narrow(report, paths, options)


def _report(paths: Sequence[Path], options: Options) -> Report:
    """The report of the last run where nothing has changed, else of a new one."""
    from xlamig.engine.unchanged import last_run

    last = last_run(paths, options)
    report = last.report() if last is not None else None
    if report is None:
        from xlamig.engine.run import Run  # what analyses takes long to import

        run = Run(paths, options, found=last.found if last is not None else None)
        report = run.report()
        if last is not None and run.all_loaded:
            last.keep(report)
    return report


def open_workspace(paths: Sequence[Path], options: Options) -> Workspace:
    """A program to be checked again and again."""
    from xlamig.engine.workspace import Workspace

    return Workspace(paths, options)


def update_baseline(paths: Sequence[Path], options: Options) -> tuple[int, int, int]:
    """Write the findings to the baseline; how many entries it has, and how many came and went.

    Raises:
        UsageError: as for `check`, or the baseline cannot be written.
    """
    from xlamig.engine.new_only.update import update

    return update(paths, options)


def add_ignores(paths: Sequence[Path], options: Options, reason: str = "") -> Ignored:
    """Write a suppression comment for every finding.

    Raises:
        UsageError: as for `check`, or a file cannot be written.
    """
    from xlamig.engine import ignoring

    return ignoring.add_ignores(paths, options, reason)


def history(paths: Sequence[Path], options: Options, points: int) -> Iterator[tuple[Commit, Report]]:
    """Yield the findings at earlier commits, oldest first, HEAD's last.

    Raises:
        UsageError: as for `check`, or the paths are in no git repository.
    """
    from xlamig.engine.history import history

    return history(paths, options, points)


def fix(
    paths: Sequence[Path], options: Options, applicabilities: Collection[Applicability], write: bool
) -> FixOutcome:
    """Fix what can be fixed with these grades. Nothing is written without `write`.

    Raises:
        UsageError: as for `check`.
    """
    from xlamig.engine import fixing  # it needs LibCST, which a check of unchanged files does without

    return fixing.fix(paths, options, applicabilities, write)


def provenance(path: Path, entries: Sequence[Path] = ()) -> Provenance:
    """Return the origin of a report on `path`: the repository's name, its commit and its day."""
    from xlamig.engine.history import provenance

    return provenance(path, entries)


def take_inventory(paths: Sequence[Path], options: Options) -> Inventory:
    """A check, with the packages and kernels of the program.

    Raises:
        UsageError: as for `check`.
    """
    from xlamig.engine.inventory import take_inventory

    return take_inventory(paths, options)


def show_files(paths: Sequence[Path], options: Options) -> tuple[str, ...]:
    """The files `check` would read."""
    from xlamig.engine.found import files_of

    return tuple(file.name for file in files_of(paths, options).files)


def show_settings(path: Path, options: Options) -> Settings:
    """The settings that hold for `path`."""
    with caught():
        return Resolver(options.overrides, options.config, options.isolated).settings_for(path)


def previews(path: Path, options: Options) -> tuple[str, ...]:
    """The selectors for `path` that mean nothing but preview rules, while these are off."""
    settings = show_settings(path, options)
    selectors = tuple(one for one in (*settings.select, *settings.extend_select) if one.upper() != ALL)
    if settings.preview or not selectors:
        return ()
    from xlamig.engine.session import session_for

    with caught():
        outline = session_for(settings).outline
    meant = {selector: codes_of(selector, outline.codes) for selector in selectors}
    return tuple(selector for selector, codes in meant.items() if codes and codes <= outline.previews)


def clean(options: Options) -> int:
    """Delete the cache of the current folder's configuration; how many there were."""
    folder = folder_of(show_settings(Path.cwd(), options))
    return int(folder is not None and remove(folder))


def text_of(options: Options) -> Callable[[str], str | None]:
    """Gives the decoded text of a file of the run, for reports that show source lines."""

    def text(filename: str) -> str | None:
        try:
            data = options.stdin[1] if options.stdin else Path(filename).read_bytes()
            return read_source(data, filename).text
        except (OSError, Undecodable):
            return None

    return text
