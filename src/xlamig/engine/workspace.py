"""A program that is checked again after every edit, as editors, agents and `--watch` need it."""

from __future__ import annotations

import gc
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from xlamig.config.paths import absolute
from xlamig.engine.first import First, report_first
from xlamig.engine.memory import Memory
from xlamig.engine.options import Options
from xlamig.engine.run import Run
from xlamig.findings import Applicability, Finding, Report
from xlamig.fix.loop import FixedText
from xlamig.rulebook.rule import Rule
from xlamig.source.files import Discovery
from xlamig.source.text import SourceText

_ALL_OBJECTS = 50  # a collection of all objects is slow: one in so many


class Workspace:
    """Text in an open buffer hides the file on disk. A check gives the same report as `engine.check`
    would once all buffers are saved, and analyses only the files that the edits since the last check
    can affect.

    Buffers may be edited on one thread while another checks: a check uses the buffers as they are
    when it begins.
    """

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        self.paths = paths
        self.options = options
        self._buffers: dict[Path, bytes] = {}
        self._memory = Memory()
        self._found: Discovery | None = None
        self._run: Run | None = None
        self._freed = 0

    def edit(self, path: Path, text: bytes) -> None:
        """The content of a buffer, new or changed."""
        path = absolute(path)
        if path not in self._buffers and not self._is_known(path):
            self.refresh()  # it may have been created since
        self._buffers[path] = text

    def close(self, path: Path) -> None:
        """From now on the file on disk counts."""
        self._buffers.pop(absolute(path), None)

    def _is_known(self, path: Path) -> bool:
        return self._found is not None and any(file.path == path for file in self._found.files)

    def refresh(self) -> None:
        """Read the configuration and list the files and folders again at the next check."""
        self._found = None
        self._memory.forget_folders()

    def check(self, first: First | None = None) -> Report:
        """Check the whole program. `first` gets the reports on the few files that have been edited as soon as
        they are there: they hold unless the edit changes what other files do with them.

        Raises:
            UsageError: as for `engine.check`.
        """
        buffers = dict(self._buffers)
        self._memory.writes = all(_is_saved(path, text) for path, text in buffers.items())
        options = replace(self.options, buffers=buffers)
        narrows = self.options.baseline is not None or self.options.diff_base is not None
        if first is not None and self._run is not None and self._found is not None and not narrows:
            report_first(self._run, self._memory, buffers, first)
        run = Run(self.paths, options, memory=self._memory, found=self._found)
        report = run.report()
        self._memory.forget_unused()
        if run.found is not self._found and run.found is not None:
            self._found = run.found
            self._memory.forget_files(file.path for file in run.found.files)
        self._run = run
        if not narrows:
            return report
        from xlamig.engine.new_only import narrow

        return narrow(report, self.paths, self.options)

    def free(self) -> None:
        """Free the trees of the last check, once its findings are shown: they are circles, and few checks
        allocate enough for Python to look for them. Those that lived through several checks go in every
        fiftieth call."""
        self._freed += 1
        gc.collect(2 if self._freed % _ALL_OBJECTS == 0 else 1)

    @property
    def size(self) -> int:
        """How many results and texts are kept for the next check."""
        return self._memory.size

    def text_of(self, filename: str) -> SourceText | None:
        """The text of a file as the last check read it."""
        source = self._run.sources.get(filename) if self._run else None
        return source.source if source else None

    def rule(self, finding: Finding) -> Rule | None:
        """The rule of a finding of the last check."""
        source = self._run.sources.get(finding.filename) if self._run else None
        return source.session.rulebook.rule(finding.code) if source else None

    def fixed(self, filename: str, applicabilities: Collection[Applicability]) -> FixedText | None:
        """A file of the last check with all fixes of these grades; nothing is written."""
        if self._run is None or filename not in self._run.sources:
            return None
        from xlamig.engine.fixing import fix_source

        return fix_source(self._run, filename, applicabilities)


def _is_saved(path: Path, text: bytes) -> bool:
    try:
        return path.read_bytes() == text
    except OSError:
        return False
