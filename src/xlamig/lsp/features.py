"""Which message of the client's goes where."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from xlamig.engine.workers import start_cleanly
from xlamig.lsp.actions import FIX_ALL
from xlamig.lsp.server import Server
from xlamig.lsp.settings import ServerSettings

SECTION = "xlamig"
_WATCHED = "**/*.{py,pyi,ipynb,toml,txt,cfg,in,yaml,yml,sh,cu,cpp,cc,h,cuh}"
_ALWAYS = (".gitignore", "Dockerfile")
_EDITED = (
    types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE, types.NOTEBOOK_DOCUMENT_DID_SAVE,
)  # fmt: skip
_CLOSED = (types.TEXT_DOCUMENT_DID_CLOSE, types.NOTEBOOK_DOCUMENT_DID_CLOSE)
_CONFIGURATIONS = ("xlamig.toml", "pyproject.toml", ".gitignore")


def make_server() -> Server:
    server = Server()
    _register_lifecycle(server)
    _register_documents(server)
    _register_answers(server)
    return server


def serve() -> None:
    """Speak with the client over stdin and stdout until it leaves."""
    start_cleanly()
    server = make_server()
    try:
        server.start_io()
    finally:
        for folder in server.folders:
            folder.stop()


def _register_lifecycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.start()
        await _watch_files(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        given = params.settings.get(SECTION) if isinstance(params.settings, dict) else None
        settings = ServerSettings.read(given if given is not None else await _ask_client(server))
        if settings != server.settings:
            server.settings = settings
            server.start()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.start()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.refresh()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.stop()


async def _ask_client(server: Server) -> Any:
    """The client's settings, for one that says that they changed but not to what."""
    workspace = server.client_capabilities.workspace
    if not (workspace and workspace.configuration):
        return None
    item = types.ConfigurationItem(section=SECTION)
    answer = await server.workspace_configuration_async(types.ConfigurationParams([item]))
    return answer[0] if answer else None


async def _watch_files(server: Server) -> None:
    """Ask to be told when files change on disk."""
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if not (watching and watching.dynamic_registration):
        return
    patterns = (_WATCHED, *(f"**/{name}" for name in _ALWAYS))
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(p) for p in patterns])
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    registration = types.Registration("xlamig-files", method, options)
    await server.client_register_capability_async(types.RegistrationParams([registration]))


def _register_documents(server: Server) -> None:
    def edited(params: Any) -> None:
        server.edited(_uri(params))

    def closed(params: Any) -> None:
        server.closed(_uri(params))

    for method in _EDITED:
        server.feature(method)(edited)
    for method in _CLOSED:
        server.feature(method)(closed)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        if params.text_document.uri.endswith(_CONFIGURATIONS):
            server.refresh()
        else:
            edited(params)


def _uri(params: Any) -> str:
    """The document that a notification is about, of text or a notebook."""
    document = getattr(params, "text_document", None) or params.notebook_document
    return str(document.uri)


def _register_answers(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
    options = types.CodeActionOptions(kinds, resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await server.code_actions(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await server.resolve(action)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        return await server.lenses(params)

    @server.command("xlamig.ignore")
    async def ignore(uri: str, row: int, codes: list[str], reason: str) -> bool:
        return await server.ignore(uri, row, codes, reason)
