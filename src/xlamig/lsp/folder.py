"""One folder of the client's: its program, checked in the background after edits."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path

from xlamig.engine import UsageError, open_workspace
from xlamig.findings import FileReport, Finding, Report
from xlamig.lsp.settings import ServerSettings
from xlamig.source.text import SourceText

Progress = Callable[[int, int], None]
_First = dict[str, tuple[FileReport, SourceText]]


class Stale(Exception):
    """An edit has outdated the check that runs."""


class Folder:
    """Edits come on the event loop, checks run on `executor`, which has one thread for all folders: a
    check works in its folder. After `edit`, `touched` is called at most once until the check begins."""

    def __init__(self, root: Path, settings: ServerSettings, executor: Executor, progress: Progress) -> None:
        self.root = root
        self.settings = settings
        self.report: Report | None = None
        self.published: dict[str, tuple[Finding, ...]] = {}
        self._first: _First = {}  # of edited files, while the check goes on
        self._executor = executor
        self._progress = progress
        self._stale = threading.Event()
        self._cancels = False
        self._edited = asyncio.Event()
        self._idle = asyncio.Event()
        self._news = asyncio.Event()  # about the text as it is now, of some files or of all
        self.workspace = open_workspace([root], replace(settings.options(), progress=self._tick))

    def holds(self, path: Path) -> bool:
        return path.is_relative_to(self.root)

    def name(self, path: Path) -> str:
        """The file's name in reports."""
        return Path(os.path.relpath(path, self.root)).as_posix()

    def findings(self, filename: str) -> tuple[Finding, ...]:
        if filename in self._first:
            return self._first[filename][0].findings
        if self.report is None:
            return ()
        return next((file.findings for file in self.report.files if file.filename == filename), ())

    def text_of(self, filename: str) -> SourceText | None:
        """Return the text that the findings of a file are about."""
        return self._first[filename][1] if filename in self._first else self.workspace.text_of(filename)

    def touch(self) -> None:
        """Something has changed: check again. The first check goes on, for it is the longest."""
        self._idle.clear()
        self._news.clear()
        self._first = {}
        self._edited.set()
        if self._cancels:
            self._stale.set()

    def stop(self) -> None:
        """Abandon the check that runs."""
        self._stale.set()

    async def settled(self, filename: str = "") -> None:
        """Wait until the report, or what is known of a file, is about the text as it is now."""
        await self._news.wait()
        if filename not in self._first:
            await self._idle.wait()

    async def serve(
        self,
        done: Callable[[Folder], None],
        failed: Callable[[Exception], None],
        first: Callable[[Folder, str], None],
    ) -> None:
        """Check after every edit, once no other has followed for a moment; `done` publishes the report,
        `first` the findings of an edited file before."""
        loop = asyncio.get_running_loop()

        def tell(report: FileReport, text: SourceText) -> None:
            loop.call_soon_threadsafe(self._take_first, report, text, first)

        while True:
            await self._edited.wait()
            while self._edited.is_set():
                self._edited.clear()
                await asyncio.sleep(self.settings.debounce if self._cancels else 0)
            self._stale.clear()
            await self._check_once(partial(self._check, tell), done, failed)
            await loop.run_in_executor(self._executor, self.workspace.free)

    def _take_first(self, report: FileReport, text: SourceText, first: Callable[[Folder, str], None]) -> None:
        if not self._edited.is_set():
            self._first[report.filename] = report, text
            first(self, report.filename)
            self._news.set()

    async def _check_once(
        self,
        check: Callable[[], Report],
        done: Callable[[Folder], None],
        failed: Callable[[Exception], None],
    ) -> None:
        try:
            self.report = await asyncio.get_running_loop().run_in_executor(self._executor, check)
            self._cancels = True
        except Stale:
            return
        except Exception as error:
            failed(error)
        if not self._edited.is_set():
            self._first = {}
            done(self)
            self._idle.set()
            self._news.set()

    def _check(self, first: Callable[[FileReport, SourceText], None]) -> Report:
        os.chdir(self.root)
        if not self.root.is_dir():
            raise UsageError(f"the folder {self.root} no longer exists")
        return self.workspace.check(first)

    def _tick(self, finished: int, total: int) -> None:
        if self._stale.is_set():
            raise Stale
        self._progress(finished, total)
