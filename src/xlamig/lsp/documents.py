"""The documents that the client has open, and what their text is as a file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from xlamig.lsp.positions import Encoding, offset_of
from xlamig.source.decode import declared_encoding

Change = types.TextDocumentContentChangeEvent


class Documents(Workspace):
    """Ends lines where LSP does, not where `str.splitlines` does, and survives a client that changes or
    closes what it has never opened."""

    @property
    def encoding(self) -> Encoding:
        name = str(getattr(self.position_encoding, "value", self.position_encoding))
        return "utf-8" if name == "utf-8" else "utf-32" if name == "utf-32" else "utf-16"

    def update_text_document(self, text_doc: types.VersionedTextDocumentIdentifier, change: Change) -> None:
        document = self.document(text_doc.uri)
        if document is None:
            return
        text = apply_change(document.source, change, self.encoding)
        self.text_documents[unquote(text_doc.uri)] = TextDocument(
            document.uri, text, text_doc.version, document.language_id, position_codec=self.position_codec
        )

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().update_notebook_document(params)

    def remove_text_document(self, doc_uri: str) -> None:
        if unquote(doc_uri) in self.text_documents:
            super().remove_text_document(doc_uri)

    def remove_notebook_document(self, params: types.DidCloseNotebookDocumentParams) -> None:
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().remove_notebook_document(params)

    def document(self, uri: str) -> TextDocument | None:
        """An open document; unlike `get_text_document` this makes none up."""
        found: TextDocument | None = self.text_documents.get(unquote(uri))
        return found

    def cells(self, uri: str) -> Iterator[tuple[types.NotebookCell, str]]:
        """The cells of an open notebook with their texts."""
        notebook = self.notebook_documents.get(unquote(uri))
        for cell in notebook.cells if notebook else ():
            document = self.document(cell.document)
            yield cell, document.source if document else ""

    def notebook_of(self, cell_uri: str) -> types.NotebookDocument | None:
        """The open notebook that a cell belongs to."""
        notebooks: Collection[types.NotebookDocument] = self.notebook_documents.values()
        for notebook in notebooks:
            if any(cell.document == cell_uri for cell in notebook.cells):
                return notebook
        return None

    def file_content(self, uri: str) -> bytes | None:
        """Return the content of the file as if the client saved it now; None if it is not open."""
        if unquote(uri) in self.notebook_documents:
            return self._notebook(uri)
        document = self.document(uri)
        return None if document is None else encoded(document.source)

    def _notebook(self, uri: str) -> bytes:
        cells = [
            {"cell_type": "code" if cell.kind == types.NotebookCellKind.Code else "markdown", "source": text}
            for cell, text in self.cells(uri)
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


def apply_change(text: str, change: Change, encoding: Encoding) -> str:
    """`text` after a change. A range that lies outside it or ends before it starts is cut to what fits."""
    place = getattr(change, "range", None)
    if place is None:
        return change.text
    start = offset_of(text, place.start, encoding)
    end = max(start, offset_of(text, place.end, encoding))
    return text[:start] + change.text + text[end:]


def encoded(text: str) -> bytes:
    """The text in the encoding that it declares, as a Python file."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(declared_encoding(data))
    except (UnicodeError, LookupError):
        return data


def path_of(uri: str) -> Path | None:
    """The file behind a URI; None for text that has no file, such as an untitled buffer."""
    if not uri.startswith("file:"):
        return None
    path = to_fs_path(uri)
    return Path(path) if path else None
