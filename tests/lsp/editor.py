"""An editor that has the server as a process, and the small project that it edits."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

SERVER = [sys.executable, "-c", "from xlamig.cli import script; script()", "server", "--stdio"]
TRAIN = """\
import torch


def train(model, loader, optimizer):
    for images, labels in loader:
        loss = model(images.cuda(), labels.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
SYNCHRONIZE = "import torch\n\ntorch.cuda.synchronize()\n"


def a_range(row: int, column: int = 0, end_row: int | None = None, end: int | None = None) -> types.Range:
    """Rows and columns counted from 0; an empty range by default."""
    last = types.Position(row if end_row is None else end_row, column if end is None else end)
    return types.Range(types.Position(row, column), last)


class Editor:
    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    async def open(self, name: str, text: str | None = None) -> None:
        text = (self.root / name).read_text() if text is None else text
        self.versions[name] = 1
        document = types.TextDocumentItem(self.uri(name), types.LanguageKind.Python, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    async def change(self, name: str, text: str, place: types.Range | None = None) -> None:
        self.versions[name] += 1
        change: types.TextDocumentContentChangeEvent = (
            types.TextDocumentContentChangeWholeDocument(text)
            if place is None
            else types.TextDocumentContentChangePartial(place, text)
        )
        document = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def diagnostics(self, name: str) -> Sequence[types.Diagnostic]:
        """The diagnostics of the text as it is now: a hover waits for them."""
        await self.hover(name, 0, 0)
        return self.client.diagnostics.get(self.uri(name), [])

    async def settled(self) -> None:
        """Wait until all of the program is checked: a hover over a file that is not there waits for it."""
        await self.hover("gone.py", 0, 0)

    async def codes(self, name: str) -> list[object]:
        return [diagnostic.code for diagnostic in await self.diagnostics(name)]

    def shown(self, name: str) -> list[object]:
        """The codes of the diagnostics that the client has."""
        return [diagnostic.code for diagnostic in self.client.diagnostics.get(self.uri(name), [])]

    async def hover(self, name: str, row: int, column: int) -> str:
        document, position = types.TextDocumentIdentifier(self.uri(name)), types.Position(row, column)
        found = await self.client.text_document_hover_async(types.HoverParams(document, position))
        return found.contents.value if found else ""  # type: ignore[union-attr]

    async def actions(self, name: str, row: int, only: Sequence[str] = ()) -> list[types.CodeAction]:
        document = types.TextDocumentIdentifier(self.uri(name))
        context = types.CodeActionContext([], only=list(only) or None)
        params = types.CodeActionParams(document, a_range(row, 0, row, 200), context)
        found = await self.client.text_document_code_action_async(params)
        return [action for action in found or () if isinstance(action, types.CodeAction)]


@asynccontextmanager
async def session(
    root: Path, client_name: str = "visual_studio_code", **options: object
) -> AsyncIterator[Editor]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(root.parent / "user")}
    client = await ClientServerConfig(SERVER, server_env=environment).start()
    assert isinstance(client, LanguageClient)
    folder = types.WorkspaceFolder(root.as_uri(), root.name)
    await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(client_name),
            root_uri=root.as_uri(),
            workspace_folders=[folder],
            initialization_options={"debounce": 0, **options},
        )
    )
    try:
        yield Editor(client, root)
    finally:
        await client.shutdown_session()
        await client.stop()


def applied(text: str, edits: Sequence[object]) -> str:
    """`text` with text edits done, for text of single-unit characters."""
    lines = text.splitlines(keepends=True) or [""]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(position: types.Position) -> int:
        return starts[min(position.line, len(starts) - 1)] + position.character

    for edit in sorted(edits, key=lambda e: offset(e.range.start), reverse=True):  # type: ignore[attr-defined]
        assert isinstance(edit, types.TextEdit)
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
