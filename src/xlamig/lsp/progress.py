"""A progress bar of the client's for checks that take long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

from lsprotocol import types

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_FEW = 30  # jobs that are done before a bar would appear


class Reporter:
    """Called on the checking thread with how many jobs are done, and of how many."""

    def __init__(self, server: LanguageServer, title: str) -> None:
        self._server = server
        self._title = title
        self._loop = asyncio.get_running_loop()
        self._token = ""
        self._percentage = -1

    def __call__(self, done: int, total: int) -> None:
        window = self._server.client_capabilities.window
        if total < _FEW or not (window and window.work_done_progress):
            return
        percentage = 100 * done // total
        if percentage != self._percentage:
            self._percentage = percentage
            self._loop.call_soon_threadsafe(self._show, percentage)

    def _show(self, percentage: int) -> None:
        progress = self._server.work_done_progress
        if not self._token:
            self._token = str(uuid4())
            progress.tokens.clear()  # pygls keeps those of bars that have ended
            progress.create(self._token)
            title = f"xlamig: checking {self._title}"
            progress.begin(self._token, types.WorkDoneProgressBegin(title, percentage=percentage))
        elif percentage >= 100:
            progress.end(self._token, types.WorkDoneProgressEnd())
            self._token = ""
        else:
            progress.report(self._token, types.WorkDoneProgressReport(percentage=percentage))
