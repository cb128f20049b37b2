"""One folder of the client's: its program, checked in the background after edits."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from xlamig.engine import UsageError, open_workspace
from xlamig.findings import Finding, Report
from xlamig.lsp.settings import ServerSettings

Progress = Callable[[int, int], None]


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
        self._executor = executor
        self._progress = progress
        self._stale = threading.Event()
        self._cancels = False
        self._edited = asyncio.Event()
        self._idle = asyncio.Event()
        self.workspace = open_workspace([root], replace(settings.options(), progress=self._tick))

    def holds(self, path: Path) -> bool:
        return path.is_relative_to(self.root)

    def name(self, path: Path) -> str:
        """The file's name in reports."""
        return Path(os.path.relpath(path, self.root)).as_posix()

    def findings(self, filename: str) -> tuple[Finding, ...]:
        if self.report is None:
            return ()
        return next((file.findings for file in self.report.files if file.filename == filename), ())

    def touch(self) -> None:
        """Something has changed: check again. The first check goes on, for it is the longest."""
        self._idle.clear()
        self._edited.set()
        if self._cancels:
            self._stale.set()

    def stop(self) -> None:
        """Abandon the check that runs."""
        self._stale.set()

    async def settled(self) -> None:
        """Wait until the report is about the text as it is now."""
        await self._idle.wait()

    async def serve(self, done: Callable[[Folder], None], failed: Callable[[Exception], None]) -> None:
        """Check after every edit, once no other has followed for a moment; `done` publishes the report."""
        while True:
            await self._edited.wait()
            while self._edited.is_set():
                self._edited.clear()
                await asyncio.sleep(self.settings.debounce if self._cancels else 0)
            self._stale.clear()
            await self._check_once(done, failed)
            await asyncio.get_running_loop().run_in_executor(self._executor, self.workspace.free)

    async def _check_once(self, done: Callable[[Folder], None], failed: Callable[[Exception], None]) -> None:
        try:
            self.report = await asyncio.get_running_loop().run_in_executor(self._executor, self._check)
            self._cancels = True
        except Stale:
            return
        except Exception as error:
            failed(error)
        if not self._edited.is_set():
            done(self)
            self._idle.set()

    def _check(self) -> Report:
        os.chdir(self.root)
        if not self.root.is_dir():
            raise UsageError(f"the folder {self.root} no longer exists")
        return self.workspace.check()

    def _tick(self, finished: int, total: int) -> None:
        if self._stale.is_set():
            raise Stale
        self._progress(finished, total)
