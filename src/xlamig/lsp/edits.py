"""Fixes and suppressions as edits of the client's documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from lsprotocol import types
from pygls.uris import from_fs_path

from xlamig.findings import Create, Edit, Fix
from xlamig.lsp.diagnostics import View
from xlamig.lsp.positions import Encoding, position_of, to_range
from xlamig.source.ignoring import with_ignores
from xlamig.source.notebook import NotebookText
from xlamig.source.text import SourceText

Edits = Mapping[str, Sequence[types.TextEdit]]
"""Text edits by the document's URI."""


def fix_edits(fix: Fix, view: View) -> Edits | None:
    """The edits of one fix; None where a file that it edits is not part of the program."""
    found: dict[str, list[types.TextEdit]] = {}
    for edit in fix.edits:
        text = view.text_of(edit.filename)
        if text is None:
            return None
        found.setdefault(view.uri(edit.filename, edit.cell), []).append(_edit(edit, text, view.encoding))
    return found


def _edit(edit: Edit, text: SourceText, encoding: Encoding) -> types.TextEdit:
    return types.TextEdit(to_range(edit.place, text, encoding), edit.content)


def ignore_edits(
    text: SourceText, codes_by_row: Mapping[int, Iterable[str]], reason: str, view: View
) -> Edits:
    """Edits that write a suppression comment at each row of the file's text."""
    new = with_ignores(text, codes_by_row, reason)
    return text_edits(text, new.text, view)


def text_edits(old: SourceText, new: str, view: View) -> Edits:
    """The edits that turn a file's text into another: whole cells of a notebook, else lines that differ."""
    if isinstance(old, NotebookText):
        return _cell_edits(old, new, view)
    edits = [
        types.TextEdit(to_range(old.range(start, end), old, view.encoding), content)
        for start, end, content in _differences(old.text, new)
    ]
    return {view.uri(old.filename): edits} if edits else {}


def _cell_edits(old: NotebookText, new: str, view: View) -> Edits:
    cells = json.loads(replace(old, text=new).content)["cells"]
    edits: dict[str, list[types.TextEdit]] = {}
    for cell in old.cells:
        source = "".join(cells[cell.number - 1]["source"])
        if source != cell.source:
            end = position_of(cell.source, len(cell.source), view.encoding)
            whole = types.Range(types.Position(0, 0), end)
            edits[view.uri(old.filename, cell.number)] = [types.TextEdit(whole, source)]
    return edits


def _differences(old: str, new: str) -> Iterator[tuple[int, int, str]]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield starts[i], starts[j], "".join(after[k:m])


def workspace_edit(
    edits: Edits, creates: Iterable[Create], view: View, can_create: bool
) -> types.WorkspaceEdit:
    """All edits as one; files that a fix needs are created where the client can."""
    created = [create for create in creates if not (view.root / create.filename).exists()]
    if not created or not can_create:
        return types.WorkspaceEdit(changes={uri: list(found) for uri, found in edits.items()})
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for create in created:
        uri = from_fs_path(str(view.root / create.filename)) or ""
        changes.append(types.CreateFile(uri, options=types.CreateFileOptions(ignore_if_exists=True)))
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        changes.append(_document_edit(uri, [types.TextEdit(start, create.content)]))
    changes += [_document_edit(uri, found) for uri, found in edits.items()]
    return types.WorkspaceEdit(document_changes=changes)


def _document_edit(uri: str, edits: Sequence[types.TextEdit]) -> types.TextDocumentEdit:
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri), list(edits))
