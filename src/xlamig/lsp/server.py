"""The features of the server: what the client asks and tells, and what it gets."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from xlamig import __version__
from xlamig.findings import Applicability, Finding
from xlamig.lsp import actions
from xlamig.lsp.diagnostics import View, diagnostic
from xlamig.lsp.documents import Documents, path_of
from xlamig.lsp.edits import ignore_edits, text_edits, workspace_edit
from xlamig.lsp.folder import Folder
from xlamig.lsp.hover import hover_text
from xlamig.lsp.lens import step_lenses
from xlamig.lsp.progress import Reporter
from xlamig.lsp.settings import ServerSettings
from xlamig.source.text import SourceText

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithNotebook(
            types.NotebookDocumentFilterNotebookType("jupyter-notebook"),
            [types.NotebookCellLanguage("python"), types.NotebookCellLanguage("markdown")],
        )
    ]
)
SAFE: tuple[Applicability, ...] = ("safe",)
_log = logging.getLogger(__name__)


class Server(LanguageServer):
    """`folders` are checked each in its own task; `documents` replaces the workspace of pygls."""

    def __init__(self) -> None:
        super().__init__("xlamig", __version__, notebook_document_sync=_NOTEBOOKS, max_workers=4)
        self.settings = ServerSettings()
        self.folders: list[Folder] = []
        self.executor = ThreadPoolExecutor(1, "xlamig-check")
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def documents(self) -> Documents:
        workspace = self.workspace
        assert isinstance(workspace, Documents)
        return workspace

    def begin(self, params: types.InitializeParams) -> None:
        """Take over the documents and the settings; folders start when the client is ready."""
        folders = params.workspace_folders or []
        self.protocol._workspace = Documents(
            params.root_uri, types.TextDocumentSyncKind.Incremental, folders, self.workspace.position_encoding
        )
        self.settings = ServerSettings.read(params.initialization_options)

    def start(self) -> None:
        """Start to check every folder, with the buffers that are open."""
        self.stop()
        roots = [path_of(folder.uri) for folder in self.documents.folders.values()]
        roots = roots or [path_of(self.documents.root_uri or "")]
        for root in dict.fromkeys(root.resolve() for root in roots if root is not None and root.is_dir()):
            folder = Folder(root, self.settings, self.executor, Reporter(self, root.name))
            self.folders.append(folder)
            folder.touch()
            serving = folder.serve(self.publish, self.complain, self.publish_first)
            self._tasks.append(asyncio.ensure_future(serving))
        for document in self.documents.text_documents.values():
            self.edited(document.uri)

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for folder in self.folders:
            folder.stop()
            for filename in folder.published:
                self._publish(folder, filename, ())
        self.folders, self._tasks = [], []

    # ------------------------------------------------------------------ documents

    def file_of(self, uri: str) -> tuple[Folder, str, int | None] | None:
        """The folder, file name and cell that a document shows; None outside every folder."""
        notebook = self.documents.notebook_of(uri)
        path = path_of(notebook.uri if notebook else uri)
        folder = next((folder for folder in self.folders if path and folder.holds(path)), None)
        if path is None or folder is None:
            return None
        uris = [cell.document for cell in notebook.cells] if notebook else []
        return folder, folder.name(path), uris.index(uri) + 1 if notebook else None

    def edited(self, uri: str) -> None:
        """A document was opened or changed."""
        notebook = self.documents.notebook_of(uri)
        uri = notebook.uri if notebook else uri
        place, path = self.file_of(uri), path_of(uri)
        content = self.documents.file_content(uri)
        if place is not None and path is not None and content is not None:
            place[0].workspace.edit(path, content)
            place[0].touch()

    def closed(self, uri: str) -> None:
        place, path = self.file_of(uri), path_of(uri)
        if place is not None and path is not None:
            place[0].workspace.close(path)
            place[0].touch()

    def refresh(self) -> None:
        """Files or settings have changed on disk."""
        for folder in self.folders:
            folder.workspace.refresh()
            folder.touch()

    # ------------------------------------------------------------------ what the client is shown

    def view(self, folder: Folder) -> View:
        return View(folder.root, folder.text_of, self._cell_uris(folder), self.documents.encoding)

    def _cell_uris(self, folder: Folder) -> Any:
        names = {
            folder.name(path): notebook
            for notebook in self.documents.notebook_documents.values()
            if (path := path_of(notebook.uri)) is not None
        }

        def cell_uri(filename: str, cell: int) -> str | None:
            notebook = names.get(filename)
            return notebook.cells[cell - 1].document if notebook and cell <= len(notebook.cells) else None

        return cell_uri

    def publish(self, folder: Folder) -> None:
        """Send the diagnostics of the files whose findings or text have changed."""
        assert folder.report is not None
        found = {file.filename: file.findings for file in folder.report.files if file.findings}
        if folder.settings.scope == "open":
            found = {name: findings for name, findings in found.items() if self._is_open(folder, name)}
        for filename in {**folder.published, **found}:
            self._publish(folder, filename, found.get(filename, ()))
        folder.published = found
        self._forget_finished()

    def publish_first(self, folder: Folder, filename: str) -> None:
        """Send the diagnostics of a file that somebody edits, while the rest of the program is checked."""
        folder.published[filename] = findings = folder.findings(filename)
        self._publish(folder, filename, findings)

    def _forget_finished(self) -> None:
        """pygls keeps the future of every notification, which a session that lasts days cannot afford."""
        futures = self.protocol._request_futures
        for message in [message for message, future in futures.items() if future.done()]:
            del futures[message]

    def _is_open(self, folder: Folder, filename: str) -> bool:
        return self.documents.file_content(self.view(folder).uri(filename)) is not None

    def _publish(self, folder: Folder, filename: str, findings: tuple[Finding, ...]) -> None:
        view = self.view(folder)
        by_uri: dict[str, list[types.Diagnostic]] = {}
        notebook = self.documents.notebook_documents.get(unquote(view.uri(filename)))
        for uri in [cell.document for cell in notebook.cells] if notebook else [view.uri(filename)]:
            by_uri[uri] = []
        for finding in findings:
            by_uri.setdefault(view.uri(filename, finding.cell), []).append(diagnostic(finding, view))
        for uri, diagnostics in by_uri.items():
            document = self.documents.document(uri)
            version = document.version if document else None
            uri = document.uri if document else uri
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def complain(self, error: Exception) -> None:
        """Report once what cannot be done; the server goes on."""
        _log.warning("%s: %s", type(error).__name__, error)
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"xlamig: {error}"))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A message of the client's that makes no sense is worth a line in its log, no more."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"{error}"))

    async def findings_at(
        self, uri: str, place: types.Range
    ) -> tuple[Folder, SourceText, list[Finding]] | None:
        """The findings that touch a range of a document, about its text as it is now."""
        shown = self.file_of(uri)
        if shown is None:
            return None
        folder, filename, cell = shown
        await folder.settled(filename)
        text = folder.text_of(filename)
        if text is None:
            return None
        view = self.view(folder)
        found = [f for f in folder.findings(filename) if f.cell == cell and _touch(view.range(f), place)]
        return folder, text, found

    # ------------------------------------------------------------------ answers

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        found = await self.findings_at(
            params.text_document.uri, types.Range(params.position, params.position)
        )
        if found is None or not found[2]:
            return None
        folder, _, findings = found
        texts = [hover_text(finding, folder.workspace.rule(finding)) for finding in findings]
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(texts))
        return types.Hover(content, self.view(folder).range(findings[0]))

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        uri = params.text_document.uri
        found = await self.findings_at(uri, params.range)
        if found is None:
            return []
        folder, text, findings = found
        given: list[types.CodeAction] = []
        if actions.wants("quickfix", only):
            given += actions.quick_fixes(findings, text, self.view(folder), self.settings, self._can_create)
        if actions.wants(actions.FIX_ALL, only):
            action = actions.fix_all(uri)
            given.append(action if self._can_resolve else await self.resolve(action))
        return given

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The action with its edit: all safe fixes of its document."""
        uri = action.data.get("uri") if isinstance(action.data, dict) else None
        shown = self.file_of(uri) if isinstance(uri, str) else None
        if shown is None or action.edit is not None:
            return action
        folder, filename, _ = shown
        await folder.settled()
        loop = asyncio.get_running_loop()
        fixed = await loop.run_in_executor(self.executor, folder.workspace.fixed, filename, SAFE)
        text = folder.text_of(filename)
        if fixed is None or text is None:
            return action
        view = self.view(folder)
        edits = text_edits(text, fixed.text, view)
        return actions.fix_all(str(uri), workspace_edit(edits, fixed.creates, view, self._can_create))

    async def lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        shown = self.file_of(params.text_document.uri)
        if shown is None or not self.settings.code_lens:
            return []
        folder, filename, _ = shown
        await folder.settled(filename)
        text = folder.text_of(filename)
        if text is None or text.kind is not None:
            return []
        found: list[types.CodeLens] = []
        for row, title in step_lenses(text.text, folder.findings(filename)):
            start = types.Position(row - 1, 0)
            found.append(types.CodeLens(types.Range(start, start), types.Command(title, "")))
        return found

    async def ignore(self, uri: str, row: int, codes: list[str], reason: str) -> bool:
        """Write a suppression comment at a row, counted from 1; whether the client did."""
        shown = self.file_of(uri)
        if shown is None:
            return False
        folder, filename, _ = shown
        await folder.settled(filename)
        text = folder.text_of(filename)
        if text is None or text.cell_at(0) is not None:
            return False
        view = self.view(folder)
        edits = ignore_edits(text, {row: codes}, " ".join(reason.split()), view)
        edit = types.ApplyWorkspaceEditParams(workspace_edit(edits, (), view, self._can_create))
        return bool(edits) and (await self.workspace_apply_edit_async(edit)).applied

    # ------------------------------------------------------------------ what the client can do

    @property
    def _can_create(self) -> bool:
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace else None
        kinds = edit.resource_operations if edit else None
        return bool(edit and edit.document_changes and types.ResourceOperationKind.Create in (kinds or ()))

    @property
    def _can_resolve(self) -> bool:
        document = self.client_capabilities.text_document
        action = document.code_action if document else None
        support = action.resolve_support if action else None
        return bool(support and "edit" in support.properties)


def _touch(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
